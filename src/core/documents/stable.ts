/** What holds of every document, to end its description with. */
export const STABLE =
  'Fields may be added in any version; none is removed or changes its meaning without a word in the change log.'

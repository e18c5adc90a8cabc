/** States of verdicts: apart from the shapes of the documents, whose many words no command has to load. */

/** Of the rows of a status, the worst first: they are sorted in this order. */
export const VERDICT_STATES = [
  'error',
  'blocked',
  'unknown',
  'waiting',
  'operation',
  'notAsked',
  'warning',
  'kept',
  'good',
] as const

/** Of what explain answers. */
export const EXPLAINED_STATES = ['problem', 'blocked', 'waiting', 'operation', 'nothing'] as const

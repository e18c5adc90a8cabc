/** For a text of somebody else that may be of any length: its beginning, and how much is left out. */
export function firstCharacters(text: string, most = 2000): string {
  const more = text.length - most
  return more > 0 ? `${text.slice(0, most).toWellFormed()}… (${more} more characters)` : text
}

/** May it stand in a command that a person copies: any shell takes it as it is, and no program takes it for a flag. */
export function isPlainWord(text: string): boolean {
  return /^[A-Za-z0-9/][A-Za-z0-9._/:^=~-]*$/.test(text)
}

/** One name in a path. A text from the API, a runtime or a disk is used in a path only if it is such a name (S10). */
const MAX_BYTES = 255

// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be in a path that people read.
const UNFIT = /[/\u0000-\u001f\u007f-\u009f]/

/** Not empty, not `.` or `..`, without a slash or a control character, and not too long for a name. */
export function isPathName(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && !UNFIT.test(text) && Buffer.byteLength(text) <= MAX_BYTES
}

/** An absolute path of names in letters of ASCII that are surely short enough; other such paths do not match. */
const USUAL = /^(?:\/(?!\.\.?(?:\/|$))[ -.0-~]{1,255}(?=\/|$))+$/

/** Absolute, and made only of such names: no component leads anywhere but down. */
export function isPlainPath(path: string): boolean {
  if (USUAL.test(path)) return true
  return path.startsWith('/') && path.slice(1).split('/').every(isPathName)
}

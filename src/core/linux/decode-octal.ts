/**
 * Undoes the kernel's escapes in mountinfo: `\040` blank, `\011` tab, `\012` newline, `\134` backslash, `\043` hash.
 *
 * Escapes stand for bytes, not characters, so they are decoded to bytes first and then to text (UTF-8), exactly once, after
 * the line has been split (P109). A backslash without three octal digits behind it is left as it is.
 *
 * @see fs/proc_namespace.c mangle(), fs/seq_file.c
 */
export function decodeOctal(raw: Buffer, start = 0, end = raw.length): string {
  let firstEscape = start
  while (firstEscape < end && raw[firstEscape] !== BACKSLASH) firstEscape++
  if (firstEscape === end) return raw.toString('utf8', start, end)
  const bytes = Buffer.allocUnsafe(end - start)
  let length = 0
  for (let at = start; at < end; at++) {
    const value = raw[at] === BACKSLASH && at + 3 < end ? octalAt(raw, at + 1) : -1
    bytes[length++] = value < 0 ? (raw[at] ?? 0) : value
    if (value >= 0) at += 3
  }
  return bytes.toString('utf8', 0, length)
}

const BACKSLASH = 0x5c
const ZERO = 0x30

/** The byte that three octal digits at `from` stand for, or -1. */
function octalAt(raw: Buffer, from: number): number {
  let value = 0
  for (let i = from; i < from + 3; i++) {
    const digit = (raw[i] ?? 0) - ZERO
    if (digit < 0 || digit > 7) return -1
    value = value * 8 + digit
  }
  return value > 0xff ? -1 : value
}

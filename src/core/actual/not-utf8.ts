/** Names that are not UTF-8: bytes on the disk, while a path of a snapshot, a plan or a step is text, which leads nowhere then. */

/** The error of such an entry: what it contains is unknown. */
export const NOT_UTF8 = 'EILSEQ'

/** May the text stand for bytes that are not UTF-8? (Any such byte becomes U+FFFD.) */
export function mayNotBeUtf8(text: string): boolean {
  return text.includes('\uFFFD')
}

/** What the machine swaps to. */
import { decodeOctal } from '../mountinfo/decode-octal.ts'

export interface SwapArea {
  /** A partition's device file, or a file's path from the root of the mount namespace in which it was opened. */
  readonly name: string
  readonly type: 'partition' | 'file' | (string & {})
}

/** @param text of /proc/swaps (proc(5)): a heading, then one line per area */
export function swapAreas(text: string): SwapArea[] {
  return text.split('\n').flatMap((line) => {
    const [name = '', type = ''] = line.split(/[ \t]+/)
    return name.startsWith('/') ? [{ name: decodeOctal(Buffer.from(name, 'utf8')), type }] : []
  })
}

/** What the machine swaps to. */
import { decodeOctal } from '../mountinfo/decode-octal.ts'
import { kernelTextIfAny } from '../trust/kernel.ts'

export interface SwapArea {
  /** Of a partition its device file, of a file its path from the top of the namespace that it was opened in. */
  readonly name: string
  readonly type: 'partition' | 'file' | (string & {})
}

/** @param text of /proc/swaps (proc(5)): a heading, then a line each */
export function swapAreas(text = kernelTextIfAny('/proc/swaps') ?? ''): SwapArea[] {
  return text.split('\n').flatMap((line) => {
    const [name = '', type = ''] = line.split(/[ \t]+/)
    return name.startsWith('/') ? [{ name: decodeOctal(Buffer.from(name, 'utf8')), type }] : []
  })
}

import { asTyped } from '../trust/caller.ts'
import { written } from './written.ts'

/**
 * What goes to standard error besides the answer. A terminal that has gone, or a full disk behind it, loses the message
 * and nothing else: of a file, writing is synchronous, and would throw in the middle of an apply.
 */
export const messages = {
  write(text: string): boolean {
    try {
      return process.stderr.write(asTyped(text))
    } catch {
      return false
    }
  },
  /** Waits until everything is out. */
  async flush(): Promise<void> {
    if (process.stderr.writableLength > 0) await written(process.stderr)
  },
  /** Of a terminal; undefined: a pipe or a file, or a terminal that does not say. */
  get columns(): number | undefined {
    return process.stderr.columns || undefined
  },
  get rows(): number | undefined {
    return process.stderr.rows
  },
}

import type { Writable } from 'node:stream'

/** Ends when all that was written to a stream is out, or will never be: what a slow reader has not taken goes with the process. */
export function written(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      stream.off('error', end)
      resolve()
    }
    stream.once('error', end)
    stream.write('', end)
  })
}

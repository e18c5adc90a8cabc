import { createInterface } from 'node:readline/promises'
import { Interrupted, VolctlError } from '../errors/errors.ts'
import { io } from '../trust/run.ts'

export interface Expected {
  readonly text: string
  /** What to do after another answer. */
  readonly hint: string
}

const YES: Expected = { text: 'yes', hint: "Type 'yes', or give --yes." }

/** Asks on the terminal, on standard error; only `yes`, or another text that is expected, is a yes. Ctrl-C, end of input and a dropped session are a no. */
export async function confirm(question: string, signal: AbortSignal, { text, hint }: Expected = YES): Promise<void> {
  const { stdin, stderr } = io()
  const terminal = createInterface({ input: stdin.stream, output: stderr })
  const closed = new AbortController()
  const onGone = (): void => closed.abort()
  // A terminal that hung up: even leaving its raw mode fails, which the types of this event do not know.
  terminal.on('error' as 'close', onGone)
  terminal.on('close', onGone)
  terminal.on('SIGINT', () => closed.abort())
  try {
    const answer = await terminal.question(question, { signal: AbortSignal.any([signal, closed.signal]) })
    if (answer.trim().toLowerCase() === text) return
  } catch {
    throw new Interrupted()
  } finally {
    terminal.close()
  }
  throw new VolctlError('NotConfirmed', 'not confirmed: nothing was changed', {
    hint,
  })
}

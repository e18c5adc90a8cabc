import { createInterface } from 'node:readline/promises'
import { VolctlError } from '../errors.ts'
import { ExitStatus } from '../exit-status.ts'

/** Asks on the terminal, on standard error; only `yes` is a yes. Ctrl-C and end of input are a no. */
export async function confirm(question: string, signal: AbortSignal): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const closed = new AbortController()
  terminal.on('close', () => closed.abort())
  terminal.on('SIGINT', () => closed.abort())
  try {
    const answer = await terminal.question(question, { signal: AbortSignal.any([signal, closed.signal]) })
    if (answer.trim().toLowerCase() === 'yes') return
  } catch {
    throw new VolctlError('Interrupted', 'interrupted: nothing was changed', { exit: ExitStatus.Interrupted })
  } finally {
    terminal.close()
  }
  throw new VolctlError('NotConfirmed', 'not confirmed: nothing was changed', { hint: 'Answer yes, or give --yes.' })
}

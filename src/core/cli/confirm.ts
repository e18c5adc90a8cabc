import { createInterface } from 'node:readline/promises'
import { Interrupted, said, usageError, VolctlError } from '../messages/findings.ts'
import { io, type OutputStream } from '../trust/run.ts'

/** Asks on the terminal, on standard error; only `yes` is a yes. Ctrl-C, end of input and a dropped session are a no. */
export async function confirm(question: string, signal: AbortSignal): Promise<void> {
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
    if (answer.trim().toLowerCase() === 'yes') return
  } catch {
    throw new Interrupted()
  } finally {
    terminal.close()
  }
  throw new VolctlError(said('NotConfirmed'))
}

// Is a person there, who sees the plan and can say yes (contract, `--yes`).

/**
 * Whether apply asks. On a terminal it does. With no terminal at all (cron, a runbook, ssh without one) nobody is there.
 * In between somebody may be, who pipes an answer that nobody reads, or who would not see what is asked.
 *
 * @param given `yes`: --yes; `reviewed`: a plan file was given
 * @throws VolctlError Usage in between
 */
export function mustAsk(
  { yes, reviewed }: Readonly<Record<'yes' | 'reviewed', boolean>>,
  { stdin, stdout, stderr }: Readonly<Record<'stdin' | 'stdout' | 'stderr', Pick<OutputStream, 'isTTY'>>>,
): boolean {
  if (yes) return false
  if (stdin.isTTY && stderr.isTTY) return true
  if (!stdin.isTTY && (reviewed || !(stdout.isTTY || stderr.isTTY))) return false
  const stream = stdin.isTTY ? 'error' : 'input'
  const hint = `Do not redirect standard ${stream}; or review volctl plan first, and give --yes.`
  throw usageError('Usage.notAsked', hint, { stream })
}

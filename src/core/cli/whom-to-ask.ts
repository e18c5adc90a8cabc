/** Is a person there, who sees the plan and can say yes (contract, `--yes`). */
import { VolctlError } from '../errors/errors.ts'
import type { Io } from '../trust/run.ts'

/** Which of the three standard streams are terminals. */
export interface Terminals {
  readonly input: boolean
  readonly output: boolean
  readonly errors: boolean
}

export interface Consent {
  /** --yes */
  readonly yes: boolean
  /** A plan file was given: what is in it was reviewed. */
  readonly reviewed: boolean
}

export function terminals({ stdin, stdout, stderr }: Io): Terminals {
  return { input: stdin.isTTY, output: stdout.isTTY === true, errors: stderr.isTTY === true }
}

/**
 * Whether apply asks. On a terminal it does. With no terminal at all (cron, a runbook, ssh without one) nobody is there.
 * In between somebody may be, who pipes an answer that nobody reads, or who would not see what is asked.
 *
 * @throws VolctlError Usage in between
 */
export function mustAsk({ yes, reviewed }: Consent, { input, output, errors }: Terminals): boolean {
  if (yes) return false
  if (input && errors) return true
  if (input) {
    throw new VolctlError('Usage', 'apply cannot ask for confirmation: standard error is not a terminal', {
      hint: 'Do not redirect standard error; or review volctl plan first, and give --yes.',
    })
  }
  if (reviewed || !(output || errors)) return false
  throw new VolctlError('Usage', 'apply cannot ask for confirmation: standard input is not a terminal', {
    hint: 'Do not redirect standard input; or review volctl plan first, and give --yes.',
  })
}

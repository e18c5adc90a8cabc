import { Flags } from '@oclif/core'
import {
  type Check as Answer,
  CHECK_STATUS,
  checkOf,
  examine,
  failedCheck,
  inBoth,
  type Look,
} from '../core/check/check-node.ts'
import { gaugesOf, prometheusText } from '../core/check/gauges.ts'
import { Reentered } from '../core/cli/live-node.ts'
import { loadNode } from '../core/cli/load-node.ts'
import { apiFlags, nodeChoice, nodeFlags, snapshotFlag } from '../core/cli/node-flags.ts'
import { planOptions } from '../core/cli/plan-flags.ts'
import { explainError } from '../core/cli/usage-error.ts'
import { type OutputFormat, VolctlCommand } from '../core/cli/volctl-command.ts'
import { VolctlError } from '../core/errors/errors.ts'
import { formatDuration, parseDuration } from '../core/lang/duration.ts'
import { inTime, pause } from '../core/processes/deadline.ts'
import { planWithDecisions } from '../core/reconcile/decisions.ts'

/** Put in by the build (scripts/build.ts). */
declare const VOLCTL_COMMIT: string

const FORMATS = ['table', 'json', 'yaml', 'prometheus']

export default class Check extends VolctlCommand {
  static override summary = 'Check this node for a monitor: one line, and an exit status of 0, 1 or 2. Changes nothing.'
  static override description =
    'Looks at the node as plan --orphans does: exit status 0 and a line that begins with "ok" if nothing is wrong; 1 and ' +
    '"not ok" if something is; 2 and "unknown" if the node or the API server could not be read. That is the convention of ' +
    'custom plugins of the node-problem-detector. Only what has been wrong for long enough counts: what is still wrong in a ' +
    'second look, and has not changed for the settle time; a pod that has waited for 10 minutes for a volume, or to terminate. ' +
    'With -o prometheus: gauges for the textfile collector of the node exporter, of one look: an alert has its own time.'
  static override usage = 'check [FLAGS]'
  static override examples = [
    { description: 'Is anything wrong with the volumes of this node:', command: '<%= config.bin %> check' },
    { description: 'As gauges:', command: '<%= config.bin %> check -o prometheus' },
  ]
  static override flags = {
    output: Flags.string({
      char: 'o',
      options: FORMATS,
      default: 'table',
      helpValue: FORMATS.join('|'),
      summary: 'Output format: table (one line), json, yaml, or prometheus (gauges).',
      noCacheDefault: false,
    }),
    snapshot: snapshotFlag('Check'),
    ...apiFlags,
    ...nodeFlags,
    confirm: Flags.string({
      helpValue: 'DUR',
      summary:
        'If something is wrong or unknown, look again after this time; only what still is counts (default 15s, with -o prometheus 0; 0: do not).',
    }),
    timeout: Flags.string({
      helpValue: 'DUR',
      summary: 'Give up after this time; the result is then unknown (default 60s).',
    }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Check)
    const options = { ...planOptions({}, this.config.version), orphans: true }
    const { confirmMs, timeoutMs } = checkTimes(flags)
    const look = async () => {
      const asked = { options, decide: planWithDecisions }
      return examine((await loadNode(nodeChoice(flags), flags.snapshot, this.detail, asked)).decided)
    }
    // A snapshot does not change: there is no second look at it.
    const pauseMs = flags.snapshot === undefined ? confirmMs : 0
    const tooLate = () =>
      new VolctlError('TimedOut', `no answer within ${formatDuration(timeoutMs)} (--timeout)`, {
        hint: 'Run volctl plan -v to see what takes so long.',
      })
    const seen = await inTime(this.#examine(look, pauseMs), timeoutMs, tooLate)
    await this.#print(checkOf(seen), seen, flags.output)
  }

  async #examine(look: () => Promise<Look>, pauseMs: number): Promise<Look> {
    const first = await look()
    const { status, line } = checkOf(first)
    if (pauseMs === 0 || status === 'ok') return first
    this.say(`${line}; looking again in ${formatDuration(pauseMs)}`)
    await pause(pauseMs)
    return inBoth(first, await look())
  }

  async #print(check: Answer, look: Look | undefined, format: string): Promise<void> {
    this.finish(CHECK_STATUS[check.status])
    if (format === 'prometheus') {
      this.output.write(prometheusText(gaugesOf(check, look, VOLCTL_COMMIT)))
      await this.output.flush()
    } else await this.answer(check, format as OutputFormat, () => `${check.line}\n`)
  }

  /** A monitor reads standard output and the exit status: an error is an answer, too. */
  protected override async catch(thrown: unknown): Promise<void> {
    await super.catch(thrown)
    // The run in the other namespace has answered.
    if (thrown instanceof Reentered) return
    const { code, message } = explainError(thrown, { command: this.id })
    const failed = failedCheck(`${code}: ${message}`, this.config.version)
    await this.#print(failed, undefined, this.#format())
  }

  #format(): string {
    return this.typedFormats().findLast((format) => FORMATS.includes(format)) ?? 'table'
  }
}

/** Gauges come again and again, and an alert waits anyway: one look each. @throws VolctlError Usage */
export function checkTimes(flags: {
  readonly output: string
  readonly confirm?: string | undefined
  readonly timeout?: string | undefined
}): { readonly confirmMs: number; readonly timeoutMs: number } {
  const { confirm = flags.output === 'prometheus' ? '0' : '15s', timeout = '60s' } = flags
  return { confirmMs: parseDuration(confirm, '--confirm'), timeoutMs: parseDuration(timeout, '--timeout') }
}

import { Flags } from '@oclif/core'
import { checkOf, type Examined, examine, failedCheck, inBoth } from '../core/check/check-node.ts'
import { buildInfo, prometheusText } from '../core/check/gauges.ts'
import { CHECK_STATUS, type Limits, unknownBecause } from '../core/check/judge.ts'
import { type CheckTimes, checkFlags, checkLimits, checkTimes } from '../core/cli/check-flags.ts'
import { Reentered } from '../core/cli/live-node.ts'
import { loadNode } from '../core/cli/load-node.ts'
import { apiFlags, nodeChoice, nodeFlags, snapshotFlag } from '../core/cli/node-flags.ts'
import { planFlags, planOptions } from '../core/cli/plan-flags.ts'
import { explainError } from '../core/cli/usage-error.ts'
import { type OutputFormat, VolctlCommand } from '../core/cli/volctl-command.ts'
import { VolctlError } from '../core/errors/errors.ts'
import { ExitStatus } from '../core/errors/exit-status.ts'
import { troubleText } from '../core/files/disk-trouble.ts'
import { replaceFile } from '../core/files/replace-file.ts'
import { formatDuration } from '../core/lang/duration.ts'
import { inTime, pause } from '../core/processes/deadline.ts'
import { planWithDecisions } from '../core/reconcile/decisions.ts'
import { callerPath } from '../core/trust/caller.ts'

/** Put in by the build (scripts/build.ts). */
declare const VOLCTL_COMMIT: string

/** The node exporter does not run as root. */
const READABLE_BY_ALL = 0o644

const FORMATS = ['table', 'json', 'yaml', 'prometheus']

export default class Check extends VolctlCommand {
  static override summary = 'Check this node for a monitor: one line, and an exit status of 0, 1 or 2. Changes nothing.'
  static override description =
    'Looks at the node as plan --orphans does and compares what is wrong with limits: exit status 0 and a line that begins ' +
    'with "ok" if nothing exceeds its limit; 1 and "not ok" if something does; 2 and "unknown" if the node or the API server ' +
    'could not be read. That is the convention of custom plugins of the node-problem-detector. Only what has been wrong for long ' +
    'enough counts: what is still wrong in a second look, and has not changed for the settle time. ' +
    'With -o prometheus: gauges for the textfile collector of the node exporter, of one look: an alert has its own time.'
  static override usage = 'check [FLAGS]'
  static override examples = [
    { description: 'Is anything wrong with the volumes of this node:', command: '<%= config.bin %> check' },
    {
      description: 'With more patience:',
      command: '<%= config.bin %> check --max-waiting-for 30m --max-orphaned-pods 5',
    },
    {
      description: 'For the node exporter, from a systemd timer:',
      command: '<%= config.bin %> check -o prometheus --out /var/lib/prometheus/node-exporter/volctl.prom',
    },
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
    out: Flags.string({
      helpValue: 'FILE',
      summary: 'With -o prometheus: write to FILE (mode 0644), whole or not at all, instead of standard output.',
      dependsOn: ['output'],
    }),
    quiet: Flags.boolean({
      char: 'q',
      summary: 'Print nothing if nothing exceeds its limit: cron sends a mail for every line.',
    }),
    snapshot: snapshotFlag('Check'),
    ...apiFlags,
    ...nodeFlags,
    ...checkFlags,
    settle: planFlags.settle,
  }

  #out: string | undefined
  #isUnwritten = false

  async run(): Promise<void> {
    const { flags } = await this.parse(Check)
    if (flags.out !== undefined && flags.output !== 'prometheus')
      throw new VolctlError('Usage', '--out is only for -o prometheus', {
        hint: 'Give -o prometheus, or leave out --out.',
      })
    this.#out = flags.out
    const limits = checkLimits(flags)
    const times = checkTimes(flags, flags.output)
    const options = { ...planOptions(flags, this.config.version), orphans: true }
    const look = async () => {
      const asked = { options, decide: planWithDecisions }
      return examine((await loadNode(nodeChoice(flags), flags.snapshot, this.detail, asked)).decided)
    }
    const work = this.#examine(look, limits, times, { isLive: flags.snapshot === undefined, quiet: flags.quiet })
    const examined = await inTime(work, times.timeoutMs, () => tooLate(times))
    if (flags.quiet && flags.output !== 'prometheus' && examined.check.status === 'ok') return
    await this.#print(examined, flags.output)
  }

  /** A snapshot does not change: there is no second look at it. */
  async #examine(
    look: () => Promise<ReturnType<typeof examine>>,
    limits: Limits,
    { confirmMs }: CheckTimes,
    { isLive, quiet }: { readonly isLive: boolean; readonly quiet: boolean },
  ): Promise<Examined> {
    const first = await look()
    const examined = checkOf(first, limits)
    if (!isLive || confirmMs === 0 || examined.check.status === 'ok') return examined
    if (!quiet) this.say(`${examined.check.line}; looking again in ${formatDuration(confirmMs)}`)
    await pause(confirmMs)
    return checkOf(inBoth(first, await look()), limits)
  }

  async #print({ check, gauges }: Examined, format: string): Promise<void> {
    process.exitCode = this.#isUnwritten ? ExitStatus.Partial : CHECK_STATUS[check.status]
    if (format === 'prometheus') {
      this.#printGauges(prometheusText([buildInfo(this.config.version, VOLCTL_COMMIT), ...gauges]))
      await this.output.flush()
    } else await this.answer(check, format as OutputFormat, () => `${check.line}\n`)
  }

  #printGauges(text: string): void {
    const out = this.#out
    if (out === undefined) {
      this.output.write(text)
      return
    }
    try {
      replaceFile(callerPath(out), text, READABLE_BY_ALL)
    } catch (cause) {
      this.#out = undefined
      this.#isUnwritten = true
      throw new VolctlError('NotWritten', `--out ${out}: ${troubleText(cause)}`, {
        cause,
        hint: 'Give a plain file in an existing, writable directory with free space.',
      })
    }
  }

  /** A monitor reads standard output and the exit status: an error is an answer, too. */
  protected override async catch(thrown: unknown): Promise<void> {
    await super.catch(thrown)
    // The run in the other namespace has answered.
    if (thrown instanceof Reentered) return
    const { code, message } = explainError(thrown, { command: this.id, commands: [] })
    const judged = unknownBecause(`${code}: ${message}`)
    const failed = failedCheck(judged, this.config.version, Date.now())
    try {
      await this.#print(failed, this.#format())
    } catch (error) {
      // The file cannot be written: standard output has the answer.
      await super.catch(error)
      await this.#print(failed, this.#format())
    }
  }

  #format(): string {
    return this.typedFormats().findLast((format) => FORMATS.includes(format)) ?? 'table'
  }
}

function tooLate({ timeoutMs }: CheckTimes): VolctlError {
  return new VolctlError('TimedOut', `no answer within ${formatDuration(timeoutMs)} (--timeout)`, {
    hint: 'Run volctl plan -v to see what takes so long.',
  })
}

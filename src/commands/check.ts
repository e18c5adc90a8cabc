import { formatDuration } from '../core/base/text.ts'
import { CHECK_FORMATS, checkFlags, type OutputFormat } from '../core/cli/flags.ts'
import { loadNode, Reentered } from '../core/cli/live-node.ts'
import { parseDuration, planOptions } from '../core/cli/options.ts'
import { explainError, typedFormats } from '../core/cli/report-error.ts'
import { examples, VolctlCommand } from '../core/cli/volctl-command.ts'
import * as judged from '../core/explain/check/check-node.ts'
import { inTime, pause } from '../core/linux/deadline.ts'
import { marked, said, VolctlError } from '../core/messages/findings.ts'

export default class Check extends VolctlCommand {
  static override summary = 'Check this node for a monitor: one line, and an exit status of 0, 1 or 2. Changes nothing.'
  static override description =
    'Looks at the node as plan --orphans does: exit status 0 and a line that begins with "ok" if nothing is wrong; 1 and ' +
    '"not ok" if something has been wrong for long enough; 2 and "unknown" if the node or the API server could not be read. ' +
    'That is the convention of custom plugins of the node-problem-detector. With -o prometheus: gauges for the textfile ' +
    'collector of the node exporter, of one look: an alert has its own time.'
  static override usage = 'check [FLAGS]'
  static override examples = examples({
    'Is anything wrong with the volumes of this node:': '$ check',
    'As gauges:': '$ check -o prometheus',
  })
  static override flags = checkFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(Check)
    const { output, snapshot, timeout = '60s', confirm = output === 'prometheus' ? '0' : '15s' } = flags
    const [confirmMs, timeoutMs] = [parseDuration(confirm, '--confirm'), parseDuration(timeout, '--timeout')]
    const options = { ...planOptions({}, this.config.version), orphans: true }
    const look = async () => judged.examine((await loadNode(flags, this.detail, options)).decided)
    const twice = async (): Promise<judged.Look> => {
      const first = await look()
      const { status, line } = judged.checkOf(first)
      // A snapshot does not change.
      if (confirmMs === 0 || snapshot !== undefined || status === 'ok') return first
      this.say(`${line}; looking again in ${formatDuration(confirmMs)}`)
      await pause(confirmMs)
      return judged.inBoth(first, await look())
    }
    const seen = await inTime(
      twice(),
      timeoutMs,
      () =>
        new VolctlError(said('TimedOut.answer', { timeout: formatDuration(timeoutMs) }), {
          hint: marked('Run `volctl plan -v` to see what takes so long.'),
        }),
    )
    await this.#print(judged.checkOf(seen), seen, output)
  }

  async #print(check: judged.Check, look: judged.Look | undefined, format: OutputFormat = 'table'): Promise<void> {
    this.finish(judged.CHECK_STATUS[check.status])
    if (format === 'prometheus') {
      this.output.write(judged.gaugesOf(check, look))
      await this.output.flush()
    } else await this.answer(check, format, () => `${check.line}\n`)
  }

  /** A monitor reads standard output and the exit status: an error is an answer, too. */
  protected override async catch(thrown: unknown): Promise<void> {
    await super.catch(thrown)
    // The run in the other namespace has answered.
    if (thrown instanceof Reentered) return
    const { code, message } = explainError(thrown, this.id)
    const typed = typedFormats(this.argv)
    const format = CHECK_FORMATS.findLast((each) => typed.includes(each))
    await this.#print(judged.failedCheck(`${code}: ${message}`, this.config.version), undefined, format)
  }
}

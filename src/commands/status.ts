import { requireUnrefused } from '../core/cli/carry-out.ts'
import { givenBy } from '../core/cli/command-context.ts'
import { statusFlags } from '../core/cli/flags.ts'
import { loadNode } from '../core/cli/live-node.ts'
import { watchNode } from '../core/cli/look-again.ts'
import { planOptions } from '../core/cli/options.ts'
import { namesArgument, narrowing } from '../core/cli/plan-arguments.ts'
import { examples, VolctlCommand } from '../core/cli/volctl-command.ts'
import { statusAndPlan, wholeOf } from '../core/explain/status/node-status.ts'
import { namesOfRows } from '../core/views/screen.ts'
import { renderStatus, shownRows } from '../core/views/status-view.ts'

export default class Status extends VolctlCommand {
  static override summary =
    'Print each volume of this node: wanted, attached, staged, mounted, and what is wrong with it.'
  static override description =
    'Reads the node and the API server as plan does. Prints a row for each volume of each pod, and one for each volume that is ' +
    "staged, mapped or attached on the node: what the kubelet's volume manager knows, and the verdict of the plan. " +
    'The worst comes first; what is good is only counted, unless -v, -o wide or the name of a pod or volume asks for it. ' +
    'Changes nothing, on the node or in the cluster.'
  static override usage = 'status [NAME...] [FLAGS]'
  static override args = namesArgument
  static override examples = examples({
    'What is wrong with the volumes of this node:': '$ status',
    'All volumes of one pod:': '$ status shop/web-0',
    'Every volume, every column, and why:': '$ status -o wide',
    'From a snapshot, on any machine:': '$ status --snapshot node.json',
    'For scripts: volumes that may be mounted, as the kubelet counts them:': `$ status -o json | jq '.rows[] | select(.mounted == "VolumeMountUncertain")'`,
  })
  static override flags = statusFlags

  async run(): Promise<void> {
    const { args, flags: typed } = await this.parse(Status)
    const { names = [] } = args
    const flags = { ...typed, pod: undefined, ...narrowing(names, typed) }
    const options = planOptions(flags, this.config.version)
    const all = this.verbose || names.length > 0 || flags.volume !== undefined
    const given = givenBy(flags, options.settleMs)
    const whole = wholeOf(options)
    if (flags.watch) {
      return await watchNode(flags, this, whole, (decided, screen) => {
        const answered = statusAndPlan(decided, options, flags, given)
        return { plan: answered.plan, text: renderStatus(answered, screen, { all }) }
      })
    }
    const { decided } = await loadNode(flags, this.detail, whole)
    const answered = statusAndPlan(decided, options, flags, given)
    const { status } = answered
    this.detail(`${status.rows.length} volumes`)
    for (const { volume: of, verdict } of status.rows)
      if (verdict.rule !== undefined) this.detail(`${verdict.rule}: ${of.name}: ${verdict.message}`)
    const place = flags.snapshot === undefined ? undefined : status.node
    await this.answer(
      status,
      flags.output,
      (screen) => renderStatus(answered, screen, { all, place }),
      namesOfRows(shownRows(status.rows, all)),
    )
    requireUnrefused(status)
  }
}

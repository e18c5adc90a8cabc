import { formatDuration } from '../core/base/text.ts'
import { givenBy } from '../core/cli/command-context.ts'
import { type OutputFormat, waitFlags } from '../core/cli/flags.ts'
import { judged } from '../core/cli/live-node.ts'
import { EndlessLooks, lookAgain } from '../core/cli/look-again.ts'
import { parseDuration, planOptions } from '../core/cli/options.ts'
import { namesArgument, narrowing } from '../core/cli/plan-arguments.ts'
import { examples, VolctlCommand } from '../core/cli/volctl-command.ts'
import { statusOf, wholeOf, wholeStatus } from '../core/explain/status/node-status.ts'
import { missing, rowsOf, type WaitCondition, type WaitTarget, waitTargets } from '../core/explain/status/wait-rows.ts'
import { ExitStatus, said, VolctlError } from '../core/messages/findings.ts'
import type { CollectedNode } from '../core/node/collect-node.ts'
import type { PlanOptions } from '../core/plan/plan.ts'
import { decideNode } from '../core/reconcile/plan-node.ts'
import { wrapped } from '../core/views/screen.ts'
import { renderStatus } from '../core/views/status-view.ts'
import { mayList } from '../core/volumes/api-lookup.ts'
import type { NodeState } from '../core/volumes/snapshot.ts'

/** As the kubelet waits for a pod's volumes (R472). */
const DEFAULT_TIMEOUT_MS = 123_000

export default class Wait extends VolctlCommand {
  static override summary =
    'Wait until pods or volumes are mounted, unmounted or detached, or the node is in sync. Changes nothing.'
  static override description =
    'Looks at this node and at the API server again after 2, 4 and 8 seconds, then every 10 seconds and when the time is up, ' +
    'and reads the rows of volctl status. ' +
    'Several pods or volumes are waited for together; without a name, all of this node.'
  static override usage = 'wait --for=CONDITION [NAME...] [FLAGS]'
  static override args = namesArgument
  static override examples = examples({
    'After a drain: until nothing of these pods is mounted any more:': '$ wait --for=unmounted shop/web-0 shop/web-1',
    'Until a volume can be attached elsewhere:': '$ wait --for=detached pvc/shop/data --timeout 6m',
    'After a reboot: until there is nothing to do for volctl and nothing waits:': '$ wait --for=in-sync --timeout 10m',
    'Is it mounted right now:': '$ wait --for=mounted shop/web-0 --timeout 0',
  })
  static override flags = waitFlags

  async run(): Promise<void> {
    const { args, flags: typed } = await this.parse(Wait)
    const names = args.names ?? []
    const flags = { ...typed, ...narrowing(names, typed) }
    const timeoutMs = flags.timeout === undefined ? DEFAULT_TIMEOUT_MS : parseDuration(flags.timeout, '--timeout')
    const condition = flags.for as WaitCondition
    const word = condition.replace('-', ' ')
    const options = planOptions(flags, this.config.version)
    using looks = new EndlessLooks(flags, this.detail)
    const seen: { node?: CollectedNode; targets?: readonly WaitTarget[] } = {}
    let since = 0
    let left: readonly string[] = []
    let failed: string | undefined
    const look = async (limitMs?: number): Promise<'over' | 'same'> => {
      const node = await looks.lookWithin(limitMs)
      const whole = wholeStatus(decideNode(node, wholeOf(options)))
      const { targets = waitTargets(whole, options, condition, flags) } = seen
      Object.assign(seen, { node, targets })
      failed = undefined
      left = targets.flatMap((target) => {
        const why = missing(whole, target, condition)
        return why === undefined ? [] : `${target.name} is not ${word} (${why})`
      })
      if (limitMs === undefined) since = performance.now()
      if (left.length === 0) return 'over'
      if (limitMs === undefined && timeoutMs > 0) {
        if (condition === 'detached') requireSight(node, targets)
        if (this.io.stderr.isTTY === true) this.say(`waiting up to ${formatDuration(timeoutMs)}: ${firstOf(left)}`)
      }
      return 'same'
    }
    const outcome = await lookAgain({
      timeoutMs,
      look,
      failed: (message) => {
        failed = message
      },
      signal: looks.stop,
    })
    const waited = formatDuration(Math.round(performance.now() - since))
    const { node, targets = [] } = seen
    if (outcome === 'over' && flags.output === 'table') await this.#reached(targets, word)
    else if (node !== undefined) await this.#answer(node, targets, flags, options)
    if (outcome === 'interrupted') this.finish(ExitStatus.Interrupted)
    if (outcome !== 'timedOut') return
    const sentence = failed === undefined ? 'NotReached.seen' : 'NotReached.unseen'
    throw new VolctlError(said(sentence, { waited, missing: firstOf(left), why: failed }), { exit: ExitStatus.Waiting })
  }

  /** On a screen a line for each name. */
  async #reached(targets: readonly WaitTarget[], word: string): Promise<void> {
    const { paint, symbols, width } = await this.screenOf(this.io.stdout, 'table')
    for (const { name } of targets)
      this.output.write(wrapped(`${symbols.good} `, `${name}: ${word}`, width, paint.good))
    await this.output.flush()
  }

  /** The rows that were waited for, as `volctl status` prints them. */
  async #answer(
    node: CollectedNode,
    targets: readonly WaitTarget[],
    flags: Readonly<Record<string, unknown>> & { readonly output: OutputFormat },
    options: PlanOptions,
  ): Promise<void> {
    const { decided } = await judged(node, wholeOf(options))
    const whole = wholeStatus(decided)
    const rows = new Set(targets.flatMap((target) => rowsOf(whole, target)))
    const uids = targets.flatMap(({ pods }) => [...(pods ?? [])])
    const given = givenBy({ ...flags, pod: uids, namespace: undefined }, options.settleMs)
    const own = whole.all.filter((row) => rows.has(row))
    const answered = statusOf(whole, own, given)
    const all = rows.size < whole.all.length
    await this.answer(answered.status, flags.output, (screen) => renderStatus(answered, screen, { all }))
  }
}

function firstOf([first = '', ...others]: readonly string[]): string {
  return others.length === 0 ? first : `${first}, and ${others.length} more`
}

/** A detach is seen in the list of VolumeAttachments alone: to a GET the Node authorizer answers 403, whether there is one or not (N32). */
function requireSight({ snapshot: { api } }: NodeState, targets: readonly WaitTarget[]): void {
  if (api === undefined || mayList(api, 'volumeattachments')) return
  throw new VolctlError(said('Forbidden.list', { volumes: firstOf(targets.map(({ name }) => name)) }), {
    hint: 'Give one that may with --kubeconfig: deploy/clusterrole-plan.yaml has the rights.',
  })
}

import type { Interfaces } from '@oclif/core'
import { count } from '../core/base/text.ts'
import { planExitStatus, requireUnrefused } from '../core/cli/carry-out.ts'
import { givenBy } from '../core/cli/command-context.ts'
import { planCommandFlags } from '../core/cli/flags.ts'
import { loadNode } from '../core/cli/live-node.ts'
import { watchNode } from '../core/cli/look-again.ts'
import { clusterOptions, planOptions, requireOneNode } from '../core/cli/options.ts'
import { namesArgument, narrowing } from '../core/cli/plan-arguments.ts'
import { examples, VolctlCommand } from '../core/cli/volctl-command.ts'
import type { ClusterOptions, ClusterPlan } from '../core/plan/cluster-plan.ts'
import { writePlanFile } from '../core/plan/documents/plan-file.ts'
import { type Naming, requireNamed } from '../core/plan/names.ts'
import { withAdvice } from '../core/plan/next-steps.ts'
import type { PlanOptions, Plan as VolumePlan } from '../core/plan/plan.ts'
import { planId } from '../core/plan/plan-id.ts'
import { decisionsOf } from '../core/reconcile/decisions.ts'
import { callerPath } from '../core/trust/run.ts'
import { renderPlan } from '../core/views/plan-view.ts'
import { namesOfPlan, type Screen } from '../core/views/screen.ts'

type ParsedFlags = Interfaces.InferredFlags<typeof Plan.flags> & Naming

export default class Plan extends VolctlCommand {
  static override summary = 'Print what one reconcile pass would do on this node. Changes nothing.'
  static override description =
    "Reads, once, this node's pods and volumes from the API server, the mount table, the kubelet's directories, the " +
    'container runtime and the CSI sockets. Compares the desired state with the actual state and prints the operations ' +
    'that lead from the actual to the desired state, each with its reason. Changes nothing, on the node or in the cluster.'
  static override usage = 'plan [NAME...] [FLAGS]'
  static override args = namesArgument
  static override examples = examples({
    'What is wrong on this node:': '$ plan',
    'Only what one pod has here:': '$ plan shop/web-0',
    'From a workstation: how a claim stands in the whole cluster, and what it waits for:':
      '$ plan --cluster pvc/shop/data',
    'Also directories and emptyDir data of orphaned pods:': '$ plan --orphans',
    'From a snapshot, on any machine, with every step:': '$ plan --snapshot node.json -o wide',
    'Review now, carry out exactly this later:': '$ plan --out node.plan && $ apply node.plan',
    'For scripts; exit status 2 means that there are operations:': '$ plan --detailed-exitcode -o json',
  })
  static override flags = planCommandFlags

  async run(): Promise<void> {
    const { flags: typed, args } = await this.parse(Plan)
    const { names = [] } = args
    const flags = { ...typed, ...narrowing(names, typed) }
    requireOneNode(flags)
    const options = planOptions(flags, this.config.version)
    if (flags.cluster) return await this.#planCluster(flags, options)
    if (flags.watch) {
      return await watchNode(flags, this, options, ({ plan: seen }, screen) => {
        const plan = withAdvice(seen, givenBy(flags, options.settleMs))
        requireNamed(plan.problems, flags)
        return { plan, text: renderPlan(plan, screen) }
      })
    }
    const { decided } = await loadNode(flags, this.detail, options)
    const plan = withAdvice(decided.plan, givenBy(flags, options.settleMs))
    const details = () => decisionsOf(decided).map(({ path, rule, why }) => `${rule}: ${path}: ${why}`)
    await this.#show(plan, options, flags, details, (screen) =>
      renderPlan(plan, screen, { unfolded: this.verbose, elsewhere: flags.snapshot !== undefined }),
    )
  }

  /** The attach/detach controller's pass. */
  async #planCluster(flags: ParsedFlags, options: PlanOptions): Promise<void> {
    const { planCluster } = await import('../core/cluster/pass/plan-cluster.ts')
    const { loadCluster } = await import('../core/cli/load-cluster.ts')
    const state = await loadCluster(flags, this.detail)
    const given = clusterOptions(flags, options)
    const plan = planCluster(state, given)
    const details = () =>
      [...plan.operations, ...plan.waiting].map(
        ({ rule, node, volume, message }) => `${rule}: ${volume?.name ?? 'a volume'} on node ${node}: ${message}`,
      )
    const look = { unfolded: this.verbose, context: givenBy(flags, options.settleMs) }
    await this.#show(plan, given, flags, details, (screen) => renderPlan(plan, screen, look))
  }

  /** @throws SafetyRefusal of a plan that is refused as a whole, after it was printed */
  async #show(
    plan: VolumePlan | ClusterPlan,
    options: PlanOptions | ClusterOptions,
    { output, out, ...flags }: ParsedFlags,
    details: () => readonly string[],
    draw: (screen: Screen) => string,
  ): Promise<void> {
    requireNamed(plan.problems, flags)
    this.detail(`planned ${plan.operations.length} operations`)
    if (this.verbose) for (const line of details()) this.detail(line)
    for (const { rule, message } of plan.inputs.unjudged) this.detail(`${rule}: not judged: ${message}`)
    await this.answer(plan, output, draw, output === 'name' ? namesOfPlan(plan) : [])
    if (out !== undefined) {
      writePlanFile(plan, options, callerPath(out), out)
      this.say(`wrote ${out}: plan ${planId(plan)}, ${count(plan.operations.length, 'operation')}`)
    }
    this.finish(planExitStatus(plan, flags['detailed-exitcode']))
    requireUnrefused(plan)
  }
}

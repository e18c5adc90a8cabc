import { Flags } from '@oclif/core'
import { loadNode } from '../core/cli/load-node.ts'
import { apiFlags, nodeChoice, nodeFlags, snapshotFlag } from '../core/cli/node-flags.ts'
import { planExitStatus, refusalOf } from '../core/cli/plan-exit-status.ts'
import { planFlags, planOptions } from '../core/cli/plan-flags.ts'
import { requireNamed } from '../core/cli/require-named.ts'
import { type OutputFormat, outputFlag, VolctlCommand, verboseFlag } from '../core/cli/volctl-command.ts'
import type { PlanOptions, Plan as VolumePlan } from '../core/plan/plan.ts'
import { planId } from '../core/plan/plan-id.ts'
import { writePlanFile } from '../core/plan-file/write-plan-file.ts'
import { planWithDecisions } from '../core/reconcile/decisions.ts'
import { planNode } from '../core/reconcile/plan-node.ts'
import { callerPath } from '../core/trust/caller.ts'
import { renderPlan } from '../core/views/plan-view.ts'
import { count } from '../core/views/words.ts'

export default class Plan extends VolctlCommand {
  static override summary = 'Print what one reconcile pass would do on this node. Changes nothing.'
  static override description =
    "Reads the pods of this node from the API server, and the node's mounts, the kubelet's directories, the container " +
    'runtime and the CSI sockets, once; compares what the pods want with what is there; and prints the operations ' +
    'that lead from one to the other, each with its reason. Nothing is changed, on the node or in the cluster.'
  static override usage = 'plan [FLAGS]'
  static override examples = [
    { description: 'What is wrong on this node:', command: '<%= config.bin %> plan' },
    {
      description: 'Left-over directories and data of pods that are gone, too:',
      command: '<%= config.bin %> plan --orphans',
    },
    {
      description: 'The same for a snapshot, on any machine, with every step:',
      command: '<%= config.bin %> plan --snapshot node.json -o wide',
    },
    {
      description: 'To be looked at, and carried out later exactly as it is:',
      command: '<%= config.bin %> plan --out node.plan && <%= config.bin %> apply node.plan',
    },
    {
      description: 'For scripts; exit status 2 says that there is something to do:',
      command: '<%= config.bin %> plan --detailed-exitcode -o json',
    },
  ]
  static override flags = {
    output: outputFlag(),
    snapshot: snapshotFlag('Plan'),
    out: Flags.string({
      helpValue: 'FILE',
      summary:
        'Save the plan to FILE, readable by its owner alone, for volctl apply FILE. The answer is printed all the same.',
    }),
    'detailed-exitcode': Flags.boolean({
      summary: 'Exit with 2 when there are operations, see EXIT STATUS in the manual.',
    }),
    verbose: verboseFlag('Say on standard error what was read, how long it took, and each decision with its rule.'),
    ...apiFlags,
    ...nodeFlags,
    ...planFlags,
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Plan)
    const options = planOptions(flags, this.config.version)
    const state = await loadNode(nodeChoice(flags), flags.snapshot, (line) => this.detail(line))
    const { plan, decisions } = this.verbose
      ? planWithDecisions(state, options)
      : { plan: planNode(state, options), decisions: [] }
    requireNamed(plan.problems, flags['ignore-not-found'])
    this.detail(`planned ${plan.operations.length} operations`)
    for (const { path, rule, why } of decisions) this.detail(`${rule}: ${path}: ${why}`)
    for (const { rule, message } of plan.inputs.unjudged) this.detail(`${rule}: not judged: ${message}`)
    await this.answer(plan, flags.output as OutputFormat, (wide, paint) =>
      renderPlan(plan, paint, wide ? 'wide' : 'table'),
    )
    if (flags.out !== undefined) this.#save(plan, options, flags.out)
    this.finish(planExitStatus(plan, flags['detailed-exitcode']))
    const refusal = refusalOf(plan)
    if (refusal !== undefined) throw refusal
  }

  #save(plan: VolumePlan, options: PlanOptions, file: string): void {
    writePlanFile(plan, options, callerPath(file), file)
    this.say(`wrote ${file}: plan ${planId(plan)}, ${count(plan.operations.length, 'operation')}`)
  }
}

import { Args, Flags, type Interfaces } from '@oclif/core'
import { applyPlan } from '../core/apply/apply-plan.ts'
import { planToReview } from '../core/apply/conditions/find-again.ts'
import { isDone } from '../core/apply/conditions/is-done.ts'
import { ownsNode } from '../core/apply/operation/preconditions.ts'
import { afterSettling, type Looked } from '../core/cli/after-settling.ts'
import { applyContext } from '../core/cli/apply-context.ts'
import { applyWords, givenBy, readingWords } from '../core/cli/apply-words.ts'
import type { ClusterApplyChoice } from '../core/cli/cluster-apply.ts'
import {
  clusterApplyFlags,
  clusterFlags,
  clusterOptions,
  givenFlags,
  nodesFlag,
  requireFlagsOfScope,
  requireNoPlanFlags,
} from '../core/cli/cluster-flags.ts'
import { confirm, mustAsk, terminals } from '../core/cli/confirm.ts'
import { Interrupts } from '../core/cli/interrupts.ts'
import { journalDirectory, journalFlag } from '../core/cli/journal-flag.ts'
import { judged, planAlone } from '../core/cli/judged-node.ts'
import { leaveNode, lookAtNode, requireNodeHere } from '../core/cli/live-node.ts'
import { requireRoot, requireStanding } from '../core/cli/may-apply.ts'
import { apiFlags, nodeChoice, nodeFlags } from '../core/cli/node-flags.ts'
import { messages, watchedTerminal } from '../core/cli/output.ts'
import { applyArguments, PLAN_NAMES, typedNames } from '../core/cli/plan-arguments.ts'
import { refusalOf } from '../core/cli/plan-exit-status.ts'
import { parseCount, planFlags, planOptions } from '../core/cli/plan-flags.ts'
import { type StopAsked, stopAsked } from '../core/cli/stop-asked.ts'
import { notStarted, type StoppedKubelet, stoppedKubelet } from '../core/cli/stopped-kubelet.ts'
import {
  OUTPUT_FORMATS,
  type OutputFormat,
  outputFlag,
  VolctlCommand,
  verboseFlag,
} from '../core/cli/volctl-command.ts'
import { timeLimits } from '../core/kubelet-stop/time-limits.ts'
import type { UnitFacts } from '../core/kubelet-stop/unit-facts.ts'
import { volctl } from '../core/lang/command.ts'
import { defined } from '../core/lang/defined.ts'
import { parseDuration } from '../core/lang/duration.ts'
import type { NodeState } from '../core/model/node-state.ts'
import type { CollectedNode } from '../core/node/collect-node.ts'
import type { ApplyEvent } from '../core/plan/events.ts'
import { requireNamed } from '../core/plan/name-faults.ts'
import { type Given, withAdvice } from '../core/plan/next-steps.ts'
import type { Operation, Plan, PlanOptions, ReviewedPlan } from '../core/plan/plan.ts'
import { planId } from '../core/plan/plan-id.ts'
import { PlanNames } from '../core/plan/plan-names.ts'
import type { SavedPlan } from '../core/plan/plan-shape.ts'
import { readyText } from '../core/plan/plan-summary.ts'
import { isPlanInput, NODE_PLAN, readTypedPlan } from '../core/plan-file/read-plan-file.ts'
import { refuseInsecureApi } from '../core/reconcile/pods/guards.ts'
import { applyDocument, resultEvent } from '../core/views/apply-document.ts'
import { closing, eventLine, numbered } from '../core/views/apply-lines.ts'
import { announcement } from '../core/views/downtime-view.ts'
import { renderPlan } from '../core/views/plan-view.ts'
import { Progress } from '../core/views/progress.ts'
import { toJsonLine } from '../core/views/structured.ts'

const DEFAULT_TIMEOUT = '2m'
const DEFAULT_PARALLEL = '8'
const DEFAULT_DOWNTIME = '4m'

function questionAbout({ summary: { ready = 0 } }: Plan, unit: string | undefined): string {
  return `\n${unit === undefined ? 'Perform' : `Stop ${unit} and perform`} ${readyText(ready)}? Type 'yes' to continue: `
}

/** The same apply once more, of a cluster. */
function againCommand(flags: Readonly<Record<string, unknown>>, planfile: string | undefined): string {
  return volctl(
    'apply',
    ...(planfile === undefined ? [] : [planfile]),
    ...applyWords(flags),
    ...(flags.yes === true ? ['--yes'] : []),
  )
}

interface Looking {
  look(before: CollectedNode): Promise<CollectedNode>
  readonly interrupts: Interrupts
}

interface CarryingOut {
  readonly context: Parameters<typeof applyPlan>[1]
  readonly format: OutputFormat
  readonly given: Given
}

/** A look, the plan that it gives, and what of it would be carried out. */
interface Planned {
  readonly node: CollectedNode
  readonly fresh: Plan
  readonly shown: Plan
}

interface Seen extends Looked {
  readonly planned: Planned
  again(): Promise<Seen>
}

export default class Apply extends VolctlCommand {
  static override summary = 'Carry out the plan: unmount, unstage and detach what no pod needs, mount what pods lack.'
  static override description =
    'Reads the node and the API server as plan does, shows the plan, asks for confirmation on a terminal, and carries ' +
    'the plan out. Right before each operation apply checks again that its preconditions hold. Operations on one volume ' +
    'keep their order; independent volumes are handled in parallel. Each operation is recorded in the journal before it ' +
    'begins. At the end apply reads the node once more and says what is left. Needs root. With a plan file, written by ' +
    'plan --out, apply carries out exactly the operations in that file: an operation that a fresh plan no longer ' +
    'contains, or that now concerns something else (another mount, file or version of the pod), is refused, with the ' +
    'old and the new value; the others are carried out.'
  static override usage = 'apply [NAME...|PLANFILE] [FLAGS]'
  static override args = {
    'name-or-planfile': Args.string({
      name: 'NAME-OR-PLANFILE',
      multiple: true,
      // Else oclif would take a line of standard input for it.
      ignoreStdin: true,
      description:
        `${PLAN_NAMES} Or a plan saved by plan --out: carry out exactly this plan, with the options it was made with. ` +
        'That is a file of this name, or what begins with /, ./ or ../ or ends in .json or .plan; "-" reads the plan ' +
        'from standard input.',
    }),
  }
  static override examples = [
    { description: 'Show the plan, ask, carry it out:', command: '<%= config.bin %> apply' },
    {
      description: 'Clean up after orphaned pods, their emptyDir data included:',
      command: '<%= config.bin %> apply --orphans',
    },
    { description: 'Only one pod, without asking:', command: '<%= config.bin %> apply shop/web-0 --yes' },
    { description: 'Exactly the reviewed plan:', command: '<%= config.bin %> apply node.plan' },
    { description: 'A plan that was reviewed on another machine:', command: 'ssh node7 volctl apply - < node7.plan' },
    {
      description: 'The attachments of a node whose machine is off, from a workstation:',
      command: '<%= config.bin %> apply --cluster --node-gone node7',
    },
    {
      description: 'With the kubelet running: stop it, wait, apply, start it again, whatever happens:',
      command: '<%= config.bin %> apply --stop-kubelet',
    },
    { description: 'For scripts, one event per line:', command: '<%= config.bin %> apply --yes -o ndjson' },
  ]
  static override flags = {
    output: outputFlag([...OUTPUT_FORMATS, 'ndjson']),
    plan: Flags.string({
      helpValue: 'FILE',
      summary: 'Carry out the plan in FILE, whatever its name looks like.',
    }),
    yes: Flags.boolean({
      char: 'y',
      aliases: ['auto-approve'],
      summary:
        'Do not ask for confirmation. Required where only one end is a terminal; without any terminal apply never asks.',
    }),
    'no-wait': Flags.boolean({
      summary:
        'Do not wait for the settle time of a kubelet that has just stopped. Without this flag apply waits, with a countdown.',
    }),
    'stop-kubelet': Flags.boolean({
      summary:
        "Stop the kubelet's systemd unit, wait for the settle time, apply, and start it again, whatever happens. If nothing needs that, nothing is stopped.",
      exclusive: ['no-wait'],
    }),
    'max-downtime': Flags.string({
      helpValue: 'DUR',
      summary: `With --stop-kubelet: how long the kubelet may be stopped (default ${DEFAULT_DOWNTIME}); then systemd starts it.`,
      dependsOn: ['stop-kubelet'],
    }),
    parallel: Flags.string({
      helpValue: 'N',
      summary: `Operations in progress at once (default ${DEFAULT_PARALLEL}).`,
    }),
    timeout: Flags.string({
      helpValue: 'DUR',
      summary: `Limit for one operation; an operation that hangs is abandoned and named (default ${DEFAULT_TIMEOUT}).`,
    }),
    journal: journalFlag('Directory to write the journal to; created if missing.', ['no-journal']),
    'no-journal': Flags.boolean({
      summary:
        'Write no journal, for a node whose disk is full or read-only; removed state files are printed instead. Without ' +
        'this flag apply does nothing that it could not record first.',
    }),
    verbose: verboseFlag('Print on standard error what was read, how long that took, and each step of the operations.'),
    ...apiFlags,
    ...nodeFlags,
    ...nodesFlag,
    ...planFlags,
    ...clusterFlags,
    ...clusterApplyFlags,
  }

  async run(): Promise<void> {
    const { flags: typed, args, raw } = await this.parse(Apply)
    const { 'name-or-planfile': names = [] } = args
    const { planfile, ...narrowed } = applyArguments(names, typed)
    const flags = { ...typed, ...narrowed }
    const ways = typedNames(names, typed.namespace, { isApply: true })
    requireFlagsOfScope(flags)
    if (planfile !== undefined) requireNoPlanFlags(givenFlags(raw))
    const parallel = parseCount(flags.parallel ?? DEFAULT_PARALLEL, '--parallel', 1)
    const timeoutMs = parseDuration(flags.timeout ?? DEFAULT_TIMEOUT, '--timeout')
    const maxMs = parseDuration(flags['max-downtime'] ?? DEFAULT_DOWNTIME, '--max-downtime')
    const journalDir = journalDirectory(flags.journal)
    const format = flags.output
    const asks = mustAsk({ yes: flags.yes, reviewed: planfile !== undefined }, terminals(this.io))
    if (flags.cluster) return await this.#toCluster(flags, { timeoutMs, journalDir, format, asks, planfile, ways })
    const piped = planfile !== undefined && isPlanInput(planfile)
    const fromFile = planfile === undefined || piped ? undefined : await this.#read(planfile)
    const fromFlags = planOptions(flags, this.config.version)
    await requireNodeHere(nodeChoice(flags))
    requireRoot()

    let node: CollectedNode | undefined
    let stop: StoppedKubelet | undefined
    using interrupts = new Interrupts((line) => this.say(line))
    const look = (before?: CollectedNode): Promise<CollectedNode> =>
      lookAtNode(nodeChoice(flags), {
        attributes: 'plan',
        log: this.detail,
        signal: before === undefined ? interrupts.stop : interrupts.abandon,
        stopped: stop && before?.node.kubelet,
        ...defined({ before }),
      })
    try {
      node = await interrupts.orInterrupted(look())
      requireStanding(node)
      // Not before: where volctl starts again in another mount namespace, that run reads it.
      const saved = piped ? await interrupts.orInterrupted(this.#read(planfile)) : fromFile
      const options = saved?.options ?? fromFlags
      const judge = (state: CollectedNode) => judged(state, options, planAlone, { signal: interrupts.stop })
      const planOf = async (look: CollectedNode, given: NodeState = look): Promise<Planned> => {
        const { node: state, decided } = await judge({ ...look, ...given })
        const { plan: fresh } = decided
        const done = (operation: Operation): boolean => isDone(operation, state)
        return { node: state, fresh, shown: saved === undefined ? fresh : planToReview(saved, fresh, done) }
      }
      const first = node
      const asked = flags['stop-kubelet']
        ? await interrupts.orInterrupted(this.#stopAsked(first, options, flags.kubeconfig, planOf))
        : undefined
      const planned = asked ?? (await this.#settled(node, flags['no-wait'], planOf, { look, interrupts }))
      const { fresh, shown } = planned
      node = planned.node
      if (saved === undefined) requireNamed(fresh.problems, flags['ignore-not-found'], ways)
      const limits =
        asked &&
        timeLimits({
          maxMs,
          settleMs: options.settleMs,
          timeoutMs: flags.timeout === undefined ? undefined : timeoutMs,
          defaultTimeoutMs: timeoutMs,
        })
      const asking = asks && shown.operations.some(({ blocked }) => blocked === undefined)
      const given = givenBy(flags, options.settleMs)
      await this.#show(shown, given, format, asking)
      const insecure = refuseInsecureApi(fresh.inputs.api, options)
      const refusal = refusalOf(fresh) ?? refusalOf({ ...(insecure && { refused: insecure }) })
      if (refusal !== undefined) throw refusal
      if (asked !== undefined) this.#announce(asked.facts, fresh.node, maxMs, options.settleMs)
      if (asking) await confirm(questionAbout(shown, asked?.facts.unit), interrupts.stop)
      if (asked !== undefined && limits !== undefined)
        stop = stoppedKubelet(node, {
          unit: asked.facts.unit,
          maxMs,
          limits,
          interrupts,
          detail: this.detail,
        })
      const context = applyContext(node, {
        options,
        planIsFresh: !asking && stop === undefined,
        freshPlan: asking || stop !== undefined || saved === undefined ? undefined : fresh,
        planFile: planfile,
        journalDir,
        noJournal: flags['no-journal'],
        parallel,
        timeoutMs: limits?.operationMs ?? timeoutMs,
        signal: interrupts.stop,
        abandon: interrupts.abandon,
        kubeletStop: stop,
        lookAgain: async (before) => (await judge(await look(before))).node,
      })
      await this.#carryOut(saved ?? fresh, new PlanNames(shown), { context, format, given })
    } finally {
      leaveNode(node)
    }
  }

  /** Undefined: nothing is stopped, and the person knows why. */
  async #stopAsked(
    node: CollectedNode,
    { settleMs }: PlanOptions,
    kubeconfig: string | undefined,
    planOf: (node: CollectedNode, state?: NodeState) => Promise<Planned>,
  ): Promise<(StopAsked & Planned) | undefined> {
    const asked = await stopAsked(node, {
      settleMs,
      ownKubeconfig: kubeconfig !== undefined,
      planOf: (state) => planOf(node, state),
    })
    if (typeof asked !== 'string') return { ...asked, node }
    this.say(asked)
    return undefined
  }

  /** The last look: once the settle time of a kubelet that has just stopped is over, unless nobody wants to wait. */
  async #settled(
    first: CollectedNode,
    noWait: boolean,
    planOf: (node: CollectedNode) => Promise<Planned>,
    { look, interrupts }: Looking,
  ): Promise<Planned> {
    const seen = async (node: CollectedNode): Promise<Seen> => {
      const planned = await planOf(node)
      return {
        planned,
        plan: planned.fresh,
        kubeletIsBack: async () => ownsNode(await node.node.kubeletState()),
        again: async () => await seen(await look(node)),
      }
    }
    if (noWait) return planOf(first)
    const waited = afterSettling(await seen(first), {
      signal: interrupts.stop,
      begins: (left) =>
        this.say(
          `The kubelet stopped a moment ago: waiting ${left} for its last calls to end (--no-wait: answer at once).`,
        ),
      terminal: watchedTerminal(),
    })
    return (await interrupts.orInterrupted(waited)).planned
  }

  /** How long the kubelet will be down, and what that means. */
  #announce({ unit, unitFileState }: UnitFacts, node: string, maxMs: number, settleMs: number): void {
    const atBoot = unitFileState.startsWith('enabled')
    messages.write(announcement({ unit, node, maxMs, settleMs, atBoot }, messages.columns))
  }

  /** The other scope shares only flags and manners: it needs no root, and changes nothing on this machine. */
  async #toCluster(
    flags: Interfaces.InferredFlags<typeof Apply.flags>,
    given: Pick<ClusterApplyChoice, 'timeoutMs' | 'journalDir' | 'format' | 'asks' | 'ways'> & {
      readonly planfile: string | undefined
    },
  ): Promise<void> {
    const { planfile, ...rest } = given
    const { applyToCluster } = await import('../core/cli/cluster-apply.ts')
    const saved = planfile === undefined ? undefined : await this.#readOfCluster(planfile)
    const choice: ClusterApplyChoice = {
      ...rest,
      options: clusterOptions(flags, planOptions(flags, this.config.version)),
      saved,
      again: againCommand(flags, planfile),
      reading: readingWords(flags),
      api: nodeChoice(flags),
      noJournal: flags['no-journal'],
      ignoreNotFound: flags['ignore-not-found'],
      digest: flags.confirm,
    }
    await applyToCluster(choice, this)
    await this.output.flush()
  }

  async #readOfCluster(file: string): Promise<NonNullable<ClusterApplyChoice['saved']>> {
    const { savedClusterPlan } = await import('../core/plan/cluster-plan.ts')
    return { plan: await readTypedPlan({ scope: 'cluster', shape: savedClusterPlan }, file, this.config.version), file }
  }

  async #read(file: string): Promise<SavedPlan> {
    const saved = await readTypedPlan(NODE_PLAN, file, this.config.version)
    const from = isPlanInput(file) ? 'standard input' : file
    this.detail(`${from}: plan ${planId(saved)} of ${saved.createdAt}, ${saved.operations.length} operations`)
    return saved
  }

  /** The plan as a person must see it before saying yes (S31); standard output stays for the answer. */
  async #show(plan: Plan, given: Given, format: OutputFormat, asking: boolean): Promise<void> {
    if (!asking && format !== 'table' && format !== 'wide') return
    const advised = withAdvice(plan, given)
    messages.write(
      renderPlan(advised, await this.screenOf(this.io.stderr, format), { confirm: true, unfolded: this.verbose }),
    )
  }

  async #carryOut(plan: ReviewedPlan, names: PlanNames, { context, format, given }: CarryingOut): Promise<void> {
    const lines = format === 'table' || format === 'wide'
    const screen = await this.screenOf(this.io.stdout, format)
    using progress =
      lines && this.io.stderr.isTTY === true ? new Progress(messages, names, plan.operations.length) : undefined
    const print = (event: ApplyEvent): void => {
      progress?.follow(event)
      if (event.type === 'step') this.detail(`${event.id}: ${event.step?.op} ${event.step?.target}`)
      if (format === 'ndjson') this.output.write(toJsonLine(event))
      const line = lines ? eventLine(event, (each) => numbered(each, names), screen) : undefined
      if (line === undefined) return
      if (progress === undefined) this.output.write(line)
      else progress.above(() => this.output.write(line))
    }
    const result = await applyPlan(plan, context, print)
    progress?.[Symbol.dispose]()
    if (format === 'ndjson') this.output.write(toJsonLine(resultEvent(result)))
    else await this.answer(applyDocument(plan, result), format, () => closing(result, plan, screen, given))
    this.finish(result.exit)
    await this.output.flush()
    const refusal = refusalOf(result)
    if (refusal !== undefined) throw refusal
    if (result.downtime?.runs === false) throw notStarted(result.downtime)
  }
}

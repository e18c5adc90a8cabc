import { Args, type Interfaces } from '@oclif/core'
import { applyPlan } from '../core/apply/apply-plan.ts'
import { isDone, planToReview } from '../core/apply/find-again.ts'
import { ownsNode } from '../core/apply/operation/ask-kubelet.ts'
import { parseDuration } from '../core/base/duration.ts'
import { afterSettling } from '../core/cli/after-settling.ts'
import { applyContext } from '../core/cli/apply-context.ts'
import { carryOut, isDrawn, refusalOf } from '../core/cli/carry-out.ts'
import type { ClusterApplyChoice } from '../core/cli/cluster-apply.ts'
import { givenBy } from '../core/cli/command-context.ts'
import { confirm, mustAsk, terminals } from '../core/cli/confirm.ts'
import { applyFlags, DEFAULTS } from '../core/cli/flags.ts'
import { Interrupts } from '../core/cli/interrupts.ts'
import { judged } from '../core/cli/judged-node.ts'
import { type LookOptions, leaveNode, lookAtNode, requireNodeHere } from '../core/cli/live-node.ts'
import { requireRoot, requireStanding } from '../core/cli/may-apply.ts'
import {
  clusterOptions,
  journalDirectory,
  nodeChoice,
  parseCount,
  planOptions,
  requireFlagsOfScope,
  requireNoPlanFlags,
} from '../core/cli/options.ts'
import { messages, watchedTerminal } from '../core/cli/output.ts'
import { applyArguments, PLAN_NAMES } from '../core/cli/plan-arguments.ts'
import { stopAsked } from '../core/cli/stop-asked.ts'
import { notStarted, type StoppedKubelet, stoppedKubelet } from '../core/cli/stopped-kubelet.ts'
import { examples, VolctlCommand } from '../core/cli/volctl-command.ts'
import type { NodeState } from '../core/facts/actual/snapshot.ts'
import type { CollectedNode } from '../core/node/collect-node.ts'
import { type TimeLimits, timeLimits } from '../core/node/kubelet-stop/plan-stop.ts'
import type { UnitFacts } from '../core/node/kubelet-stop/stoppable.ts'
import { isPlanInput, NODE_PLAN, readTypedPlan } from '../core/plan/documents/plan-file.ts'
import { refuseInsecureApi } from '../core/plan/insecure-api.ts'
import { type Naming, requireNamed } from '../core/plan/name-faults.ts'
import { withAdvice } from '../core/plan/next-steps.ts'
import {
  DEFAULT_SETTLE_MS,
  type Operation,
  type Plan,
  type PlanOptions,
  type ReviewedPlan,
  type SavedPlan,
} from '../core/plan/plan.ts'
import { planId } from '../core/plan/plan-id.ts'
import { readyText } from '../core/plan/plan-summary.ts'
import { closing, numbered } from '../core/views/apply-lines.ts'
import { announcement } from '../core/views/downtime-view.ts'
import { renderPlan } from '../core/views/plan-view.ts'

function questionAbout({ summary: { ready = 0 } }: Plan, unit: string | undefined): string {
  return `\n${unit === undefined ? 'Perform' : `Stop ${unit} and perform`} ${readyText(ready)}? Type 'yes' to continue: `
}

type ParsedFlags = Interfaces.InferredFlags<typeof Apply.flags> & Naming

/** What the command line asks for. */
interface Asked {
  readonly flags: ParsedFlags
  readonly planfile: string | undefined
  readonly parallel: number
  readonly timeoutMs: number
  readonly maxMs: number
  readonly journalDir: string | undefined
  /** A person is there, who can say yes. */
  readonly asks: boolean
}

/** One apply of this node. */
interface Run extends Asked {
  readonly interrupts: Interrupts
  /** The last look. */
  node: CollectedNode
  /** The kubelet that this apply stops. */
  stop?: StoppedKubelet
}

/** The plan that was reviewed and saved, if there is one, and the options of the pass. */
interface Basis {
  readonly saved: SavedPlan | undefined
  readonly options: PlanOptions
}

/** The plan that a look gives, and what of it would be carried out. */
interface Planned {
  readonly node: CollectedNode
  readonly plan: Plan
  readonly shown: Plan
  /** The unit that is stopped for it, and for how long. */
  readonly stop?: { readonly facts: UnitFacts; readonly limits: TimeLimits }
}

type PlanOf = (node: CollectedNode, state?: NodeState) => Promise<Planned>

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
  static override examples = examples({
    'Show the plan, ask, carry it out:': '$ apply',
    'Clean up after orphaned pods, their emptyDir data included:': '$ apply --orphans',
    'Only one pod, without asking:': '$ apply shop/web-0 --yes',
    'Exactly the reviewed plan:': '$ apply node.plan',
    'A plan that was reviewed on another machine:': 'ssh node7 volctl apply - < node7.plan',
    'The attachments of a node whose machine is off, from a workstation:': '$ apply --cluster --node-gone node7',
    'With the kubelet running: stop it, wait, apply, start it again, whatever happens:': '$ apply --stop-kubelet',
    'For scripts, one event per line:': '$ apply --yes -o ndjson',
  })
  static override flags = applyFlags

  async run(): Promise<void> {
    const asked = await this.#ask()
    if (asked.flags.cluster) return await this.#toCluster(asked)
    const fromFile = await this.#readFile(asked)
    await requireNodeHere(nodeChoice(asked.flags))
    requireRoot()
    using interrupts = new Interrupts((line) => this.say(line))
    const looked = this.#lookAt(asked.flags, { signal: interrupts.stop })
    const run: Run = { ...asked, interrupts, node: await interrupts.orInterrupted(looked) }
    try {
      requireStanding(run.node)
      // Not before the look: where volctl starts again in another mount namespace, that run reads it.
      const basis = fromFile ?? (await interrupts.orInterrupted(this.#read(run.planfile)))
      const planned = await this.#plan(run, basis)
      const confirmed = await this.#review(run, basis, planned)
      await this.#carryOut(run, basis, planned, confirmed)
    } finally {
      leaveNode(run.node)
    }
  }

  /** @throws VolctlError Usage */
  async #ask(): Promise<Asked> {
    const { flags: typed, args, raw } = await this.parse(Apply)
    const { 'name-or-planfile': names = [] } = args
    const { planfile, ...narrowed } = applyArguments(names, typed)
    const flags = { ...typed, ...narrowed }
    requireFlagsOfScope(flags)
    if (planfile !== undefined) requireNoPlanFlags(raw)
    return {
      flags,
      planfile,
      parallel: parseCount(flags.parallel ?? DEFAULTS.parallel, '--parallel', 1),
      timeoutMs: parseDuration(flags.timeout ?? DEFAULTS.timeout, '--timeout'),
      maxMs: parseDuration(flags['max-downtime'] ?? DEFAULTS['max-downtime'], '--max-downtime'),
      journalDir: journalDirectory(flags.journal),
      asks: mustAsk({ yes: flags.yes, reviewed: planfile !== undefined }, terminals(this.io)),
    }
  }

  /** Before the node is read; undefined: the plan is on standard input. */
  async #readFile({ planfile, flags }: Asked): Promise<Basis | undefined> {
    const fromFlags = planOptions(flags, this.config.version)
    if (planfile === undefined) return { saved: undefined, options: fromFlags }
    return isPlanInput(planfile) ? undefined : await this.#read(planfile)
  }

  #lookAgain({ flags, interrupts, stop }: Run, before: CollectedNode): Promise<CollectedNode> {
    return this.#lookAt(flags, { signal: interrupts.abandon, stopped: stop && before.node.kubelet, before })
  }

  #lookAt(flags: ParsedFlags, options: Omit<LookOptions, 'attributes' | 'log'>): Promise<CollectedNode> {
    return lookAtNode(nodeChoice(flags), { attributes: 'plan', log: this.detail, ...options })
  }

  /** Of the node as it is with its kubelet stopped, if that is asked for; else once the last calls of one that has stopped are over. */
  async #plan(run: Run, { saved, options }: Basis): Promise<Planned> {
    const { flags, interrupts } = run
    const planOf: PlanOf = async (look, state = look) => {
      const { node, decided } = await judged({ ...look, ...state }, options, { signal: interrupts.stop })
      const { plan } = decided
      const done = (operation: Operation): boolean => isDone(operation, node)
      return { node, plan, shown: saved === undefined ? plan : planToReview(saved, plan, done) }
    }
    const stopped = flags['stop-kubelet']
      ? await interrupts.orInterrupted(this.#stopped(run, options, planOf))
      : undefined
    const planned = stopped ?? (await this.#settled(run, planOf))
    run.node = planned.node
    if (saved === undefined) requireNamed(planned.plan.problems, flags)
    return planned
  }

  /** Undefined: nothing is stopped, and the person knows why. */
  async #stopped(run: Run, { settleMs }: PlanOptions, planOf: PlanOf): Promise<Planned | undefined> {
    const { node, flags, maxMs, timeoutMs } = run
    const asked = await stopAsked(node, {
      settleMs,
      ownKubeconfig: flags.kubeconfig !== undefined,
      planOf: (state) => planOf(node, state),
    })
    if (typeof asked === 'string') {
      this.say(asked)
      return undefined
    }
    const { facts, plan, shown } = asked
    const limits = timeLimits({
      maxMs,
      settleMs,
      timeoutMs: flags.timeout === undefined ? undefined : timeoutMs,
      defaultTimeoutMs: timeoutMs,
    })
    return { node, plan, shown, stop: { facts, limits } }
  }

  /** The last look: once the settle time of a kubelet that has just stopped is over, unless nobody wants to wait. */
  async #settled(run: Run, planOf: PlanOf): Promise<Planned> {
    const { interrupts, flags } = run
    const first = await planOf(run.node)
    if (flags['no-wait']) return first
    const waited = afterSettling(first, {
      again: async () => {
        run.node = await this.#lookAgain(run, run.node)
        return await planOf(run.node)
      },
      kubeletIsBack: async () => ownsNode(await run.node.node.kubeletState()),
      signal: interrupts.stop,
      begins: (left) =>
        this.say(
          `The kubelet stopped a moment ago: waiting ${left} for its last calls to end (--no-wait: answer at once).`,
        ),
      terminal: watchedTerminal(),
    })
    return await interrupts.orInterrupted(waited)
  }

  /**
   * The plan as a person must see it before saying yes (S31), what refuses it as a whole, and the question.
   *
   * @returns whether a person has said yes: the node may have changed meanwhile
   */
  async #review({ flags, asks, maxMs, interrupts }: Run, { options }: Basis, planned: Planned): Promise<boolean> {
    const { plan, shown, stop } = planned
    const { settleMs } = options
    const asking = asks && shown.operations.some(({ blocked }) => blocked === undefined)
    // Standard output stays for the answer.
    if (asking || isDrawn(flags.output)) {
      const screen = await this.screenOf(this.io.stderr, flags.output)
      const advised = withAdvice(shown, givenBy(flags, settleMs))
      messages.write(renderPlan(advised, screen, { confirm: true, unfolded: this.verbose }))
    }
    const insecure = refuseInsecureApi(plan.inputs.api, options)
    const refusal = refusalOf(plan) ?? refusalOf({ ...(insecure && { refused: insecure }) })
    if (refusal !== undefined) throw refusal
    if (stop !== undefined) {
      const { unit, unitFileState } = stop.facts
      const atBoot = unitFileState.startsWith('enabled')
      messages.write(announcement({ unit, node: plan.node, maxMs, settleMs, atBoot }, messages.columns))
    }
    if (asking) await confirm(questionAbout(shown, stop?.facts.unit), interrupts.stop)
    return asking
  }

  /** The other scope shares only flags and manners: it needs no root, and changes nothing on this machine. */
  async #toCluster({ flags, planfile, timeoutMs, journalDir, asks }: Asked): Promise<void> {
    const { applyToCluster } = await import('../core/cli/cluster-apply.ts')
    const saved = planfile === undefined ? undefined : await this.#readOfCluster(planfile)
    const choice: ClusterApplyChoice = {
      ...{ timeoutMs, journalDir, asks, format: flags.output },
      options: saved?.plan.options ?? clusterOptions(flags, planOptions(flags, this.config.version)),
      saved,
      context: givenBy(flags, DEFAULT_SETTLE_MS, [
        ...(planfile === undefined ? [] : [planfile]),
        ...(flags.yes ? ['--yes'] : []),
      ]),
      api: nodeChoice(flags),
      noJournal: flags['no-journal'],
      naming: flags,
      digest: flags.confirm,
    }
    await applyToCluster(choice, this)
  }

  async #readOfCluster(file: string): Promise<NonNullable<ClusterApplyChoice['saved']>> {
    const { savedClusterPlan } = await import('../core/plan/cluster-plan.ts')
    return { plan: await readTypedPlan({ scope: 'cluster', shape: savedClusterPlan }, file, this.config.version), file }
  }

  async #read(file = '-'): Promise<Basis> {
    const saved = await readTypedPlan(NODE_PLAN, file, this.config.version)
    const from = isPlanInput(file) ? 'standard input' : file
    this.detail(`${from}: plan ${planId(saved)} of ${saved.createdAt}, ${saved.operations.length} operations`)
    return { saved, options: saved.options }
  }

  /** The saved plan or the fresh one, and its outcome. */
  async #carryOut(run: Run, { saved, options }: Basis, planned: Planned, confirmed: boolean): Promise<void> {
    const { flags, interrupts, maxMs } = run
    const { plan: fresh, shown, stop } = planned
    if (stop !== undefined) {
      const { facts, limits } = stop
      run.stop = stoppedKubelet(run.node, { unit: facts.unit, maxMs, limits, interrupts, detail: this.detail })
    }
    const context = applyContext(run.node, {
      options,
      freshPlan: confirmed || run.stop !== undefined ? undefined : fresh,
      planFile: run.planfile,
      journalDir: run.journalDir,
      noJournal: flags['no-journal'],
      parallel: run.parallel,
      timeoutMs: stop?.limits.operationMs ?? run.timeoutMs,
      signal: interrupts.stop,
      abandon: interrupts.abandon,
      kubeletStop: run.stop,
      lookAgain: async (before) =>
        (await judged(await this.#lookAgain(run, before), options, { signal: interrupts.stop })).node,
    })
    const plan: ReviewedPlan = saved ?? fresh
    const result = await carryOut(this, flags.output, plan, {
      nameOf: numbered(shown),
      stepOf: ({ id, step }) => `${id}: ${step?.op} ${step?.target}`,
      apply: (onEvent) => applyPlan(plan, context, onEvent),
      draw: (applied, screen) => closing(applied, plan, screen, givenBy(flags, options.settleMs)),
    })
    if (result.downtime?.runs === false) throw notStarted(result.downtime)
  }
}

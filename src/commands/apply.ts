import { applyPlan } from '../core/apply/apply-plan.ts'
import { isDone, planToReview } from '../core/apply/find-again.ts'
import { timeLimits } from '../core/apply/kubelet-stop/plan-stop.ts'
import { ownsNode } from '../core/apply/operation/ask-kubelet.ts'
import { afterSettling } from '../core/cli/after-settling.ts'
import { applyContext } from '../core/cli/apply-context.ts'
import { type ApplyAsked, carryOut, requireRoot, requireStanding, review } from '../core/cli/carry-out.ts'
import { givenBy } from '../core/cli/command-context.ts'
import { mustAsk } from '../core/cli/confirm.ts'
import { applyFlags, DEFAULTS, manyArguments } from '../core/cli/flags.ts'
import { Interrupts } from '../core/cli/interrupts.ts'
import { judged, NodeLooks, requireNodeHere } from '../core/cli/live-node.ts'
import {
  journalDirectory,
  nodeChoice,
  parseCount,
  parseDuration,
  planOptions,
  requireNoPlanFlags,
  requireOneNode,
} from '../core/cli/options.ts'
import { messages, watchedTerminal } from '../core/cli/output.ts'
import { applyArguments, PLAN_NAMES } from '../core/cli/plan-arguments.ts'
import { notStarted, type PlanShown, StoppedKubelet, stopAsked } from '../core/cli/stopped-kubelet.ts'
import { examples, VolctlCommand } from '../core/cli/volctl-command.ts'
import type { CollectedNode } from '../core/node/collect-node.ts'
import { isPlanInput, readTypedPlan } from '../core/plan/documents/plan-file.ts'
import { refuseInsecureApi } from '../core/plan/insecure-api.ts'
import { requireNamed } from '../core/plan/names.ts'
import { withAdvice } from '../core/plan/next-steps.ts'
import type { ReviewedPlan, SavedPlan } from '../core/plan/plan.ts'
import { planId } from '../core/plan/plan-id.ts'
import { readyText } from '../core/plan/plan-summary.ts'
import { numbered } from '../core/views/apply-lines.ts'
import { announcement } from '../core/views/downtime-view.ts'
import { renderPlan } from '../core/views/plan-view.ts'
import type { NodeState } from '../core/volumes/snapshot.ts'

/** One apply of this node. */
interface Run extends ApplyAsked {
  readonly interrupts: Interrupts
  readonly looks: NodeLooks
  /** The plan that was reviewed and saved, whose options count. */
  saved?: SavedPlan
  /** The last look, with who uses what its plan takes away. */
  node: CollectedNode
  /** The kubelet that this apply stops. */
  stop?: StoppedKubelet
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
    'name-or-planfile': manyArguments(
      'NAME-OR-PLANFILE',
      `${PLAN_NAMES} Or a plan saved by plan --out: carry out exactly this plan, with the options it was made with. ` +
        'That is a file of this name, or what begins with /, ./ or ../ or ends in .json or .plan; "-" reads the plan ' +
        'from standard input.',
    ),
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
    const { flags, planfile } = asked
    if (flags.cluster) {
      // It shares only flags and manners: it needs no root, and changes nothing on this machine.
      const { applyToCluster } = await import('../core/cli/cluster-apply.ts')
      return await applyToCluster(this, asked)
    }
    const isPiped = planfile !== undefined && isPlanInput(planfile)
    const fromFile = planfile === undefined || isPiped ? {} : await this.#readPlan(planfile)
    await requireNodeHere(nodeChoice(flags))
    requireRoot()
    using interrupts = new Interrupts()
    using looks = new NodeLooks(flags, this.detail)
    const node = await interrupts.orInterrupted(looks.look(interrupts.stop))
    const run: Run = { ...asked, ...fromFile, interrupts, looks, node }
    requireStanding(node)
    // Not before the look: where volctl starts again in another mount namespace, that run reads it.
    if (isPiped) Object.assign(run, await interrupts.orInterrupted(this.#readPlan(planfile)))
    const planned = await this.#judge(run)
    const confirmed = await this.#review(run, planned)
    await this.#carryOut(run, planned, confirmed)
  }

  /** @throws VolctlError Usage */
  async #ask(): Promise<ApplyAsked> {
    const { flags: typed, args, raw } = await this.parse(Apply)
    const { 'name-or-planfile': names = [] } = args
    const { planfile, ...narrowed } = applyArguments(names, typed)
    const flags = { ...typed, ...narrowed }
    requireOneNode(flags)
    if (planfile !== undefined) requireNoPlanFlags(raw)
    return {
      flags,
      planfile,
      parallel: parseCount(flags.parallel ?? DEFAULTS.parallel, '--parallel', 1),
      timeoutMs: parseDuration(flags.timeout ?? DEFAULTS.timeout, '--timeout'),
      maxMs: parseDuration(flags['max-downtime'] ?? DEFAULTS['max-downtime'], '--max-downtime'),
      journalDir: journalDirectory(flags.journal),
      asks: mustAsk({ yes: flags.yes, reviewed: planfile !== undefined }, this.io),
      options: planOptions(flags, this.config.version),
    }
  }

  async #readPlan(file: string) {
    const saved = await readTypedPlan('node', file, this.config.version)
    const from = isPlanInput(file) ? 'standard input' : file
    this.detail(`${from}: plan ${planId(saved)} of ${saved.createdAt}, ${saved.operations.length} operations`)
    return { saved, options: saved.options }
  }

  #lookAgain({ looks, interrupts, stop }: Run): Promise<CollectedNode> {
    return looks.look(interrupts.abandon, stop !== undefined)
  }

  /** Of the node as it is with its kubelet stopped, if that is asked for; else once the last calls of one that has stopped are over. */
  async #judge(run: Run): Promise<PlanShown> {
    const { flags, saved, interrupts } = run
    const stopped = flags['stop-kubelet'] ? await interrupts.orInterrupted(this.#stopped(run)) : undefined
    const planned = stopped ?? (await this.#settled(run))
    if (saved === undefined) requireNamed(planned.plan.problems, flags)
    return planned
  }

  /** The plan that a look gives, and what of it would be carried out. @param state another than that of the last look */
  async #planOf(run: Run, state?: NodeState): Promise<PlanShown> {
    const { saved, options, interrupts } = run
    const { node, decided } = await judged({ ...run.node, ...state }, options, { signal: interrupts.stop })
    const { plan } = decided
    if (state === undefined) run.node = node
    const shown = saved === undefined ? plan : planToReview(saved, plan, (operation) => isDone(operation, node))
    return { plan, shown }
  }

  /** Undefined: nothing is stopped, and the person knows why. */
  async #stopped(run: Run): Promise<PlanShown | undefined> {
    const { node, flags, maxMs, timeoutMs, options, interrupts } = run
    const { settleMs } = options
    const stop = await stopAsked(node, settleMs, (state) => this.#planOf(run, state))
    if (typeof stop === 'string') {
      this.say(stop)
      return undefined
    }
    const own = flags.timeout === undefined ? undefined : timeoutMs
    const limits = timeLimits({ maxMs, settleMs, timeoutMs: own, defaultTimeoutMs: timeoutMs })
    run.stop = new StoppedKubelet(node, { ...stop.facts, maxMs, limits, interrupts, detail: this.detail })
    return stop.then
  }

  /** The last look: once the settle time of a kubelet that has just stopped is over, unless nobody wants to wait. */
  async #settled(run: Run): Promise<PlanShown> {
    const { interrupts, flags } = run
    const first = await this.#planOf(run)
    if (flags['no-wait']) return first
    const waited = afterSettling(first, {
      again: async () => {
        run.node = await this.#lookAgain(run)
        return await this.#planOf(run)
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

  /** @returns whether a person has said yes: the node may have changed meanwhile */
  async #review(run: Run, { plan, shown }: PlanShown): Promise<boolean> {
    const { flags, maxMs, options, interrupts, stop } = run
    const { settleMs } = options
    const { unit, unitFileState = '' } = { ...stop?.choice }
    const atBoot = unitFileState.startsWith('enabled')
    const does = unit === undefined ? 'Perform' : `Stop ${unit} and perform`
    const insecure = refuseInsecureApi(plan.inputs.api, options)
    return await review(this, run, {
      plan: { ...shown, refused: plan.refused ?? insecure },
      draw: (screen) =>
        renderPlan(withAdvice(shown, givenBy(flags, settleMs)), screen, { confirm: true, unfolded: this.verbose }),
      below: unit && announcement({ unit, node: plan.node, maxMs, settleMs, atBoot }, messages.columns),
      question: `${does} ${readyText(shown.summary.ready ?? 0)}? Type 'yes' to continue: `,
      signal: interrupts.stop,
    })
  }

  /** The saved plan or the fresh one, and its outcome. */
  async #carryOut(run: Run, { plan: fresh, shown }: PlanShown, confirmed: boolean): Promise<void> {
    const { flags, interrupts, options, saved, stop } = run
    const context = applyContext(run.node, {
      freshPlan: confirmed || stop !== undefined ? undefined : fresh,
      planFile: run.planfile,
      journalDir: run.journalDir,
      kubeletStop: stop,
      options,
      parallel: run.parallel,
      timeoutMs: stop?.choice.limits.operationMs ?? run.timeoutMs,
      signal: interrupts.stop,
      abandon: interrupts.abandon,
      lookAgain: async () => (await judged(await this.#lookAgain(run), options, { signal: interrupts.stop })).node,
    })
    const plan: ReviewedPlan = saved ?? fresh
    const result = await carryOut(this, flags.output, plan, {
      nameOf: numbered(shown),
      stepOf: ({ id, step }) => `${id}: ${step?.op} ${step?.target}`,
      apply: (onEvent) => applyPlan(plan, context, onEvent),
      given: givenBy(flags, options.settleMs),
    })
    if (result.downtime?.runs === false) throw notStarted(result.downtime)
  }
}

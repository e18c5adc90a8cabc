import { Args, Flags } from '@oclif/core'
import type { Answer } from '../core/answer/answer.ts'
import { answerOf } from '../core/answer/make-answer.ts'
import { lateError } from '../core/api/api-error.ts'
import { givenBy } from '../core/cli/apply-words.ts'
import { judged } from '../core/cli/judged-node.ts'
import { leaveNode, lookAtNode } from '../core/cli/live-node.ts'
import { apiFlags, nodeChoice, nodeFlags } from '../core/cli/node-flags.ts'
import { planOptions } from '../core/cli/plan-flags.ts'
import { StopSignal } from '../core/cli/stop-signal.ts'
import { type OutputFormat, outputFlag, VolctlCommand } from '../core/cli/volctl-command.ts'
import { Interrupted, VolctlError } from '../core/errors/errors.ts'
import { ExitStatus } from '../core/errors/exit-status.ts'
import { parseDuration } from '../core/lang/duration.ts'
import type { NodeState } from '../core/model/node-state.ts'
import type { CollectedNode } from '../core/node/collect-node.ts'
import { lookAtDisk } from '../core/node/look-at-disk.ts'
import { requireNamed } from '../core/plan/name-faults.ts'
import type { Given } from '../core/plan/next-steps.ts'
import { DEFAULT_SETTLE_MS, type NextStep, type PlanOptions } from '../core/plan/plan.ts'
import { pause } from '../core/processes/deadline.ts'
import { planWithDecisions } from '../core/reconcile/decisions.ts'
import { makeContext } from '../core/reconcile/plan-context.ts'
import { planNode } from '../core/reconcile/plan-node.ts'
import { statusAndPlan, wholeOf } from '../core/status/node-status.ts'
import { renderAnswer } from '../core/views/answer-view.ts'
import type { Screen } from '../core/views/screen.ts'
import { notReachedText, reachedText, renderWaited, waitingText } from '../core/views/wait-view.ts'
import { DEFAULT_TIMEOUT_MS, type Waited, type WaitPorts, waitFor } from '../core/wait/wait-for.ts'
import {
  WAIT_CONDITIONS,
  type WaitCondition,
  type WaitedTarget,
  type WaitOutcome,
  type WaitResult,
} from '../core/wait/wait-result.ts'
import { unseenDetaches, waitState } from '../core/wait/wait-state.ts'
import { type WaitAsk, type WaitTarget, waitTargets } from '../core/wait/wait-target.ts'

const EXITS: Readonly<Record<WaitOutcome, ExitStatus>> = {
  reached: ExitStatus.Ok,
  timedOut: ExitStatus.Waiting,
  impossible: ExitStatus.Waiting,
  interrupted: ExitStatus.Interrupted,
}

export default class Wait extends VolctlCommand {
  static override summary =
    'Wait until pods or volumes are mounted, unmounted or detached, or the node is in sync. Changes nothing.'
  static override description =
    "Looks at this node's mount table and directories every 300 ms, as the kubelet does while it waits for a pod's " +
    'volumes, and at the API server after 2, 4 and 8 seconds, then every 10 seconds. Several pods or volumes are waited ' +
    'for together, and each has a line in the answer. A pod whose volumes will not be mounted, since it has ended or was ' +
    'deleted, is answered at once.'
  static override usage = 'wait --for=CONDITION [POD | pvc/NAME | pv/NAME | volume/NAME]... [FLAGS]'
  static override args = {
    names: Args.string({
      name: 'NAME',
      multiple: true,
      ignoreStdin: true,
      description:
        'NAMESPACE/POD or a UID; pvc/NAMESPACE/NAME, pv/NAME or volume/NAME. For in-sync only pods, to which it narrows the plan.',
    }),
  }
  static override examples = [
    {
      description: 'After a drain: until nothing of these pods is mounted any more:',
      command: '<%= config.bin %> wait --for=unmounted shop/web-0 shop/web-1',
    },
    {
      description: 'Until a volume can be attached elsewhere:',
      command: '<%= config.bin %> wait --for=detached pvc/shop/data --timeout 6m',
    },
    {
      description: 'After a reboot: until there is nothing to do for volctl and nothing waits:',
      command: '<%= config.bin %> wait --for=in-sync --timeout 10m',
    },
    {
      description: 'Is it mounted right now:',
      command: '<%= config.bin %> wait --for=mounted shop/web-0 --timeout 0',
    },
  ]
  static override flags = {
    output: outputFlag(),
    for: Flags.string({
      required: true,
      options: WAIT_CONDITIONS,
      helpValue: WAIT_CONDITIONS.join('|'),
      summary: 'What to wait for.',
    }),
    timeout: Flags.string({ helpValue: 'DUR', summary: 'How long to wait (default 2m3s); 0 looks once.' }),
    all: Flags.boolean({ summary: 'All pods of this node.' }),
    pod: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      helpValue: '[NS/]NAME|UID',
      summary: 'This pod: its name, UID or the beginning of its UID. The same as an argument. Repeatable.',
    }),
    namespace: Flags.string({
      char: 'n',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'NS',
      summary: 'The namespace of what is named; without a name: all pods of the namespace. Repeatable.',
    }),
    volume: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'NAME',
      summary: 'This volume. Repeatable.',
    }),
    'ignore-not-found': Flags.boolean({
      summary: 'Do not fail if nothing on this node has a name that was given: what is not there counts as reached.',
    }),
    ...apiFlags,
    ...nodeFlags,
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Wait)
    const ask: WaitAsk = {
      condition: flags.for as WaitCondition,
      names: [...(args.names ?? []), ...(flags.pod ?? [])],
      volumes: flags.volume ?? [],
      namespaces: flags.namespace ?? [],
      all: flags.all,
      ignoreNotFound: flags['ignore-not-found'],
    }
    requireSomething(ask)
    const timeoutMs = flags.timeout === undefined ? DEFAULT_TIMEOUT_MS : parseDuration(flags.timeout, '--timeout')
    const format = flags.output
    using stop = new StopSignal()
    const look: Look = (signal, before) =>
      lookAtNode(nodeChoice(flags), {
        attributes: 'plan',
        log: this.detail,
        signal,
        ...(before !== undefined && { before }),
      })
    const began = performance.now()
    const first = await look(stop.signal).catch((error: unknown) => {
      throw stop.signal.aborted ? new Interrupted('interrupted before the first look at the node') : error
    })
    const firstMs = performance.now() - began
    try {
      const { pod: _, namespace: __, volume: ___, ...others } = flags
      const means = { first, firstMs, look, stop: stop.signal, format, given: givenBy(others, DEFAULT_SETTLE_MS) }
      const { result, answer } = await this.#wait(ask, timeoutMs, means)
      await this.#end(result, answer, format)
    } finally {
      leaveNode(first)
    }
  }

  /** @returns `answer`: why it was not reached in time */
  async #wait(
    ask: WaitAsk,
    timeoutMs: number,
    { first, firstMs, look, stop, format, given }: Means,
  ): Promise<{ readonly result: WaitResult; readonly answer: Answer | undefined }> {
    const { condition } = ask
    const options = optionsOf(ask, this.config.version)
    const targets = targetsIn(first, ask, options)
    if (condition === 'detached' && timeoutMs > 0) requireSight(unseenDetaches(first, options, targets))
    const onLook = this.#printer(condition, timeoutMs, format, await this.screenOf(process.stdout, format))
    let last: NodeState = first
    const judge = (state: NodeState): readonly WaitedTarget[] => {
      last = state
      return waitState(state, options, targets, condition)
    }
    const waited: Waited = await waitFor(
      { condition, timeoutMs, first, firstMs, judge, onLook },
      portsOf(first, look, stop),
    )
    const { outcome, waitedMs, looks, problem } = waited
    const result: WaitResult = {
      apiVersion: 'volctl.io/v1',
      kind: 'Wait',
      node: first.snapshot.nodeName,
      for: condition,
      outcome,
      waitedMs,
      timeoutMs,
      looks,
      targets: waited.targets,
      ...(problem !== undefined && { problem }),
    }
    return {
      result,
      answer: outcome === 'timedOut' ? await whyNot({ ...first, ...last }, options, waited.targets, given) : undefined,
    }
  }

  /** In a table the line of each pod or volume is printed as soon as its end is known. */
  #printer(
    condition: WaitCondition,
    timeoutMs: number,
    format: OutputFormat,
    screen: Screen,
  ): (targets: readonly WaitedTarget[]) => void {
    const printed = new Set<string>()
    let isFirst = true
    return (targets) => {
      if (format === 'table' || format === 'wide') {
        const ended = targets.filter(({ name, state }) => state !== 'pending' && !printed.has(name))
        for (const target of ended) {
          printed.add(target.name)
          this.output.write(renderWaited(target, condition, screen))
        }
      }
      const isOpen = targets.some(({ state }) => state === 'pending')
      if (isFirst && isOpen && timeoutMs > 0 && process.stderr.isTTY === true)
        this.say(waitingText(targets, condition, timeoutMs))
      isFirst = false
    }
  }

  async #end(result: WaitResult, answer: Answer | undefined, format: OutputFormat): Promise<void> {
    const { outcome, targets, for: condition } = result
    const pending = targets.filter(({ state }) => state === 'pending')
    await this.answer(result, format, (screen) => {
      const lines = pending.map((target) => renderWaited(target, condition, screen)).join('')
      const why = answer === undefined ? '' : renderAnswer(answer, screen, { header: '', ready: 'Not done', end: '' })
      return why === '' ? lines : `${lines}\n${why}`
    })
    this.detail(`${result.looks.node} looks at the node, ${result.looks.api} at the API server`)
    this.finish(EXITS[outcome])
    if (outcome === 'reached' && targets.length > 1 && process.stderr.isTTY === true) this.say(reachedText(result))
    if (outcome === 'reached' || outcome === 'interrupted') return
    const [missing] = targets.filter(({ state }) => state !== 'reached')
    const steps = (answer?.next ?? []).map(stepText)
    const hint = `Next: ${steps.length > 0 ? steps.join('; then: ') : `volctl explain ${missing?.name}`}`
    const code = outcome === 'impossible' ? 'NeverReached' : 'NotReached'
    throw new VolctlError(code, notReachedText(result), { hint, exit: EXITS[outcome] })
  }
}

/** What the plan says of what was not reached: of the pods or volumes that were named; of the whole node where both were. */
async function whyNot(
  state: CollectedNode,
  options: PlanOptions,
  targets: readonly WaitedTarget[],
  given: Given,
): Promise<Answer> {
  const missing = targets.filter((each) => each.state !== 'reached')
  const pods = missing.flatMap(({ pod }) => pod?.uid ?? [])
  const volumes = missing.flatMap(({ volume }) => volume ?? [])
  const named: Pick<PlanOptions, 'pods' | 'volumes'> =
    pods.length === missing.length ? { pods } : volumes.length === missing.length ? { volumes } : {}
  const more = Object.entries({ '--pod': named.pods, '--volume': named.volumes }).flatMap(([flag, names = []]) =>
    names.flatMap((name) => [flag, name]),
  )
  const { words, wordsOnNode } = given
  const asked = {
    ...given,
    words: [...words, ...more],
    wordsOnNode: wordsOnNode && [...wordsOnNode, ...more],
    settleMs: options.settleMs,
  }
  const narrowed = { ...options, ...named }
  const { decided } = await judged(state, wholeOf(narrowed), planWithDecisions)
  return answerOf(statusAndPlan(decided, narrowed, true, asked).plan)
}

type Look = (signal: AbortSignal, before?: CollectedNode) => Promise<CollectedNode>

interface Means {
  readonly first: CollectedNode
  readonly firstMs: number
  readonly look: Look
  readonly stop: AbortSignal
  readonly format: OutputFormat
  /** What other commands need to look at the same node. */
  readonly given: Given
}

/** `stop sleep (pid 191), then: volctl apply --volume pv-db`. */
function stepText({ first, command, node }: NextStep): string {
  return `${first === undefined ? '' : `${first}, then: `}${node === undefined ? '' : `on node ${node}: `}${command}`
}

/** As with kubectl, what is waited for has to be named. */
function requireSomething({ condition, names, volumes, namespaces, all }: WaitAsk): void {
  if (condition === 'in-sync' || all || names.length + volumes.length + namespaces.length > 0) return
  throw new VolctlError('Usage', 'nothing is named to wait for', {
    hint: 'Name pods or volumes, or give --namespace or --all: see volctl wait --help',
  })
}

/** What is named narrows the plan of in-sync; `pod/shop/web-0` is `shop/web-0` to a plan. */
function optionsOf({ condition, names, namespaces, volumes }: WaitAsk, version: string): PlanOptions {
  const pods = names.map((name) => name.replace(/^pods?\//, ''))
  const narrow = condition !== 'in-sync' ? {} : { pod: pods, namespace: namespaces, volume: volumes }
  const given = Object.entries(narrow).filter(([, values]) => values.length > 0)
  return planOptions(Object.fromEntries(given), version)
}

function targetsIn(first: CollectedNode, ask: WaitAsk, options: PlanOptions): readonly WaitTarget[] {
  if (ask.condition === 'in-sync') requireNamed(planNode(first, options).problems, ask.ignoreNotFound)
  return waitTargets(makeContext(first, options), ask)
}

/** @param unseen of targets whose detach this credential would never show */
function requireSight(unseen: readonly string[]): void {
  const [first, ...others] = unseen
  if (first === undefined) return
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  throw new VolctlError(
    'Forbidden',
    `this credential may not list VolumeAttachments, so that it never shows ${first}${more} as detached`,
    { hint: 'Give one that may with --kubeconfig: deploy/clusterrole-plan.yaml has the rights.' },
  )
}

function portsOf(first: CollectedNode, look: Look, stop: AbortSignal): WaitPorts {
  let whole = first
  return {
    now: () => performance.now(),
    pause: (ms) => pause(ms, stop),
    interrupted: () => stop.aborted,
    lookAtAll: async (limitMs) => {
      const late = AbortSignal.timeout(limitMs)
      whole = await look(AbortSignal.any([stop, late]), whole).catch((error: unknown) => {
        throw late.aborted && !stop.aborted ? lateError(first.client.server, limitMs) : error
      })
      return whole
    },
    lookAtDisk: () => lookAtDisk(whole),
  }
}

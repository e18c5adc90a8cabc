/** What --stop-kubelet comes to (S35): a unit that is stopped for the apply and started again at every end, or the reason why none is. */

import type { Journal } from '../apply/journal/write-journal.ts'
import { needStop, onceStopped, type TimeLimits } from '../apply/kubelet-stop/plan-stop.ts'
import { type ArmedTimer, armTimer, isActive, startUnit, stopUnit } from '../apply/kubelet-stop/switch-unit.ts'
import type { KubeletStop, StoppedLooks } from '../apply/operation/step.ts'
import { pause } from '../linux/deadline.ts'
import { advice, commandLine, marked } from '../messages/command.ts'
import { ExitStatus, errorMessage, Interrupted, SafetyRefusal, said, VolctlError } from '../messages/findings.ts'
import { getNode } from '../node/api/node-objects.ts'
import type { CollectedNode } from '../node/collect-node.ts'
import { requireStoppable, type UnitFacts, unitFacts } from '../node/kubelet/stoppable.ts'
import { type ApplyEvent, type KubeletDowntime, note } from '../plan/events.ts'
import type { Plan } from '../plan/plan.ts'
import { startText, stillStopped, stopText } from '../views/downtime-view.ts'
import type { NodeState } from '../volumes/snapshot.ts'
import { afterSettling } from './after-settling.ts'
import type { Interrupts } from './interrupts.ts'
import { watchedTerminal } from './output.ts'

export interface PlanShown {
  readonly plan: Plan
  readonly shown: Plan
}

/**
 * @param planOf the plan of a node in a state, and what of it would be carried out
 * @returns the unit, and what would be done once it is stopped; or a sentence: nothing is stopped, and why
 * @throws SafetyRefusal: something needs it, and it may not be stopped
 */
export async function stopAsked(
  node: CollectedNode,
  settleMs: number,
  planOf: (state: NodeState) => Promise<PlanShown>,
) {
  const { kubelet, api } = node.snapshot
  if (kubelet?.running !== true) {
    const why = kubelet?.mayReturn === true && kubelet.note !== undefined ? ` (${kubelet.note})` : ''
    return `The kubelet does not run${why}: it is not stopped now, and not started at the end.`
  }
  const { hostname, port, protocol } = new URL(node.client.server)
  // A test's node has no unit of this machine.
  const unit = node.node.places === undefined ? kubelet.unit : undefined
  const apiPort = Number(port) || (protocol === 'http:' ? 80 : 443)
  const facts = unit === undefined ? undefined : await unitFacts(unit, apiPort, hostname.replace(/^\[|\]$/g, ''))
  const { plan: running } = await planOf(node)
  const then = await planOf(onceStopped(node, facts))
  const needed = needStop({ stopped: then.shown, running, pods: api?.pods ?? [], settleMs })
  if (needed.length === 0 && then.plan.refused === undefined)
    return `Nothing here needs the kubelet to be stopped: ${unit ?? 'it'} keeps running.`
  return { facts: requireStoppable(unit, facts), then }
}

/** A kubelet answers within seconds, and reports its node as soon as it does. */
const HEALTHY_WITHIN_MS = 60_000
const READY_WITHIN_MS = 30_000
const BETWEEN_MS = 500

interface StopChoice extends Pick<UnitFacts, 'unit' | 'unitFileState'> {
  /** --max-downtime */
  readonly maxMs: number
  readonly limits: TimeLimits
  /** The first ends the wait, and begins no operation; the second starts the kubelet, and waits for nothing more. */
  readonly interrupts: Pick<Interrupts, 'stop' | 'abandon'>
  detail(line: string): void
}

/** What becomes of the kubelet. */
export function notStarted(downtime: KubeletDowntime): VolctlError {
  return new VolctlError(stillStopped(downtime), {
    hint: advice`See why: ${commandLine('systemctl', 'status', downtime.unit)}`,
    exit: ExitStatus.Partial,
  })
}

type Say = (event: ApplyEvent) => void

/** Nothing is stopped before it begins. */
export class StoppedKubelet implements KubeletStop {
  readonly #node: CollectedNode
  readonly choice: StopChoice
  readonly #over = new AbortController()
  #timer: ArmedTimer | undefined
  /** Until it is stopped there is nothing to start. */
  #start = () => this.#disarm()
  #isDown = false
  #end: Promise<void> | undefined
  downtime: KubeletDowntime | undefined

  constructor(node: CollectedNode, choice: StopChoice) {
    this.#node = node
    this.choice = choice
  }

  get over(): AbortSignal {
    return this.#over.signal
  }

  leftMs(): number {
    if (this.#timer === undefined) return Number.POSITIVE_INFINITY
    return this.#timer.firesAt - this.choice.limits.startMs - performance.now()
  }

  async begin(journal: Journal, looks: StoppedLooks, onEvent: Say): Promise<Plan> {
    const { unit, maxMs, interrupts, detail } = this.choice
    this.#timer = await armTimer(unit, maxMs)
    detail(`${this.#timer.name} is armed: systemd starts ${unit} when it is over`)
    if (interrupts.stop.aborted) throw new Interrupted()
    // The question may have been open for long: a unit that was stopped meanwhile stays stopped.
    if (!(await isActive(unit)))
      throw new SafetyRefusal('S35', said('KubeletNotStopped.inactive', { unit }), {
        hint: 'volctl only stops a kubelet that runs. Plan again.',
      })
    // Whatever held volctl up until now: a stop after the timer has fired would be one that nobody ends.
    if (this.leftMs() <= 0)
      throw new SafetyRefusal('S35', said('KubeletNotStopped.noTime', { unit }), {
        hint: marked('Nothing was stopped. Allow more time: `volctl apply --stop-kubelet --max-downtime 10m`'),
      })
    journal.write({ type: 'stop', unit, timer: this.#timer.name, limitMs: maxMs })
    const stopping = performance.now()
    const stoppedAt = new Date().toISOString()
    this.#start = () => this.#started(journal, onEvent, stopping, stoppedAt)
    const timeout = setTimeout(() => this.#over.abort(), Math.max(0, this.leftMs()))
    this.over.addEventListener('abort', () => clearTimeout(timeout))
    detail(`stopping ${unit}`)
    await stopUnit(unit)
    this.#isDown = true
    detail(`${unit} is stopped`)
    onEvent(note(stopText(unit, maxMs)))
    return await this.#settled(looks)
  }

  async #settled({ look, kubeletIsBack }: StoppedLooks): Promise<Plan> {
    const { stop: signal } = this.choice.interrupts
    const again = async () => ({ plan: await look() })
    const until = Date.now() + this.leftMs()
    const waiter = { again, kubeletIsBack, signal, terminal: watchedTerminal(), until, begins: () => undefined }
    try {
      return (await afterSettling(await again(), waiter)).plan
    } catch (error) {
      // The second interruption ends a look as well.
      throw signal.aborted ? new Interrupted(said('Interrupted.noOperation')) : error
    }
  }

  end(): Promise<void> {
    // What is still at work must not hold up the start.
    this.#over.abort()
    this.#end ??= this.#start()
    return this.#end
  }

  /** @param stopping when the stop was asked for, by performance.now() */
  async #started(journal: Journal, onEvent: Say, stopping: number, stoppedAt: string): Promise<void> {
    const { unit, detail, interrupts } = this.choice
    detail(`starting ${unit}`)
    const startedAt = new Date()
    // A person, or the timer, may have started it meanwhile.
    const byOthers = this.#isDown && (await isActive(unit))
    const failure = await startUnit(unit)
    if (failure === undefined) detail(`${unit} is active`)
    const why = failure ?? (await this.#whyUnhealthy())
    const downMs = Math.round(performance.now() - stopping)
    // Where it does not run, the timer tries once more.
    if (failure === undefined) await this.#disarm()
    const down = { unit, stoppedAt, downMs, runs: why === undefined, why, byOthers: byOthers || undefined }
    try {
      journal.write({ type: 'start', unit, downMs, runs: down.runs })
    } catch (error) {
      onEvent(note(errorMessage(error), { code: 'JournalFailed' }))
    }
    onEvent(note(startText(down)))
    const ready = down.runs && !byOthers && !interrupts.abandon.aborted ? await this.#untilReady(startedAt) : undefined
    this.downtime = { ...down, ready }
  }

  async #disarm(): Promise<void> {
    if (this.#timer === undefined) return
    const { name, disarm } = this.#timer
    this.choice.detail(
      (await disarm()) ? `${name} is gone` : `${name} is still there; it does nothing to a kubelet that runs`,
    )
  }

  async #whyUnhealthy(): Promise<string | undefined> {
    const { interrupts, detail } = this.choice
    const isSound = await this.#until(HEALTHY_WITHIN_MS, async () => {
      const health = await this.#node.node.kubeletHealth().catch(() => false)
      if (health === false) return false
      detail(health === undefined ? 'the kubelet has no health port' : "the kubelet's health port answers")
      return true
    })
    return isSound === true || interrupts.abandon.aborted ? undefined : 'its health port does not answer'
  }

  /** Whether the API shows the node as Ready since a moment; undefined: it is not readable. */
  #untilReady(since: Date): Promise<boolean | undefined> {
    const { client, node } = this.#node
    const isReady = async (): Promise<boolean> => {
      const { status } = await getNode(client, node.nodeName)
      const ready = status?.conditions?.find(({ type }) => type === 'Ready')
      const heartbeat = Date.parse(ready?.lastHeartbeatTime ?? '')
      // The node's own clock wrote the heartbeat, in whole seconds.
      return ready?.status === 'True' && heartbeat >= Math.floor(since.getTime() / 1000) * 1000
    }
    return this.#until(READY_WITHIN_MS, () => isReady().catch(() => undefined), this.choice.interrupts.stop)
  }

  /** Asks until it is so, the time is over, or a person does not want to wait. @returns the last answer */
  async #until(
    ms: number,
    ask: () => Promise<boolean | undefined>,
    signal?: AbortSignal,
  ): Promise<boolean | undefined> {
    const { abandon } = this.choice.interrupts
    const end = performance.now() + ms
    let answer: boolean | undefined
    while (!abandon.aborted) {
      answer = await ask()
      if (answer === true || performance.now() >= end || signal?.aborted) break
      await pause(BETWEEN_MS, abandon)
    }
    return answer
  }
}

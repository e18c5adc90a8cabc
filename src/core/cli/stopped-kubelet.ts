/** Stops the kubelet for an apply, and starts it again at every end (S35). */

import type { KubeletStop, StoppedLooks, TimeLimit } from '../apply/operation/ports.ts'
import { commandLine } from '../base/command.ts'
import { errorMessage, Interrupted, SafetyRefusal, VolctlError } from '../base/errors.ts'
import { ExitStatus } from '../base/exit-status.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import type { Node } from '../kube/api/objects.ts'
import { getNode } from '../kube/node-objects.ts'
import { pause } from '../linux/deadline.ts'
import type { CollectedNode } from '../node/collect-node.ts'
import type { TimeLimits } from '../node/kubelet-stop/plan-stop.ts'
import {
  type ArmedTimer,
  armTimer,
  disarmTimer,
  isActive,
  startUnit,
  stopUnit,
} from '../node/kubelet-stop/switch-unit.ts'
import type { Journal } from '../plan/documents/write-journal.ts'
import { type ApplyEvent, type KubeletDowntime, note } from '../plan/events.ts'
import type { Plan } from '../plan/plan.ts'
import { startText, stopText } from '../views/downtime-view.ts'
import type { Terminal } from '../views/redrawn.ts'
import { afterSettling } from './after-settling.ts'
import type { Interrupts } from './interrupts.ts'
import { watchedTerminal } from './output.ts'

/** A kubelet answers within seconds, and reports its node as soon as it does. */
const HEALTHY_WITHIN_MS = 60_000
const READY_WITHIN_MS = 30_000
const BETWEEN_MS = 500

interface StopPorts {
  readonly unit: string
  /** --max-downtime */
  readonly maxMs: number
  readonly limits: TimeLimits
  /** Aborted: end the wait, and begin no operation. */
  readonly signal: AbortSignal
  /** Aborted: start the kubelet, and wait for nothing more. */
  readonly abandon: AbortSignal
  readonly terminal: Terminal | undefined
  detail(line: string): void
  /** Undefined: it has no health port. */
  kubeletHealth(): Promise<boolean | undefined>
  /** Whether the API shows the node as Ready since a moment; undefined: it is not readable. */
  nodeIsReady(since: Date): Promise<boolean | undefined>
}

export interface StopChoice extends Pick<StopPorts, 'unit' | 'maxMs' | 'limits' | 'detail'> {
  readonly interrupts: Pick<Interrupts, 'stop' | 'abandon'>
}

/** Nothing is stopped yet. */
export function stoppedKubelet(node: CollectedNode, { interrupts, ...choice }: StopChoice): StoppedKubelet {
  const { client, node: located } = node
  return new StoppedKubelet({
    ...choice,
    signal: interrupts.stop,
    abandon: interrupts.abandon,
    terminal: watchedTerminal(),
    kubeletHealth: () => located.kubeletHealth(),
    nodeIsReady: async (since) => isReadySince(await getNode(client, located.nodeName), since),
  })
}

/** The node's own clock wrote the heartbeat, in whole seconds. */
function isReadySince({ status }: Node, since: Date): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const heartbeat = Date.parse(ready?.lastHeartbeatTime ?? '')
  return ready?.status === 'True' && heartbeat >= Math.floor(since.getTime() / 1000) * 1000
}

/** What becomes of the kubelet. */
export function notStarted(downtime: KubeletDowntime): VolctlError {
  return new VolctlError('KubeletNotStarted', startText(downtime), {
    hint: `See why: ${commandLine('systemctl', 'status', downtime.unit)}`,
    exit: ExitStatus.Partial,
  })
}

type Say = (event: ApplyEvent) => void

export class StoppedKubelet implements KubeletStop {
  readonly #ports: StopPorts
  readonly #over = new AbortController()
  #timer: ArmedTimer | undefined
  /** When the stop was asked for, by performance.now(). */
  #stopping: number | undefined
  #stoppedAt = ''
  #isDown = false
  #end: Promise<void> | undefined
  #downtime: KubeletDowntime | undefined

  constructor(ports: StopPorts) {
    this.#ports = ports
  }

  readonly limit: TimeLimit = {
    leftMs: () => this.#leftMs(),
    over: this.#over.signal,
  }

  #leftMs(): number {
    if (this.#timer === undefined) return Number.POSITIVE_INFINITY
    return this.#timer.firesAt - this.#ports.limits.startMs - performance.now()
  }

  async begin(journal: Journal, looks: StoppedLooks, onEvent: Say): Promise<Plan> {
    const { unit, maxMs, signal, detail } = this.#ports
    this.#timer = await armTimer(unit, maxMs)
    detail(`${this.#timer.name} is armed: systemd starts ${unit} when it is over`)
    if (signal.aborted) throw new Interrupted()
    // The question may have been open for long: a unit that was stopped meanwhile stays stopped.
    if (!(await isActive(unit))) throw notRunning(unit)
    // Whatever held volctl up until now: a stop after the timer has fired would be one that nobody ends.
    if (this.#leftMs() <= 0) throw tooLate(unit)
    journal.write({ type: 'stop', unit, timer: this.#timer.name, limitMs: maxMs })
    this.#stopping = performance.now()
    this.#stoppedAt = new Date().toISOString()
    const timeout = setTimeout(() => this.#over.abort(), Math.max(0, this.#leftMs()))
    this.#over.signal.addEventListener('abort', () => clearTimeout(timeout))
    detail(`stopping ${unit}`)
    await stopUnit(unit)
    this.#isDown = true
    detail(`${unit} is stopped`)
    onEvent(note(stopText(unit, maxMs)))
    return await this.#settled(looks)
  }

  async #settled({ look, kubeletIsBack }: StoppedLooks): Promise<Plan> {
    const { signal, terminal } = this.#ports
    const again = async () => ({ plan: await look() })
    const until = Date.now() + this.#leftMs()
    const waiter = { again, kubeletIsBack, signal, terminal, until, begins: () => undefined }
    try {
      return (await afterSettling(await again(), waiter)).plan
    } catch (error) {
      // The second interruption ends a look as well.
      throw signal.aborted ? new Interrupted('interrupted: no operation was begun') : error
    }
  }

  end(journal: Journal, onEvent: Say): Promise<void> {
    this.#end ??= this.#started(journal, onEvent)
    return this.#end
  }

  get downtime(): KubeletDowntime | undefined {
    return this.#downtime
  }

  async #started(journal: Journal, onEvent: Say): Promise<void> {
    const { unit, detail, abandon } = this.#ports
    // What is still at work must not hold up the start.
    this.#over.abort()
    if (this.#stopping === undefined) {
      await this.#disarm()
      return
    }
    detail(`starting ${unit}`)
    const startedAt = new Date()
    // A person, or the timer, may have started it meanwhile.
    const byOthers = this.#isDown && (await isActive(unit))
    const failure = await startUnit(unit)
    if (failure === undefined) detail(`${unit} is active`)
    const why = failure ?? (await this.#whyUnhealthy())
    const downMs = Math.round(performance.now() - this.#stopping)
    // Where it does not run, the timer tries once more.
    if (failure === undefined) await this.#disarm()
    const down = {
      unit,
      stoppedAt: this.#stoppedAt,
      downMs,
      runs: why === undefined,
      ...omitUndefined({ why }),
      ...(byOthers && { byOthers }),
    }
    try {
      journal.write({ type: 'start', unit, downMs, runs: down.runs })
    } catch (error) {
      onEvent(note(errorMessage(error), { code: 'JournalFailed' }))
    }
    onEvent(note(startText(down)))
    const ready = down.runs && !byOthers && !abandon.aborted ? await this.#untilReady(startedAt) : undefined
    this.#downtime = { ...down, ...omitUndefined({ ready }) }
  }

  async #disarm(): Promise<void> {
    if (this.#timer === undefined) return
    const { name } = this.#timer
    this.#ports.detail(
      (await disarmTimer(name)) ? `${name} is gone` : `${name} is still there; it does nothing to a kubelet that runs`,
    )
  }

  async #whyUnhealthy(): Promise<string | undefined> {
    const { abandon, kubeletHealth, detail } = this.#ports
    const until = performance.now() + HEALTHY_WITHIN_MS
    while (!abandon.aborted && performance.now() < until) {
      const health = await kubeletHealth().catch(() => false)
      if (health !== false) {
        detail(health === undefined ? 'the kubelet has no health port' : "the kubelet's health port answers")
        return undefined
      }
      await pause(BETWEEN_MS, abandon)
    }
    return abandon.aborted ? undefined : 'its health port does not answer'
  }

  async #untilReady(since: Date): Promise<boolean | undefined> {
    const { signal, abandon, nodeIsReady } = this.#ports
    const until = performance.now() + READY_WITHIN_MS
    for (;;) {
      const ready = await nodeIsReady(since).catch(() => undefined)
      if (ready === true || performance.now() >= until || signal.aborted || abandon.aborted) return ready
      await pause(BETWEEN_MS, abandon)
    }
  }
}

function notRunning(unit: string): SafetyRefusal {
  return new SafetyRefusal('S35', 'KubeletNotStopped', `${unit} is not active any more`, {
    hint: 'volctl only stops a kubelet that runs. Plan again.',
  })
}

function tooLate(unit: string): SafetyRefusal {
  return new SafetyRefusal('S35', 'KubeletNotStopped', `no time is left to stop ${unit}: the machine is slow now`, {
    hint: 'Nothing was stopped. Allow more time: volctl apply --stop-kubelet --max-downtime 10m',
  })
}

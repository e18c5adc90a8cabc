/**
 * Looks again and again until a condition is reached. As the kubelet (R472): the node every 300 ms, for 2 minutes and 3 seconds.
 * The API server is asked less often, and less and less so: a drain waits on many nodes at once (N53).
 */
import { SafetyRefusal, VolctlError } from '../errors/errors.ts'
import type { NodeState } from '../model/node-state.ts'
import type { WaitCondition, WaitedTarget, WaitOutcome } from './wait-result.ts'

export const DEFAULT_TIMEOUT_MS = 123_000
export const POLL_MS = 300
/** Between two questions to the API server: after the first look, then after each further one; the last for all that follow. */
const API_PAUSES_MS = [2000, 4000, 8000, 10_000] as const
/** Of a node so large that a look takes long, volctl takes at most a fifth of one core. */
export const REST_PER_LOOK = 4

/** @param looks that there were since the first, or since something has changed */
export function pauseAfter(looks: number): number {
  return API_PAUSES_MS[looks] ?? API_PAUSES_MS[3]
}
/** For a look that asks the API server: while that hangs, the node is not looked at. More where the first one took long. */
const LOOK_LIMIT_MS = 10_000
const LEAST_LIMIT_MS = 1000

export interface WaitPorts {
  /** Milliseconds of a clock that nobody sets. */
  now(): number
  /** Ends early when `interrupted` becomes true. @param ms whole, as timers take them */
  pause(ms: number): Promise<void>
  interrupted(): boolean
  /** Asks the API server, too. @param limitMs whole, for all of it; then a VolctlError is thrown */
  lookAtAll(limitMs: number): Promise<NodeState>
  /** Reads the mount table and the kubelet's directories again; the API's answers are those of the last whole look. */
  lookAtDisk(): Promise<NodeState>
}

export interface WaitPlan {
  readonly condition: WaitCondition
  readonly timeoutMs: number
  readonly first: NodeState
  /** How long the first look took. */
  readonly firstMs?: number
  judge(state: NodeState): readonly WaitedTarget[]
  /** Called after each look. */
  onLook?(targets: readonly WaitedTarget[]): void
}

export interface Waited {
  readonly outcome: WaitOutcome
  readonly targets: readonly WaitedTarget[]
  readonly waitedMs: number
  readonly looks: { readonly api: number; readonly node: number }
  readonly problem?: string
}

/** @throws SafetyRefusal of a later look: then this is another node, or another cluster */
export async function waitFor(plan: WaitPlan, ports: WaitPorts): Promise<Waited> {
  return await new Wait(plan, ports).run()
}

class Wait {
  readonly #plan: WaitPlan
  readonly #ports: WaitPorts
  readonly #began: number
  #apiLooks = 1
  #nodeLooks = 1
  #lastApi: number
  #nextApi: number
  #tookMs = 0
  #targets: readonly WaitedTarget[] = []
  #problem: string | undefined

  constructor(plan: WaitPlan, ports: WaitPorts) {
    this.#plan = plan
    this.#ports = ports
    this.#began = ports.now()
    this.#lastApi = this.#began
    this.#nextApi = this.#began + API_PAUSES_MS[0]
  }

  async run(): Promise<Waited> {
    this.#judge(this.#plan.first, true)
    while (this.#isOpen()) {
      await this.#ports.pause(this.#pauseMs())
      if (this.#ports.interrupted()) break
      await this.#lookAgain()
    }
    const { outcome } = this
    return {
      outcome,
      targets: this.#targets,
      waitedMs: Math.round(this.#ports.now() - this.#began),
      looks: { api: this.#apiLooks, node: this.#nodeLooks },
      ...(this.#problem !== undefined && { problem: this.#problem }),
    }
  }

  get outcome(): WaitOutcome {
    if (this.#targets.every(({ state }) => state === 'reached')) return 'reached'
    if (!this.#targets.some(({ state }) => state === 'pending')) return 'impossible'
    return this.#ports.interrupted() ? 'interrupted' : 'timedOut'
  }

  #isOpen(): boolean {
    if (this.#ports.interrupted() || this.#left() <= 0) return false
    return this.#targets.some(({ state }) => state === 'pending')
  }

  #left(): number {
    return this.#plan.timeoutMs - (this.#ports.now() - this.#began)
  }

  /** Only the API server knows what is attached: until it is asked again, there is nothing to look at. */
  #pauseMs(): number {
    const next = this.#plan.condition === 'detached' ? this.#nextApi - this.#ports.now() : POLL_MS
    return Math.ceil(Math.max(1, Math.min(Math.max(next, this.#tookMs * REST_PER_LOOK), this.#left())))
  }

  /** Beyond the time of the whole wait no look goes on. */
  #limitMs(): number {
    const enough = Math.max(LOOK_LIMIT_MS, 2 * (this.#plan.firstMs ?? 0))
    return Math.ceil(Math.max(LEAST_LIMIT_MS, Math.min(enough, this.#left())))
  }

  async #lookAgain(): Promise<void> {
    const before = this.#ports.now()
    const whole = before >= this.#nextApi
    const pause = pauseAfter(this.#apiLooks)
    try {
      this.#nodeLooks++
      if (whole) this.#apiLooks++
      const state = whole ? await this.#ports.lookAtAll(this.#limitMs()) : await this.#ports.lookAtDisk()
      this.#problem = undefined
      this.#judge(state, whole)
    } catch (error) {
      if (this.#ports.interrupted()) return
      if (!(error instanceof VolctlError) || error instanceof SafetyRefusal) throw error
      this.#problem = error.message
    } finally {
      this.#tookMs = this.#ports.now() - before
      if (whole) {
        this.#lastApi = this.#ports.now()
        this.#nextApi = this.#lastApi + pause
      }
    }
  }

  /** Of a plan that was computed from an old list of pods nothing is promised: a whole look decides, and comes sooner. */
  #judge(state: NodeState, whole: boolean): void {
    const targets = this.#plan.judge(state)
    const isOld = !whole && this.#plan.condition === 'in-sync'
    if (isOld && targets.every((each) => each.state === 'reached')) {
      this.#nextApi = Math.min(this.#nextApi, this.#lastApi + API_PAUSES_MS[0])
      this.#targets = targets.map(unconfirmed)
    } else this.#targets = targets
    this.#plan.onLook?.(this.#targets)
  }
}

function unconfirmed(target: WaitedTarget): WaitedTarget {
  return { ...target, state: 'pending', message: 'the API server is asked once more' }
}

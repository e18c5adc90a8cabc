/**
 * Looks again and again until a condition is reached. As the kubelet (R472): the node every 300 ms, for 2 minutes and 3 seconds.
 * The API server is asked less often, and less and less so: a drain waits on many nodes at once (N53).
 */
import { SafetyRefusal, VolctlError } from '../errors/errors.ts'
import type { WaitCondition } from '../status/wait-rows.ts'

export const DEFAULT_TIMEOUT_MS = 123_000
const POLL_MS = 300
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

export interface WaitPorts<State> {
  /** Milliseconds of a clock that nobody sets. */
  now(): number
  /** Ends early when `interrupted` becomes true. @param ms whole, as timers take them */
  pause(ms: number): Promise<void>
  interrupted(): boolean
  /** Asks the API server, too. @param limitMs whole, for all of it; then a VolctlError is thrown */
  lookAtAll(limitMs: number): Promise<State>
  /** Reads the mount table and the kubelet's directories again; the API's answers are those of the last whole look. */
  lookAtDisk(): Promise<State>
}

export interface WaitPlan<State> {
  readonly condition: WaitCondition
  readonly timeoutMs: number
  readonly first: State
  /** How long the first look took. */
  readonly firstMs: number
  /** Is all of it reached, by this look? */
  judge(state: State): boolean
}

export interface Waited {
  readonly outcome: 'reached' | 'timedOut' | 'interrupted'
  readonly waitedMs: number
  /** Why the last look failed; absent: it did not. */
  readonly problem?: string | undefined
}

/** @throws SafetyRefusal of a later look: then this is another node, or another cluster */
export async function waitFor<State>(plan: WaitPlan<State>, ports: WaitPorts<State>): Promise<Waited> {
  const { condition, timeoutMs, first, firstMs, judge } = plan
  const began = ports.now()
  const left = (): number => timeoutMs - (ports.now() - began)
  let reached = judge(first)
  let problem: string | undefined
  let apiLooks = 1
  let lastApi = began
  let nextApi = began + pauseAfter(0)
  let tookMs = 0
  while (!reached && !ports.interrupted() && left() > 0) {
    // Only the API server knows what is attached: until it is asked again, there is nothing to look at.
    const next = condition === 'detached' ? nextApi - ports.now() : POLL_MS
    await ports.pause(Math.ceil(Math.max(1, Math.min(Math.max(next, tookMs * REST_PER_LOOK), left()))))
    if (ports.interrupted()) break
    const before = ports.now()
    const whole = before >= nextApi
    // Beyond the time of the whole wait no look goes on.
    const limitMs = Math.ceil(Math.max(LEAST_LIMIT_MS, Math.min(Math.max(LOOK_LIMIT_MS, 2 * firstMs), left())))
    try {
      reached = judge(whole ? await ports.lookAtAll(limitMs) : await ports.lookAtDisk())
      problem = undefined
      // Of a plan that was computed from an old list of pods nothing is promised: a whole look decides, and comes sooner.
      if (reached && !whole && condition === 'in-sync') {
        reached = false
        nextApi = Math.min(nextApi, lastApi + pauseAfter(0))
      }
    } catch (error) {
      if (ports.interrupted()) break
      if (!(error instanceof VolctlError) || error instanceof SafetyRefusal) throw error
      problem = error.message
    }
    tookMs = ports.now() - before
    if (whole) {
      lastApi = ports.now()
      nextApi = lastApi + pauseAfter(apiLooks++)
    }
  }
  const outcome = reached ? 'reached' : ports.interrupted() ? 'interrupted' : 'timedOut'
  return { outcome, waitedMs: Math.round(ports.now() - began), problem }
}

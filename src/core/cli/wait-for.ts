/**
 * Looks again and again until a condition is reached, for 2 minutes and 3 seconds as the kubelet (R472), and less and less often: a
 * drain waits on many nodes at once (N53).
 */
import { SafetyRefusal, VolctlError } from '../base/errors.ts'

export const DEFAULT_TIMEOUT_MS = 123_000
/** Between two looks: after the first look, then after each further one; the last for all that follow. */
const PAUSES_MS = [2000, 4000, 8000, 10_000] as const
/** Of a node so large that a look takes long, volctl takes at most a fifth of one core. */
export const REST_PER_LOOK = 4

/** @param looks that there were since the first, or since something has changed */
export function pauseAfter(looks: number): number {
  return PAUSES_MS[looks] ?? PAUSES_MS[3]
}
/** For a look: while the API server hangs, the node is not looked at. More where the first one took long. */
const LOOK_LIMIT_MS = 10_000
const LEAST_LIMIT_MS = 1000

export interface WaitPorts<State> {
  /** Milliseconds of a clock that nobody sets. */
  now(): number
  /** Ends early when `interrupted` becomes true. @param ms whole, as timers take them */
  pause(ms: number): Promise<void>
  interrupted(): boolean
  /** @param limitMs whole, for all of it; then a VolctlError is thrown */
  look(limitMs: number): Promise<State>
}

interface WaitPlan<State> {
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
  const { timeoutMs, first, firstMs, judge } = plan
  const began = ports.now()
  const left = (): number => timeoutMs - (ports.now() - began)
  let reached = judge(first)
  let problem: string | undefined
  let tookMs = 0
  for (let looks = 0; !reached && !ports.interrupted() && left() > 0; looks++) {
    await ports.pause(Math.ceil(Math.max(1, Math.min(Math.max(pauseAfter(looks), tookMs * REST_PER_LOOK), left()))))
    if (ports.interrupted()) break
    const before = ports.now()
    try {
      // Beyond the time of the whole wait no look goes on.
      const limitMs = Math.max(LEAST_LIMIT_MS, Math.min(Math.max(LOOK_LIMIT_MS, 2 * firstMs), left()))
      reached = judge(await ports.look(Math.ceil(limitMs)))
      problem = undefined
    } catch (error) {
      if (ports.interrupted()) break
      if (!(error instanceof VolctlError) || error instanceof SafetyRefusal) throw error
      problem = error.message
    }
    tookMs = ports.now() - before
  }
  const outcome = reached ? 'reached' : ports.interrupted() ? 'interrupted' : 'timedOut'
  return { outcome, waitedMs: Math.round(ports.now() - began), problem }
}

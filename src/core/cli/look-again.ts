/** One look after another at this node, for what waits or watches until it is over, the time is up, or Ctrl-C. */
import { Interrupted, SafetyRefusal, VolctlError } from '../base/errors.ts'
import { lateError } from '../kube/api-error.ts'
import { pause } from '../linux/deadline.ts'
import type { CollectedNode } from '../node/collect-node.ts'
import { io } from '../trust/run.ts'
import { NodeLooks } from './live-node.ts'
import type { NodeChoice } from './options.ts'

/** Between two looks: after the first look, or one that shows a change, then after each further one. */
const PAUSES_MS = [2000, 4000, 8000] as const
/** After all that follow: a drain waits on many nodes at once (N53). */
const LONGEST_PAUSE_MS = 10_000
/** Of a node so large that a look takes long, volctl takes at most a fifth of one core. */
const REST_PER_LOOK = 4
/** For a look: while the API server hangs, the node is not looked at. More where the first one took long. */
const LOOK_LIMIT_MS = 10_000
const LEAST_LIMIT_MS = 1000

interface Looking {
  /** From the end of the first look on; absent: for ever. */
  readonly timeoutMs?: number
  /** @param limitMs whole, for all of it; then a VolctlError is thrown; absent: this is the first look */
  look(limitMs?: number): Promise<'over' | 'changed' | 'same'>
  /** A later look that fails is not the end. */
  failed(message: string): void
  /** Aborted: it is interrupted. */
  readonly signal: AbortSignal
}

/** @throws what the first look throws; SafetyRefusal of a later one: then this is another node, or another cluster */
export async function lookAgain({
  timeoutMs = Number.POSITIVE_INFINITY,
  look,
  failed,
  signal,
}: Looking): Promise<'over' | 'timedOut' | 'interrupted'> {
  const start = performance.now()
  if ((await look()) === 'over') return 'over'
  const began = performance.now()
  const left = (): number => timeoutMs - (performance.now() - began)
  const most = Math.max(LOOK_LIMIT_MS, 2 * (began - start))
  let tookMs = began - start
  for (let quiet = 0; left() > 0; quiet++) {
    const rest = Math.max(PAUSES_MS[quiet] ?? LONGEST_PAUSE_MS, tookMs * REST_PER_LOOK)
    await pause(Math.max(1, Math.min(rest, left())), signal)
    if (signal.aborted) return 'interrupted'
    const before = performance.now()
    try {
      // Beyond the time of the whole wait no look goes on.
      const seen = await look(Math.ceil(Math.max(LEAST_LIMIT_MS, Math.min(most, left()))))
      if (seen === 'over') return 'over'
      if (seen === 'changed') quiet = -1
    } catch (error) {
      if (signal.aborted) return 'interrupted'
      if (!(error instanceof VolctlError) || error instanceof SafetyRefusal) throw error
      failed(error.message)
    }
    tookMs = performance.now() - before
  }
  return signal.aborted ? 'interrupted' : 'timedOut'
}

/** Those of a command that goes on: the first SIGINT or SIGTERM ends them. */
export class EndlessLooks extends NodeLooks {
  readonly #stop = new AbortController()
  /** Aborted: somebody has interrupted it. */
  readonly stop = this.#stop.signal
  readonly #signals = io().signals
  readonly #onSignal = (): void => this.#stop.abort()

  constructor(choice: NodeChoice, log: (line: string) => void) {
    super(choice, log)
    this.#signals.on('SIGINT', this.#onSignal).on('SIGTERM', this.#onSignal)
  }

  /** @throws Interrupted, or what a look throws; a later one ApiUnreachable where it takes too long */
  async lookWithin(limitMs?: number): Promise<CollectedNode> {
    const { stop, last: before } = this
    const late = limitMs === undefined ? undefined : AbortSignal.timeout(limitMs)
    try {
      return await this.look({ signal: late === undefined ? stop : AbortSignal.any([stop, late]) })
    } catch (error) {
      if (stop.aborted) throw new Interrupted('interrupted before the first look at the node')
      if (late?.aborted && before !== undefined && limitMs !== undefined) throw lateError(before.client.server, limitMs)
      throw error
    }
  }

  override [Symbol.dispose](): void {
    super[Symbol.dispose]()
    this.#signals.off('SIGINT', this.#onSignal).off('SIGTERM', this.#onSignal)
  }
}

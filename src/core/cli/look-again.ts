/** One look after another at this node, for what waits or watches until it is over, the time is up, or Ctrl-C. */

import { lateError } from '../kube/api-error.ts'
import { pause } from '../linux/deadline.ts'
import { ExitStatus, Interrupted, marked, SafetyRefusal, usageError, VolctlError } from '../messages/findings.ts'
import type { CollectedNode } from '../node/collect-node.ts'
import type { Plan, PlanOptions } from '../plan/plan.ts'
import type { Decided } from '../reconcile/plan-node.ts'
import { io } from '../trust/run.ts'
import { Redrawn, type Terminal } from '../views/redrawn.ts'
import type { Screen } from '../views/screen.ts'
import { planExitStatus } from './carry-out.ts'
import type { OutputFormat } from './flags.ts'
import { judged, NodeLooks } from './live-node.ts'
import type { PlaceFlagValues } from './options.ts'
import type { VolctlCommand } from './volctl-command.ts'

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

  constructor(flags: PlaceFlagValues, log: (line: string) => void) {
    super(flags, log)
    this.#signals.on('SIGINT', this.#onSignal).on('SIGTERM', this.#onSignal)
  }

  /** @throws Interrupted, or what a look throws; a later one ApiUnreachable where it takes too long */
  async lookWithin(limitMs?: number): Promise<CollectedNode> {
    const { stop, last: before } = this
    const late = limitMs === undefined ? undefined : AbortSignal.timeout(limitMs)
    try {
      return await this.look(late === undefined ? stop : AbortSignal.any([stop, late]))
    } catch (error) {
      if (stop.aborted) throw new Interrupted()
      if (late?.aborted && before !== undefined && limitMs !== undefined) throw lateError(before.client.server, limitMs)
      throw error
    }
  }

  override [Symbol.dispose](): void {
    super[Symbol.dispose]()
    this.#signals.off('SIGINT', this.#onSignal).off('SIGTERM', this.#onSignal)
  }
}

// `plan -w` and `status -w`: this node, look after look.

/**
 * @param options of the pass over each look
 * @param shown what one look shows
 * @throws VolctlError Usage for a form of output that is one document
 */
export async function watchNode(
  flags: PlaceFlagValues & { readonly output: OutputFormat },
  command: VolctlCommand,
  options: PlanOptions,
  shown: (decided: Decided, screen: Screen) => Shown,
): Promise<void> {
  const { output: format } = flags
  if (format !== 'table' && format !== 'wide') {
    throw usageError('Usage.watch', marked('For scripts: `volctl wait --for=in-sync`, then ask again.'), { format })
  }
  const { output, io } = command
  const screen = await command.screenOf(io.stdout, format)
  const isTerminal = io.stdout.isTTY === true
  using looks = new EndlessLooks(flags, command.detail)
  const isOver = await watch({
    signal: looks.stop,
    look: async () => shown((await judged(await looks.lookWithin(), options)).decided, screen),
    write: (text) => output.write(isTerminal ? text : `${new Date().toISOString()}\n${text}\n`),
    terminal: isTerminal ? io.stdout : undefined,
  })
  command.finish(isOver ? ExitStatus.Ok : ExitStatus.Interrupted)
  await output.flush()
}

/** What one look shows. */
export interface Shown {
  readonly plan: Plan
  readonly text: string
}

export interface WatchPorts {
  readonly signal: AbortSignal
  /** A whole look; the one before has ended. */
  look(): Promise<Shown>
  write(text: string): unknown
  /** Undefined: the answer goes to a pipe or a file. */
  readonly terminal: Terminal | undefined
}

/**
 * Looks until nothing is left, or until it is interrupted. A later look that fails gives a message, and does not end it.
 *
 * @returns whether nothing is left
 * @throws what the first look throws; SafetyRefusal of a later one: then this is another node, or another cluster
 */
export async function watch({ look, write, terminal, signal }: WatchPorts): Promise<boolean> {
  using screen = new Redrawn(terminal)
  const say = (text: string): void => {
    if (terminal === undefined) write(text)
  }
  let stood = ''
  let last = ''
  const outcome = await lookAgain({
    signal,
    look: async () => {
      const { plan, text } = await look()
      const { complete, refused, operations, waiting, problems, inputs } = plan
      const { kubelet, pods } = inputs
      // What makes another answer of it: no time that runs (`87 s more`), and nothing that only a look has, as the resource version of its list.
      const stands = JSON.stringify([complete, refused, operations, waiting, problems, kubelet.state, pods])
      const isSame = stands === stood
      stood = stands
      last = text
      screen.draw(text)
      if (!isSame) say(text)
      // Nothing is left that volctl or somebody else has to do.
      if (planExitStatus(plan, true) === ExitStatus.Ok) return 'over'
      return isSame ? 'same' : 'changed'
    },
    failed: (message) => {
      const trouble = `The last look failed: ${message}\n`
      say(trouble)
      screen.draw(`${last}${trouble}`)
    },
  })
  if (terminal !== undefined) screen.leave(() => write(last))
  return outcome === 'over'
}

/** `plan -w` and `status -w`: this node, look after look. */
import { VolctlError } from '../base/errors.ts'
import { ExitStatus } from '../base/exit-status.ts'
import type { Plan, PlanOptions } from '../plan/plan.ts'
import { openLines } from '../plan/plan-names.ts'
import type { Decided } from '../reconcile/decisions.ts'
import { changedLines, Redrawn, type Terminal } from '../views/redrawn.ts'
import type { Screen } from '../views/screen.ts'
import { planExitStatus } from './carry-out.ts'
import type { OutputFormat } from './flags.ts'
import { judged } from './judged-node.ts'
import { EndlessLooks, lookAgain } from './look-again.ts'
import type { NodeChoice } from './options.ts'
import type { VolctlCommand } from './volctl-command.ts'

/**
 * @param format -o
 * @param options of the pass over each look
 * @param shown what one look shows
 * @throws VolctlError Usage for a form of output that is one document
 */
export async function watchNode(
  choice: NodeChoice,
  command: VolctlCommand,
  format: OutputFormat,
  options: PlanOptions,
  shown: (decided: Decided, screen: Screen) => { readonly plan: Plan; readonly text: string },
): Promise<void> {
  if (format !== 'table' && format !== 'wide') {
    throw new VolctlError('Usage', `-w goes with -o table and wide, not with -o ${format}`, {
      hint: 'For scripts: volctl wait --for=in-sync, then ask again.',
    })
  }
  const { output, io } = command
  const screen = await command.screenOf(io.stdout, format)
  const isTerminal = io.stdout.isTTY === true
  using looks = new EndlessLooks(choice, command.detail)
  const isOver = await watch({
    signal: looks.stop,
    look: async () => {
      const { plan, text } = shown((await judged(await looks.lookWithin(), options)).decided, screen)
      return { text, lines: openLines(plan), isOver: planExitStatus(plan, true) === ExitStatus.Ok }
    },
    write: (text) => output.write(isTerminal ? text : `${new Date().toISOString()} ${text}`),
    terminal: isTerminal ? io.stdout : undefined,
  })
  command.finish(isOver ? ExitStatus.Ok : ExitStatus.Interrupted)
  await output.flush()
}

/** What one look shows. */
export interface Shown {
  /** On a terminal. */
  readonly text: string
  /** By what each is about. */
  readonly lines: ReadonlyMap<string, string>
  /** Nothing is left that volctl or somebody else has to do. */
  readonly isOver: boolean
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
  const say = (lines: readonly string[]): void => {
    if (terminal === undefined) for (const line of lines) write(`${line}\n`)
  }
  const seen: { last?: Shown } = {}
  const outcome = await lookAgain({
    signal,
    look: async () => {
      const last = await look()
      const changes = changedLines(seen.last?.lines ?? new Map(), last.lines)
      seen.last = last
      say(changes)
      screen.draw(last.text)
      return last.isOver ? 'over' : changes.length > 0 ? 'changed' : 'same'
    },
    failed: (message) => {
      const trouble = `The last look failed: ${message}`
      say([trouble])
      screen.draw(`${seen.last?.text}${trouble}\n`)
    },
  })
  if (terminal !== undefined) screen.leave(() => write(seen.last?.text ?? ''))
  return outcome === 'over'
}

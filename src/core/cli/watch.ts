/** `-w`: one look after the other, drawn in place on a terminal; elsewhere a line for each change. */
import { SafetyRefusal, VolctlError } from '../errors/errors.ts'
import type { Terminal } from '../views/progress.ts'
import { changedLines, Redrawn } from '../views/redrawn.ts'

/** Between two looks: the first ones are soon, and so are those after a change. */
const PAUSES_MS = [2000, 4000, 8000, 10_000] as const
/** A look that takes long is taken less often: it has at most a fifth of the time. */
const REST_PER_LOOK = 4

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
  /** A whole look; the one before has ended. */
  look(): Promise<Shown>
  write(text: string): unknown
  /** Undefined: the answer goes to a pipe or a file. */
  readonly terminal: Terminal | undefined
  readonly interrupted: () => boolean
  pause(ms: number): Promise<void>
  now(): number
}

/**
 * Looks until nothing is left, or until it is interrupted. A later look that fails is told, and does not end it.
 *
 * @returns whether nothing is left
 * @throws what the first look throws; SafetyRefusal of a later one: then this is another node, or another cluster
 */
export async function watch(ports: WatchPorts): Promise<boolean> {
  using screen = new Redrawn(ports.terminal)
  let last: Shown | undefined
  for (let quiet = 0; !ports.interrupted(); quiet++) {
    const began = ports.now()
    let trouble: string | undefined
    try {
      const shown = await ports.look()
      const changes = changedLines(last?.lines, shown.lines)
      if (changes.length > 0) quiet = 0
      if (ports.terminal === undefined) for (const line of changes) ports.write(`${line}\n`)
      last = shown
    } catch (error) {
      if (ports.interrupted()) break
      if (last === undefined || !(error instanceof VolctlError) || error instanceof SafetyRefusal) throw error
      trouble = `The last look failed: ${error.message}`
      if (ports.terminal === undefined) ports.write(`${trouble}\n`)
    }
    screen.draw(trouble === undefined ? last.text : `${last.text}${trouble}\n`)
    if (trouble === undefined && last.isOver) break
    const took = ports.now() - began
    await ports.pause(Math.max(PAUSES_MS[Math.min(quiet, PAUSES_MS.length - 1)] ?? 0, took * REST_PER_LOOK))
  }
  if (ports.terminal !== undefined && last !== undefined) screen.leave(() => ports.write(last.text))
  return last?.isOver === true
}

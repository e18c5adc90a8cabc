/** `plan -w` and `status -w`: this node, look after look. */
import { Flags } from '@oclif/core'
import { SafetyRefusal, VolctlError } from '../base/errors.ts'
import { ExitStatus } from '../base/exit-status.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import { pause } from '../linux/deadline.ts'
import type { CollectedNode } from '../node/collect-node.ts'
import { changedLines, Redrawn, type Terminal } from '../views/redrawn.ts'
import type { Screen } from '../views/screen.ts'
import { StopSignal } from './interrupts.ts'
import { leaveNode, lookAtNode } from './live-node.ts'
import type { NodeChoice } from './node-flags.ts'
import type { OutputFormat, VolctlCommand } from './volctl-command.ts'
import { pauseAfter, REST_PER_LOOK } from './wait-for.ts'

export const watchFlag = {
  watch: Flags.boolean({
    char: 'w',
    summary:
      'Look again and again until nothing is left, or Ctrl-C: drawn in place on a terminal; elsewhere a line for each change.',
    exclusive: ['snapshot'],
  }),
}

/**
 * @param format -o
 * @param shown what one look shows
 * @throws VolctlError Usage for a form of output that is one document
 */
export async function watchNode(
  choice: NodeChoice,
  command: VolctlCommand,
  format: OutputFormat,
  shown: (node: CollectedNode, screen: Screen) => Promise<Shown>,
): Promise<void> {
  if (format !== 'table' && format !== 'wide') {
    throw new VolctlError('Usage', `-w goes with -o table and wide, not with -o ${format}`, {
      hint: 'For scripts: volctl wait --for=in-sync, then ask again.',
    })
  }
  const { output, detail: log, io } = command
  const screen = await command.screenOf(io.stdout, format)
  const isTerminal = io.stdout.isTTY === true
  using stop = new StopSignal()
  let node: CollectedNode | undefined
  try {
    const isOver = await watch({
      look: async () => {
        node = await lookAtNode(choice, {
          attributes: 'plan',
          log,
          signal: stop.signal,
          ...omitUndefined({ before: node }),
        })
        return await shown(node, screen)
      },
      write: (text) => output.write(isTerminal ? text : `${new Date().toISOString()} ${text}`),
      terminal: isTerminal ? io.stdout : undefined,
      interrupted: () => stop.signal.aborted,
      pause: (ms) => pause(ms, stop.signal),
      now: () => performance.now(),
    })
    command.finish(isOver ? ExitStatus.Ok : ExitStatus.Interrupted)
    await output.flush()
  } finally {
    leaveNode(node)
  }
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
 * Looks until nothing is left, or until it is interrupted. A later look that fails gives a message, and does not end it.
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
    await ports.pause(Math.max(pauseAfter(quiet), took * REST_PER_LOOK))
  }
  if (ports.terminal !== undefined && last !== undefined) screen.leave(() => ports.write(last.text))
  return last?.isOver === true
}

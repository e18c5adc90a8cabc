/** `plan -w` and `status -w`: this node, look after look. */
import { Flags } from '@oclif/core'
import { VolctlError } from '../errors/errors.ts'
import { ExitStatus } from '../errors/exit-status.ts'
import { defined } from '../lang/defined.ts'
import type { CollectedNode } from '../node/collect-node.ts'
import { pause } from '../processes/deadline.ts'
import { asCalled } from '../trust/called-as.ts'
import { leaveNode, lookAtNode } from './live-node.ts'
import type { NodeChoice } from './node-flags.ts'
import { StopSignal } from './stop-signal.ts'
import { type Shown, watch } from './watch.ts'

export const watchFlag = {
  watch: Flags.boolean({
    char: 'w',
    summary:
      'Look again and again until nothing is left, or Ctrl-C: drawn in place on a terminal; elsewhere a line for each change.',
    exclusive: ['snapshot'],
  }),
}

export interface WatchChoice {
  /** -o */
  readonly format: string
  /** What one look shows. */
  shown(node: CollectedNode): Promise<Shown>
  write(text: string): unknown
  log(line: string): void
}

/** @throws VolctlError Usage for a form of output that is one document */
export async function watchNode(choice: NodeChoice, { format, shown, write, log }: WatchChoice): Promise<ExitStatus> {
  if (format !== 'table' && format !== 'wide') {
    throw new VolctlError('Usage', `-w goes with -o table and wide, not with -o ${format}`, {
      hint: 'For scripts: volctl wait --for=in-sync, then ask again.',
    })
  }
  const isTerminal = process.stdout.isTTY === true
  using stop = new StopSignal()
  let node: CollectedNode | undefined
  try {
    const isOver = await watch({
      look: async () => {
        node = await lookAtNode(choice, { attributes: 'plan', log, signal: stop.signal, ...defined({ before: node }) })
        return await shown(node)
      },
      write: (text) => write(asCalled(isTerminal ? text : `${new Date().toISOString()} ${text}`)),
      terminal: isTerminal ? process.stdout : undefined,
      interrupted: () => stop.signal.aborted,
      pause: (ms) => pause(ms, stop.signal),
      now: () => performance.now(),
    })
    return isOver ? ExitStatus.Ok : ExitStatus.Interrupted
  } finally {
    leaveNode(node)
  }
}

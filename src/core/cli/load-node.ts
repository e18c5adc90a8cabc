import { VolctlError } from '../errors/errors.ts'
import { plainPath } from '../files/path-within.ts'
import type { NodeState } from '../model/node-state.ts'
import type { StandingObstacle } from '../processes/standing.ts'
import { type LookOptions, leaveNode, lookAtNode } from './live-node.ts'
import type { NodeChoice } from './node-flags.ts'

export interface LoadedNode extends NodeState {
  /** What volctl cannot see or do from where it stands; of a snapshot nothing is asked. */
  readonly standing: readonly StandingObstacle[]
}

/** One look at the node: this one, or the one in a snapshot. Nothing stays open. */
export async function loadNode(
  choice: NodeChoice,
  snapshot: string | undefined,
  log: (line: string) => void,
  how: Pick<LookOptions, 'attributes' | 'wholePods'> = { attributes: 'plan' },
): Promise<LoadedNode> {
  if (snapshot !== undefined) {
    const { readSnapshot } = await import('../snapshot/read-snapshot.ts')
    const state = await readSnapshot(snapshot)
    log(`snapshot ${snapshot} of ${state.snapshot.nodeName}, taken at ${state.snapshot.capturedAt}`)
    return { ...withChoice(state, choice), standing: [] }
  }
  const node = await lookAtNode(choice, { ...how, log })
  leaveNode(node)
  return { ...node, standing: node.node.standing }
}

/** `--node` and `--root-dir` must be what the snapshot says: it holds one node. */
export function withChoice(state: NodeState, { node, rootDir }: NodeChoice): NodeState {
  const { snapshot } = state
  if (node !== undefined && node !== snapshot.nodeName) throw notInSnapshot('--node', node, snapshot.nodeName)
  if (rootDir !== undefined && plainPath(rootDir) !== plainPath(snapshot.rootDir))
    throw notInSnapshot('--root-dir', rootDir, snapshot.rootDir)
  return state
}

function notInSnapshot(flag: string, given: string, held: string): VolctlError {
  return new VolctlError('Usage', `${flag}: the snapshot is of ${held}, not of ${given}.`, {
    hint: `Omit ${flag}, or give the matching snapshot.`,
  })
}

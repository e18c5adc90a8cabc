import { VolctlError } from '../base/errors.ts'
import type { NodeState } from '../facts/actual/snapshot.ts'
import { plainPath } from '../linux/paths.ts'
import type { StandingObstacle } from '../linux/standing.ts'
import type { CollectOptions } from '../node/collect-node.ts'
import type { PlanOptions } from '../plan/plan.ts'
import { type Decided, planWithDecisions } from '../reconcile/decisions.ts'
import { judged } from './judged-node.ts'
import { NodeLooks } from './live-node.ts'
import type { NodeChoice } from './options.ts'

export interface LoadedNode extends NodeState {
  /** The pass over it, by the options that were given. */
  readonly decided: Decided
  /** What volctl cannot see or do from where it stands; of a snapshot nothing is asked. */
  readonly standing: readonly StandingObstacle[]
}

/** One look at the node: this one, with who uses what the plan takes away, or the one in a snapshot. Nothing stays open. */
export async function loadNode(
  choice: NodeChoice,
  snapshot: string | undefined,
  log: (line: string) => void,
  options: PlanOptions,
  attributes?: CollectOptions['attributes'],
): Promise<LoadedNode> {
  if (snapshot !== undefined) {
    const { readSnapshot } = await import('../plan/documents/snapshot-file.ts')
    const state = withChoice(await readSnapshot(snapshot), choice)
    log(`snapshot ${snapshot} of ${state.snapshot.nodeName}, taken at ${state.snapshot.capturedAt}`)
    return { ...state, decided: planWithDecisions(state, options), standing: [] }
  }
  using looks = new NodeLooks(choice, log, attributes)
  const { node, decided } = await judged(await looks.look(), options)
  return { ...node, decided, standing: node.node.standing }
}

/** `--node` and `--root-dir` must be what the snapshot says: it holds one node. */
export function withChoice(state: NodeState, { nodeName, rootDir }: NodeChoice): NodeState {
  const { snapshot } = state
  if (nodeName !== undefined && nodeName !== snapshot.nodeName)
    throw notInSnapshot('--node', nodeName, snapshot.nodeName)
  if (rootDir !== undefined && plainPath(rootDir) !== plainPath(snapshot.rootDir))
    throw notInSnapshot('--root-dir', rootDir, snapshot.rootDir)
  return state
}

function notInSnapshot(flag: string, given: string, held: string): VolctlError {
  return new VolctlError('Usage', `${flag}: the snapshot is of ${held}, not of ${given}.`, {
    hint: `Omit ${flag}, or give the matching snapshot.`,
  })
}

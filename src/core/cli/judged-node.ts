/** A look at this node, with who uses what its plan would take away: what a plan calls ready, an apply does. */

import { usageError, type VolctlError } from '../base/errors.ts'
import { ActualInputs } from '../facts/actual/actual-inputs.ts'
import type { InUse, NodeSnapshot, NodeState } from '../facts/actual/snapshot.ts'
import { missingCapabilities } from '../linux/capabilities.ts'
import { plainPath } from '../linux/paths.ts'
import type { StandingObstacle } from '../linux/standing.ts'
import type { CollectedNode, CollectOptions } from '../node/collect-node.ts'
import { TAKING_AWAY } from '../plan/kinds.ts'
import type { Plan, PlanOptions } from '../plan/plan.ts'
import { type Decided, decideNode } from '../reconcile/plan-node.ts'
import { judgeWitnesses } from '../reconcile/pods/witnesses.ts'
import type { Witness } from '../rules/machine-facts.ts'
import { NodeLooks } from './live-node.ts'
import type { NodeChoice } from './options.ts'

/**
 * The pass over it, made once more only where something is in use. Where the plan takes nothing away, nothing is read, and this costs
 * nothing but the pass.
 *
 * @param blocked judge blocked operations, too: for a snapshot, from which plans with other flags are made
 * @returns the same look with its section, and what was decided on it
 */
export async function judged(
  node: CollectedNode,
  options: PlanOptions,
  { signal, blocked = false }: { readonly signal?: AbortSignal; readonly blocked?: boolean } = {},
): Promise<{ readonly node: CollectedNode; readonly decided: Decided }> {
  const free = withInUse(node, [])
  const decided = decideNode(free, options)
  const inUse = await inUseAhead(decided.plan, free, { signal, blocked })
  if (inUse === undefined) return { node, decided: decideNode(node, options) }
  if (inUse.length === 0) return { node: free, decided }
  const held = withInUse(node, inUse)
  return { node: held, decided: decideNode(held, options) }
}

/** Undefined: who can only read here does not see who uses what, and apply refuses as a whole. */
async function inUseAhead(
  plan: Plan,
  node: CollectedNode,
  { signal, blocked }: { readonly signal: AbortSignal | undefined; readonly blocked: boolean },
): Promise<readonly InUse[] | undefined> {
  if (!plan.operations.some((each) => TAKING_AWAY.has(each.kind) && (blocked || each.blocked === undefined))) return []
  if (node.node.standing.length + missingCapabilities().length > 0) return undefined
  const [{ checkInUse }, { questionsOf }] = await Promise.all([
    import('../rules/in-use.ts'),
    import('./apply-context.ts'),
  ])
  const context = { ...questionsOf(() => node), signal }
  const attachments = node.snapshot.api?.volumeAttachments ?? []
  const seen = { witness: witnessOf(node), attachments, mounts: node.mounts }
  return checkInUse(plan, context, seen, { blocked })
}

/** By the look itself. */
function witnessOf({ snapshot, mounts }: NodeState): Witness {
  const { api, runtime, processes = [], nestedProcesses = [] } = snapshot
  const witnesses = judgeWitnesses(new ActualInputs({ snapshot, mounts }))
  const seen = [...processes, ...nestedProcesses, ...(runtime?.pods ?? []).map(({ uid }) => uid)]
  return {
    listed: new Set(),
    alive: new Set(seen.filter((uid) => witnesses.isAlive(uid))),
    blindFor: witnesses.blindFor,
    apiPods: api?.pods ?? [],
  }
}

/** Property by property: the text of the mount table is made when it is asked for. */
function withInUse(node: CollectedNode, inUse: readonly InUse[]): CollectedNode {
  const snapshot: NodeSnapshot = Object.defineProperties({} as NodeSnapshot, {
    ...Object.getOwnPropertyDescriptors(node.snapshot),
    inUse: { value: inUse, enumerable: true },
  })
  return { ...node, snapshot }
}

// The same for a command that looks once, at this node or into a snapshot.

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
    return { ...state, decided: decideNode(state, options), standing: [] }
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
  return usageError(
    `${flag}: the snapshot is of ${held}, not of ${given}.`,
    `Omit ${flag}, or give the matching snapshot.`,
  )
}

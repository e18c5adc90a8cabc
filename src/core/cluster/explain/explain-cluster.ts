/**
 * All that is known about one pod, claim, PersistentVolume, VolumeAttachment, volume, node or driver of a cluster: from the same
 * reading, and by the same pass, as `plan --cluster`. Pure.
 */

import { worstFirst } from '../../explain/explanation.ts'
import { verdictOf } from '../../explain/verdict.ts'
import { defined } from '../../lang/defined.ts'
import { onceFor } from '../../lang/once-for.ts'
import type { ClusterPlan, FleetRow } from '../../plan/cluster-plan.ts'
import { partOf } from '../../plan/part-of-plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { attachedRef } from '../context/attached-ref.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import type { ClusterState } from '../model/cluster-state.ts'
import { volumeRef } from '../model/known-volume.ts'
import { type ClusterTarget, clusterCandidates } from './cluster-candidates.ts'
import type { ClusterChain, ClusterExplanation } from './cluster-explanation.ts'
import { clusterFacts } from './cluster-facts.ts'
import { chainOf } from './cluster-links.ts'
import { concernOn, decisionOn } from './decision.ts'
import { findInCluster } from './find-in-cluster.ts'
import { quietOn, quietVerdict } from './quiet-verdict.ts'
import { type Concern, concernOf, type Scope, scopeOf } from './scope.ts'
import type { VolumeOnNode } from './volumes-on-nodes.ts'
import { applyCommand, onTheNode, type Words } from './what-next.ts'

export interface AskedCluster {
  readonly state: ClusterState
  /** @throws VolctlError NotFound, AmbiguousName */
  readonly explain: (what: string) => ClusterExplanation
  /** What to ask for each thing that the cluster has. */
  readonly asks: () => readonly string[]
}

/**
 * For several questions about one reading.
 *
 * @param plan of this context, not narrowed, with what snapshots of nodes add
 */
export function clusterExplainer(
  context: ClusterContext,
  plan: ClusterPlan,
  words: Words = { flags: [], isLive: true },
): AskedCluster {
  const candidates = onceFor((of: ClusterPlan) => clusterCandidates(context, of))
  return {
    state: context.state,
    explain: (what) => explanationOf(context, plan, findInCluster(context, candidates(plan), what), what, words),
    asks: () => candidates(plan).map(({ ask }) => ask),
  }
}

function explanationOf(
  context: ClusterContext,
  plan: ClusterPlan,
  target: ClusterTarget,
  what: string,
  words: Words,
): ClusterExplanation {
  const scope = scopeOf(context, plan, target)
  const concern = concernOf(plan, scope)
  const { fleet, digest: _, ...narrowed } = partOf(plan, new Set<object>(Object.values(concern).flat()), 0)
  const rows = fleet && fleetRows(fleet.volumes, scope)
  const pairs = scope.volumes.map((on) => ({ on, chain: chainFor(context, plan, concern, on, rows ?? []) }))
  const sorted = pairs.toSorted((a, b) => worstFirst(a.chain, b.chain))
  const worst: Scope = { target, volumes: sorted.map(({ on }) => on) }
  const apply = applyCommand(worst, narrowed, words)
  return {
    ...narrowed,
    kind: 'Explanation',
    what,
    subject: { kind: target.kind, name: nameOf(target) },
    verdict: verdictOf(concern, narrowed.summary.causes ?? [], {
      nothing: quietVerdict(context, worst, plan.complete),
    }),
    notes: onTheNode(context, worst),
    identity: clusterFacts(context, target),
    chains: sorted.map(({ chain }) => chain),
    ...defined({ fleet: rows, apply }),
  }
}

function chainFor(
  context: ClusterContext,
  plan: ClusterPlan,
  concern: Concern,
  on: VolumeOnNode,
  fleet: readonly FleetRow[],
): ClusterChain {
  const own = concernOn(concern, on)
  const [attached] = on.attached
  const volume = attached === undefined ? on.volume && volumeRef(on.volume) : attachedRef(attached, context.actual)
  return {
    ...defined({ node: on.node, volume }),
    links: chainOf(context, on, fleet),
    decision: decisionOn(context, on, own),
    verdict: verdictOf(own, plan.summary.causes ?? [], { nothing: quietOn(context, on, plan.complete) }),
  }
}

function fleetRows(rows: readonly FleetRow[], { target, volumes }: Scope): readonly FleetRow[] {
  if (target.kind === 'Node') return rows.filter(({ node }) => node === target.name)
  const names = new Set(volumes.flatMap(({ uniqueName }) => uniqueName ?? []))
  return rows.filter(({ volume }) => volume.uniqueName !== undefined && names.has(volume.uniqueName))
}

function nameOf(target: ClusterTarget): string {
  if (target.kind === 'Pod') return namespacedName(target.pod)
  if (target.kind === 'PersistentVolumeClaim') return namespacedName(target)
  return target.kind === 'Volume' ? target.uniqueName : target.name
}

/**
 * All that is known about one pod, claim, PersistentVolume, VolumeAttachment, volume, node or driver of a cluster: from the same
 * reading, and by the same pass, as `plan --cluster`. Pure.
 */

import { concernOf } from '../../explain/concern.ts'
import type { Verdict } from '../../explain/explanation.ts'
import { worstFirst } from '../../explain/matters-most.ts'
import { verdictOf } from '../../explain/verdict.ts'
import { defined } from '../../lang/defined.ts'
import { onceFor } from '../../lang/once-for.ts'
import { FindingsOf } from '../../ledger/whose.ts'
import type { ClusterPlan } from '../../plan/cluster-plan.ts'
import { volctl } from '../../plan/next-steps.ts'
import { partOf } from '../../plan/part-of-plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { attachedRef } from '../context/attached-ref.ts'
import { type ClusterContext, nodeOf } from '../context/cluster-context.ts'
import { kubectl, orName, volctlOn } from '../context/kubectl.ts'
import { notReadyText, readinessOf } from '../context/readiness.ts'
import type { ClusterRow } from '../ledger/cluster-row.ts'
import type { ClusterState } from '../model/cluster-state.ts'
import { volumeRef } from '../model/known-volume.ts'
import { askedRows } from './asked-in-cluster.ts'
import { type ClusterTarget, clusterCandidates } from './cluster-candidates.ts'
import type { ClusterChain, ClusterExplanation } from './cluster-explanation.ts'
import { clusterFacts } from './cluster-facts.ts'
import { chainOf } from './cluster-links.ts'
import { type ClusterConcern, decisionOn } from './decision.ts'
import { findInCluster } from './find-in-cluster.ts'

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
 * @param plan of this context, not narrowed
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
  const { rows, scope } = askedRows(context, target)
  const concern = concernOf(plan, scope)
  const { digest: _, ...narrowed } = partOf(plan, new Set<object>(Object.values(concern).flat()), 0)
  const ownOf = eachsOwn(concern)
  const pairs = rows.map((on) => ({ on, chain: chainFor(context, plan, ownOf, on) }))
  const sorted = pairs.toSorted((a, b) => worstFirst(a.chain, b.chain))
  const worst: Question = { target, volumes: sorted.map(({ on }) => on) }
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
    ...defined({ apply }),
  }
}

function chainFor(context: ClusterContext, plan: ClusterPlan, ownOf: OwnOf, on: ClusterRow): ClusterChain {
  const own = ownOf(on)
  const [attached] = on.attached
  const volume = attached === undefined ? on.volume && volumeRef(on.volume) : attachedRef(attached, context.actual)
  return {
    ...defined({ node: on.node, volume }),
    links: chainOf(context, on),
    decision: decisionOn(context, on, own),
    verdict: verdictOf(own, plan.summary.causes ?? [], { nothing: quietOn(context, on, plan.complete) }),
  }
}

type OwnOf = (row: ClusterRow) => Pick<ClusterConcern, 'operations' | 'waiting' | 'problems'>

/** @returns what is about a row alone; what is said of a pod is said of what the pod has not got */
function eachsOwn(concern: ClusterConcern): OwnOf {
  const operations = new FindingsOf(concern.operations)
  const waiting = new FindingsOf(concern.waiting)
  const problems = new FindingsOf(concern.problems)
  return ({ key, pods, attached, unresolved }) => {
    const lacking = unresolved !== undefined || attached.length === 0 ? pods.map(({ uid }) => uid) : []
    return {
      operations: operations.of(key, lacking),
      waiting: waiting.of(key, lacking),
      problems: problems.of(key, lacking),
    }
  }
}

function nameOf(target: ClusterTarget): string {
  if (target.kind === 'Pod') return namespacedName(target.pod)
  if (target.kind === 'PersistentVolumeClaim') return namespacedName(target)
  return target.kind === 'Volume' ? target.uniqueName : target.name
}

/** @param complete everything that matters could be read */
function quietVerdict(context: ClusterContext, { target, volumes }: Question, complete: boolean): Verdict {
  const lost = volumes.find(({ unresolved, pods }) => unresolved !== undefined && pods.some((pod) => !pod.terminated))
  if (lost?.unresolved !== undefined) {
    return { state: 'problem', message: `a pod refers to a volume that was not found: ${lost.unresolved.message}` }
  }
  const lacking = volumes.find((each) => isLacking(context, each))
  if (lacking !== undefined && complete) {
    return { state: 'problem', message: 'a pod wants a volume that is not attached, and the plan does not say why' }
  }
  const message = messageOf(context, target, volumes)
  if (complete) return { state: 'nothing', message }
  return { state: 'nothing', message: `nothing is known to be wrong, but not everything that matters could be read` }
}

/** Of one volume on one node. */
function quietOn(context: ClusterContext, on: ClusterRow, complete: boolean): Verdict {
  return quietVerdict(context, { target: { kind: 'Volume', uniqueName: on.uniqueName ?? '' }, volumes: [on] }, complete)
}

function isLacking({ actual }: ClusterContext, { node, want, uniqueName, attached }: ClusterRow): boolean {
  if (node === undefined || uniqueName === undefined || !want?.pods.length) return false
  return attached.length === 0 && !actual.isConfirmed(node, uniqueName)
}

function messageOf(context: ClusterContext, target: ClusterTarget, volumes: readonly ClusterRow[]): string {
  if (target.kind === 'Pod') {
    const { pod } = target
    if (pod.terminated) return 'the pod has ended, and no volume waits for it'
    if (pod.node === undefined) return 'the pod waits for a node; nothing is attached for it before'
  }
  const states = volumes.map((each) => stateOf(context, each))
  const [first = 'there is no volume that can be attached'] = states
  if (new Set(states).size === 1)
    return volumes.length === 1 ? first : `each of the ${volumes.length} volumes: ${first}`
  if (states.length === 0) {
    if (target.kind === 'Node') return 'no volume is attached to the node, or wanted there'
    return target.kind === 'Driver' ? 'no volume of the driver is attached or wanted' : first
  }
  return `all ${volumes.length} volumes are as the controller leaves them`
}

function stateOf({ actual }: ClusterContext, { node, want, uniqueName, attached, pods }: ClusterRow): string {
  const isThere = attached.length > 0 || (node !== undefined && actual.isConfirmed(node, uniqueName ?? ''))
  if (want !== undefined && want.pods.length > 0) return 'a pod wants the volume, and it is attached'
  if (pods.length > 0 && node === undefined) return 'the pod waits for a node'
  if (want !== undefined)
    return isThere ? 'the volume stays attached as long as its pods have it' : 'nothing is to be attached'
  if (isThere) return 'no pod wants the volume, and the plan leaves it as it is'
  return 'no pod wants the volume, and it is attached to no node'
}

/** What is asked about, and its rows, the worst first. */
interface Question {
  readonly target: ClusterTarget
  readonly volumes: readonly ClusterRow[]
}

/** How a proposed command reads the same cluster. */
interface Words {
  /** Flags of the command line that it needs again. */
  readonly flags: readonly string[]
  /** false: a snapshot, on which nothing can be carried out. */
  readonly isLive: boolean
}

/** @returns undefined where nothing is ready, or nothing can be carried out */
function applyCommand(scope: Question, { summary }: ClusterPlan, { flags, isLive }: Words): string | undefined {
  if (!isLive || summary.ready === 0) return undefined
  return volctl('apply', '--cluster', ...narrowing(scope), ...flags)
}

/** A filter that keeps what has to come first: an attach on one node may wait for a detach on another. */
function narrowing({ target, volumes: [first] }: Question): string[] {
  if (target.kind === 'Node' || target.kind === 'Driver') return []
  if (target.kind === 'Pod') return ['--pod', orName(namespacedName(target.pod))]
  const volume = first?.persistentVolume ?? first?.claim ?? first?.volume?.handle
  return volume === undefined ? [] : ['--volume', orName(volume)]
}

/** Where a volume is attached or in use: mounts, and who holds them. */
function onTheNode(context: ClusterContext, { target, volumes }: Question): string[] {
  if (target.kind === 'Driver') return []
  const there = volumes.find(
    ({ node = '', uniqueName = '', attached }) =>
      nodeOf(context, node) !== undefined && (attached.length > 0 || context.actual.isInUse(node, uniqueName)),
  )
  if (there?.node === undefined) return []
  const { node, persistentVolume, pods } = there
  const found = nodeOf(context, node)
  const readiness = found === undefined ? { ready: undefined } : readinessOf(context, found)
  if (readiness.ready !== 'True') {
    return [
      `only the node shows what is mounted there, and it ${notReadyText(readiness)}: ${kubectl('describe', 'node', node)}`,
    ]
  }
  const [pod] = pods
  const what =
    target.kind === 'Node'
      ? `node/${orName(node)}`
      : persistentVolume !== undefined
        ? `pv/${orName(persistentVolume)}`
        : pod === undefined
          ? `va/${orName(there.attached[0]?.object.name ?? '')}`
          : `pod/${orName(namespacedName(pod))}`
  return [`only the node shows what is mounted, and who holds it: ${volctlOn(node, 'explain', what)}`]
}

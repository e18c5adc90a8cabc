/**
 * What the pass reads to judge one volume on one node: the part of a cluster that decides, and what of it is read again before the
 * operation. The pass says the same of the operation over this part as over the whole cluster (test/cluster/apply/row-part.test.ts);
 * what only the whole cluster shows (ClusterFacts) is found apart.
 *
 * The part is whole nodes, each with all that its pods and attachments name:
 * - a detach: its node, with the pods there and what their claims lead to;
 * - an attach: the same of every node that has the volume, may have it, or has a pod with it, if only one node may have it (R740);
 * - the same for every other volume of its pods, since each of them may take the room where the node has a limit (N67).
 */

import { attachmentName, csiUniqueName } from '../../facts/actual/volume-names.ts'
import type { ClusterOperation } from '../../plan/cluster-plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import type { ClusterAttachment, ClusterNode, ClusterPod, ClusterState, ClusterVolume } from '../model/cluster-state.ts'
import { isWanted, Rows } from '../model/rows.ts'
import { isExclusive } from '../model/volumes.ts'

/** What is read again, by its names; beside it the controller's lease, and the claims that the pods name and that were not bound. */
export interface Needs {
  /** With its Lease and CSINode, and all its pods: no other pod can want a volume there. */
  readonly node: string
  /** Absent: all. Somebody may have made one elsewhere, of whatever name. */
  readonly attachment?: string
  /** Of the pods for which a volume is attached: every pod with the same claim is in one of them. */
  readonly namespaces: readonly string[]
  /** With its claim. */
  readonly persistentVolume?: string
  /** Where the operation rests on what no node, object or lease says of a driver: all that can show the driver. */
  readonly driver?: string
}

export function needsOf(state: ClusterState, operation: ClusterOperation): Needs {
  const { kind, reason, steps, node, volume, attachment, pods } = operation
  const isAttach = kind === 'AttachVolume'
  const restsOnDriver = reason === 'DriverRemoved' || steps.some(({ op }) => op === 'removeFinalizers')
  const attacher = (): string | undefined => state.attachments.find(({ name }) => name === attachment.name)?.attacher
  return {
    node,
    ...(!isAttach && { attachment: attachment.name }),
    namespaces: isAttach ? [...new Set(pods.flatMap(({ namespace }) => namespace ?? []))] : [],
    persistentVolume: volume.persistentVolume,
    driver: restsOnDriver ? (attacher() ?? volume.driver) : undefined,
  }
}

export function partOf(state: ClusterState, { kind, node, volume, attachment }: ClusterOperation): ClusterState {
  const ofNode = gathered(state, new Set([node]), new Set([attachment.name]))
  if (kind === 'DetachVolume') return ofNode
  const wanted = new Rows(ofNode).onNode(node).filter(isWanted)
  const shared = wanted.flatMap((want) => (isExclusive(want.volume) ? [] : want.uniqueName))
  const all = [volume.uniqueName ?? '', ...wanted.map(({ uniqueName }) => uniqueName)]
  const names = wanted.map(({ volume: { handle = '', driver = '' } }) => attachmentName(handle, driver, node))
  const others = nodesOf(state, new Set(all).difference(new Set(shared)))
  return gathered(state, new Set([node, ...others]), new Set([attachment.name, ...names]))
}

/** Nodes that have one of these volumes or a pod with it; and those that may have, as nobody can tell by the names of objects alone. */
function nodesOf({ nodes, pods, claims, volumes, attachments }: ClusterState, of: ReadonlySet<string>): string[] {
  const mine = volumes.filter(({ uniqueName = '' }) => of.has(uniqueName))
  const names = new Set(mine.map(({ name }) => name))
  const bound = claims.filter(({ volumeName = '' }) => names.has(volumeName))
  const claimed = new Set([...bound, ...mine.flatMap(({ claim }) => claim ?? [])].map(namespacedName))
  const known = new Set(volumes.flatMap(({ name, uniqueName, handle }) => (uniqueName && handle ? name : [])))
  return [
    ...nodes.filter((each) => reportedOn(each).some((name) => of.has(name))).map(({ name }) => name),
    ...attachments
      .filter(({ persistentVolume = '' }) => names.has(persistentVolume) || !known.has(persistentVolume))
      .map((each) => each.node),
    ...pods
      .filter((pod) => pod.volumes.some((each) => 'source' in each) || claimsOf(pod).some((name) => claimed.has(name)))
      .flatMap((pod) => pod.node ?? []),
  ]
}

/** Of an attachment that has its volume in its own spec. */
function inlineName({ attacher, inline }: ClusterAttachment): string | undefined {
  return inline?.handle ? csiUniqueName(inline.driver ?? attacher, inline.handle) : undefined
}

function reportedOn({ volumesInUse = [], volumesAttached = [] }: ClusterNode): readonly string[] {
  return [...volumesInUse, ...volumesAttached]
}

/** As namespace/name. */
export function claimsOf({ namespace, volumes }: ClusterPod): readonly string[] {
  return volumes.flatMap((volume) => ('claim' in volume ? `${namespace}/${volume.claim}` : []))
}

/** @param names of attachments, of whatever node */
function gathered(state: ClusterState, on: ReadonlySet<string>, names: ReadonlySet<string>): ClusterState {
  const nodes = state.nodes.filter(({ name }) => on.has(name))
  const pods = state.pods.filter(({ node }) => node !== undefined && on.has(node))
  const attachments = state.attachments.filter(({ name, node }) => on.has(node) || names.has(name))
  const claimed = new Set(pods.flatMap(claimsOf))
  const claims = state.claims.filter((claim) => claimed.has(namespacedName(claim)))
  const named = new Set([
    ...claims.map(({ volumeName }) => volumeName),
    ...attachments.map((of) => of.persistentVolume),
  ])
  const found = state.volumes.filter(
    ({ name, claim }) => named.has(name) || (claim !== undefined && claimed.has(namespacedName(claim))),
  )
  // All PersistentVolumes of one handle are one volume (R818).
  const alike = new Set([...found.map(keyOf), ...attachments.map(inlineName), ...nodes.flatMap(reportedOn)])
  return {
    ...state,
    ...{ nodes, pods, claims, attachments, volumes: state.volumes.filter((volume) => alike.has(keyOf(volume))) },
    ...(state.lostNodes !== undefined && { lostNodes: state.lostNodes.filter(({ name }) => on.has(name)) }),
  }
}

function keyOf({ name, uniqueName = name }: ClusterVolume): string {
  return uniqueName
}

/**
 * The part of a cluster that the verdict about one operation rests on: whole nodes, each with all that its pods and attachments name. The
 * pass says the same of the operation over this part as over the whole cluster, at a cost that does not grow with it.
 *
 * What each decision reads:
 * - a detach: its node, with the pods there and what their claims lead to; and which other nodes have the volume;
 * - an attach: the same of every node that has the volume, may have it, or has a pod with it, if only one node may have it (R740);
 * - where the node has a limit, the same for every other volume that its pods lack, since each of them may take the room (N67);
 * - --pod, --namespace: the attach that a detach makes room for, which is on one of these nodes; and all pods of the given names.
 *
 * What only the whole cluster shows (ClusterFacts) is found apart.
 */

import { compareText } from '../../lang/compare-text.ts'
import { attachmentName, parseCsiUniqueName } from '../../names/volume-names.ts'
import type { ClusterOperation, ClusterOptions } from '../../plan/cluster-plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import type { ClusterAttachment, ClusterPod, ClusterState, ClusterVolume } from '../model/cluster-state.ts'
import { isExclusive } from '../model/known-volume.ts'
import { claimsOf, inlineName, type KnownCluster } from './known-cluster.ts'

export function partOf(
  cluster: KnownCluster,
  { kind, node, volume, attachment }: ClusterOperation,
  { pods: given = [] }: Pick<ClusterOptions, 'pods'>,
): ClusterState {
  const { uniqueName } = volume
  const nodes = new Set([node, ...(uniqueName === undefined ? [] : nodesOf(cluster, uniqueName))])
  const names = new Set([attachment.name])
  if (kind === 'AttachVolume' && hasLimit(cluster, node)) {
    for (const each of lackedOn(cluster, node)) {
      for (const on of nodesOf(cluster, each.uniqueName)) nodes.add(on)
      names.add(each.attachment)
    }
  }
  return gathered(cluster, nodes, names, podsNamed(cluster, given))
}

/** Where many nodes may have a volume, what is said of one names only the first of the others. */
const MOST_NODES = 25

/** Nodes that have the volume or may, or have a pod with it. Of a volume that many nodes may have the first alone. */
function nodesOf(cluster: KnownCluster, uniqueName: string): readonly string[] {
  const volumes = [...cluster.volumes.of('volume', uniqueName)]
  const having = new Set([
    ...[...cluster.nodes.of('volume', uniqueName)].map(({ name }) => name),
    ...attachmentsOf(cluster, uniqueName, volumes).map(({ node }) => node),
  ])
  const isShared = volumes.length > 0 && !volumes.some(({ accessModes }) => isExclusive(accessModes))
  if (isShared) return [...[...having].toSorted(compareText).slice(0, MOST_NODES), ...namedAs(cluster, uniqueName)]
  const wanting = podsWith(cluster, uniqueName, volumes).flatMap(({ node }) => node ?? [])
  return [...having, ...namedAs(cluster, uniqueName), ...wanting]
}

function attachmentsOf(
  { attachments }: KnownCluster,
  uniqueName: string,
  volumes: readonly ClusterVolume[],
): ClusterAttachment[] {
  return [
    ...attachments.of('inline', uniqueName),
    ...volumes.flatMap(({ name }) => [...attachments.of('persistentVolume', name)]),
  ]
}

/** Nodes of attachments that only the hash in their name shows to be of the volume (R007). */
function namedAs({ unidentified }: KnownCluster, uniqueName: string): string[] {
  const csi = parseCsiUniqueName(uniqueName)
  if (csi === undefined) return []
  return [...unidentified].flatMap(({ name, node }) =>
    name === attachmentName(csi.handle, csi.driver, node) ? [node] : [],
  )
}

/** By a claim that is bound to it or that it names, or in their spec. */
function podsWith(
  { pods, claims }: KnownCluster,
  uniqueName: string,
  volumes: readonly ClusterVolume[],
): readonly ClusterPod[] {
  const named = volumes.flatMap(({ name, claim }) => [
    ...[...claims.of('volume', name)].map(namespacedName),
    ...(claim === undefined ? [] : [namespacedName(claim)]),
  ])
  return [...pods.of('inline', uniqueName), ...named.flatMap((each) => [...pods.of('claim', each)])]
}

function hasLimit({ nodes }: KnownCluster, name: string): boolean {
  return [...nodes.of('name', name)].some(
    ({ csi }) => csi.state === 'known' && csi.drivers.some(({ limit }) => limit !== undefined),
  )
}

/** Volumes of the node's pods that have no attachment there. */
function lackedOn(
  { pods, claims, volumes, attachments }: KnownCluster,
  node: string,
): { readonly uniqueName: string; readonly attachment: string }[] {
  const ofPods = [...pods.of('node', node)]
  const names = ofPods
    .flatMap(claimsOf)
    .flatMap((claim) => [...claims.of('name', claim)])
    .flatMap(({ volumeName = '' }) => [...volumes.of('name', volumeName)])
    .flatMap(({ uniqueName }) => uniqueName ?? [])
  return [...new Set(names)].flatMap((uniqueName) => {
    const csi = parseCsiUniqueName(uniqueName)
    if (csi === undefined) return []
    const attachment = attachmentName(csi.handle, csi.driver, node)
    const here = [...attachments.of('name', attachment)].filter((each) => each.node === node)
    return here.length > 0 ? [] : [{ uniqueName, attachment }]
  })
}

/** As --pod may mean them: by name, namespace/name, or the beginning of the UID. */
function podsNamed({ pods }: KnownCluster, given: readonly string[]): readonly ClusterPod[] {
  if (given.length === 0) return []
  return pods
    .all()
    .filter((pod) =>
      given.some((each) => pod.name === each || namespacedName(pod) === each || pod.uid.startsWith(each)),
    )
}

/** Of a name that a list has twice both, since that shows that neither is known. */
function gathered(
  { head, nodes, pods, claims, volumes, attachments }: KnownCluster,
  names: ReadonlySet<string>,
  attachmentNames: ReadonlySet<string>,
  more: readonly ClusterPod[],
): ClusterState {
  const on = [...names]
  const ofNodes = [...on.flatMap((node) => [...pods.of('node', node)]), ...more]
  const allPods = ofNodes.flatMap((pod) => [...pods.of('name', namespacedName(pod))])
  const here = [
    ...on.flatMap((node) => [...attachments.of('node', node)]),
    ...[...attachmentNames].flatMap((name) => [...attachments.of('name', name)]),
  ]
  const allAttachments = here.flatMap(({ name }) => [...attachments.of('name', name)])
  const claimed = new Set(allPods.flatMap(claimsOf))
  const allClaims = [...claimed].flatMap((claim) => [...claims.of('name', claim)])
  const named = [
    ...allClaims.flatMap(({ volumeName }) => volumeName ?? []),
    ...allAttachments.flatMap(({ persistentVolume }) => persistentVolume ?? []),
  ]
  const found = [
    ...new Set(named.flatMap((name) => [...volumes.of('name', name)])),
    ...[...claimed].flatMap((claim) => [...volumes.of('claim', claim)]),
  ]
  const inStatus = on
    .flatMap((node) => [...nodes.of('name', node)])
    .flatMap(({ volumesInUse = [], volumesAttached = [] }) => [...volumesInUse, ...volumesAttached])
  const unique = new Set([
    ...found.flatMap(({ uniqueName }) => uniqueName ?? []),
    ...allAttachments.flatMap(inlineName),
    ...inStatus,
  ])
  // All PersistentVolumes of one handle are one volume (R818).
  const alike = [...unique].flatMap((name) => [...volumes.of('volume', name)])
  const allVolumes = [...found, ...alike].flatMap(({ name }) => [...volumes.of('name', name)])
  return {
    ...head,
    nodes: nodes.inOrder(on.flatMap((node) => [...nodes.of('name', node)])),
    pods: pods.inOrder(allPods),
    claims: claims.inOrder(allClaims),
    volumes: volumes.inOrder(allVolumes),
    attachments: attachments.inOrder(allAttachments),
    ...(head.lostNodes !== undefined && { lostNodes: head.lostNodes.filter(({ name }) => names.has(name)) }),
  }
}

/**
 * What the pass reads to judge one volume on one node: the part of a cluster that decides, and what of it is read again before the
 * operation. The pass says the same of the operation over this part as over the whole cluster (test/cluster/apply/row-part.test.ts);
 * what only the whole cluster shows (ClusterFacts) is found apart.
 *
 * The part is whole nodes, each with all that its pods and attachments name:
 * - a detach: its node, with the pods there and what their claims lead to; and which other nodes have the volume;
 * - an attach: the same of every node that has the volume, may have it, or has a pod with it, if only one node may have it (R740);
 * - the same for every other volume that its pods lack, since each of them may take the room where the node has a limit (N67);
 * - --pod, --namespace: the attach that a detach makes room for, which is on one of these nodes; and all pods of the given names.
 */

import { Grouped } from '../../lang/append.ts'
import { compareText } from '../../lang/compare-text.ts'
import { attachmentName, csiUniqueName, parseCsiUniqueName } from '../../model/volume-names.ts'
import type { ClusterOperation, ClusterOptions } from '../../plan/cluster-plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { resolvePodVolume } from '../desired/pod-volume.ts'
import { driversOf } from '../model/cluster-objects.ts'
import type { ClusterAttachment, ClusterPod, ClusterState } from '../model/cluster-state.ts'
import { isExclusive, type KnownVolume } from '../model/known-volume.ts'

/** What is read again, by its names; beside it the controller's lease, and the claims that the pods name and that were not bound. */
export interface Needs {
  /** With its Lease and CSINode, and all its pods: no other pod can want a volume there. */
  readonly node: string
  /** Absent: all. Somebody may have made one elsewhere, of whatever name. */
  readonly attachment?: string
  /** Of the pods for which a volume is attached: every pod with the same claim is in one of them. */
  readonly namespaces: readonly string[]
  /** With its claim. */
  readonly persistentVolume?: string | undefined
  /** Where the operation rests on what no node, object or lease says of a driver: all that can show the driver. */
  readonly driver?: string | undefined
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

export function partOf(
  state: ClusterState,
  { kind, node, volume: { uniqueName }, attachment }: ClusterOperation,
  options: Pick<ClusterOptions, 'pods'>,
): ClusterState {
  const lacked = kind === 'AttachVolume' ? lackedOn(state, node) : []
  const volumes = new Set([...given(uniqueName), ...lacked.map((each) => each.uniqueName)])
  const names = new Set([attachment.name, ...lacked.map((each) => each.attachment)])
  return gathered(state, new Set([node, ...nodesOf(state, volumes)]), names, options.pods ?? [])
}

function given<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value]
}

/** Where many nodes may have a volume, what is said of one names only the first of the others. */
const MOST_NODES = 25

/** Nodes that have one of these volumes or may, or have a pod with it. Of a volume that many nodes may have the first alone. */
function nodesOf(state: ClusterState, uniqueNames: ReadonlySet<string>): readonly string[] {
  const volumes = state.volumes.filter(({ uniqueName = '' }) => uniqueNames.has(uniqueName))
  const ofVolumes = new Map(volumes.map(({ name, uniqueName = '' }) => [name, uniqueName]))
  const having = new Grouped<string, string>()
  const note = (uniqueName: string | undefined, node: string): void => {
    if (uniqueName !== undefined && uniqueNames.has(uniqueName)) having.add(uniqueName, node)
  }
  for (const { name, volumesInUse = [], volumesAttached = [] } of state.nodes)
    for (const each of [...volumesInUse, ...volumesAttached]) note(each, name)
  for (const attachment of state.attachments) {
    note(ofVolumes.get(attachment.persistentVolume ?? ''), attachment.node)
    note(inlineName(attachment), attachment.node)
  }
  const modes = Map.groupBy(volumes, ({ uniqueName = '' }) => uniqueName)
  const isShared = (each: string): boolean =>
    modes.get(each)?.every(({ accessModes }) => !isExclusive(accessModes)) ?? false
  const exclusive = new Set([...uniqueNames].filter((each) => !isShared(each)))
  const firstOf = (each: string): readonly string[] =>
    exclusive.has(each) ? having.of(each) : [...new Set(having.of(each))].toSorted(compareText).slice(0, MOST_NODES)
  return [
    ...[...uniqueNames].flatMap(firstOf),
    ...namedAs(state, uniqueNames),
    ...podsWith(state, exclusive).flatMap(({ node }) => given(node)),
  ]
}

/** Of an attachment that has its volume in its own spec. */
function inlineName({ attacher, inline }: ClusterAttachment): string | undefined {
  return inline?.handle ? csiUniqueName(inline.driver ?? attacher, inline.handle) : undefined
}

/** Nodes of attachments that only the hash in their name shows to be of one of the volumes (R007). */
function namedAs({ attachments, volumes }: ClusterState, uniqueNames: ReadonlySet<string>): readonly string[] {
  const ofCsi = [...uniqueNames].flatMap((each) => given(parseCsiUniqueName(each)))
  const named = volumes.filter(({ uniqueName, handle }) => uniqueName !== undefined && handle !== undefined)
  const known = new Set(named.map(({ name }) => name))
  return attachments
    .filter(({ persistentVolume, inline }) =>
      persistentVolume === undefined ? !inline?.handle : !known.has(persistentVolume),
    )
    .filter(({ name, node }) => ofCsi.some(({ handle, driver }) => name === attachmentName(handle, driver, node)))
    .map(({ node }) => node)
}

/** By a claim that is bound to one of the volumes or that it names, or in their spec. */
function podsWith(state: ClusterState, uniqueNames: ReadonlySet<string>): readonly ClusterPod[] {
  const volumes = state.volumes.filter(({ uniqueName = '' }) => uniqueNames.has(uniqueName))
  const names = new Set(volumes.map(({ name }) => name))
  const claims = new Names([
    ...state.claims.filter(({ volumeName = '' }) => names.has(volumeName)),
    ...volumes.flatMap(({ claim }) => given(claim)),
  ])
  const objects = driversOf(state)
  return state.pods.filter((pod) =>
    pod.volumes.some((volume) => {
      if ('claim' in volume) return claims.has({ namespace: pod.namespace, name: volume.claim })
      // Of the cluster only its drivers matter for the name of such a volume.
      const resolution = resolvePodVolume(pod, volume, objects, NONE)
      return 'volume' in resolution && uniqueNames.has(resolution.volume.uniqueName)
    }),
  )
}

const NONE: ReadonlyMap<string, KnownVolume> = new Map()

/** Volumes of the node's pods that have no attachment there. */
function lackedOn(
  { pods, claims, volumes, attachments }: ClusterState,
  node: string,
): { readonly uniqueName: string; readonly attachment: string }[] {
  const claimed = new Names(pods.filter((pod) => pod.node === node).flatMap(claimsOf))
  const bound = new Set(claims.filter((claim) => claimed.has(claim)).map(({ volumeName }) => volumeName))
  const names = new Set(volumes.filter(({ name }) => bound.has(name)).flatMap(({ uniqueName }) => given(uniqueName)))
  const here = new Set(attachments.filter((each) => each.node === node).map(({ name }) => name))
  return [...names].flatMap((uniqueName) => {
    const csi = parseCsiUniqueName(uniqueName)
    if (csi === undefined) return []
    const attachment = attachmentName(csi.handle, csi.driver, node)
    return here.has(attachment) ? [] : [{ uniqueName, attachment }]
  })
}

interface Named {
  readonly namespace: string
  readonly name: string
}

/** Of most objects the name alone shows that they are not among these: no text is made for each of 150,000. */
export class Names {
  readonly #names: ReadonlySet<string>
  readonly #whole: ReadonlySet<string>

  constructor(named: readonly Named[]) {
    this.#names = new Set(named.map(({ name }) => name))
    this.#whole = new Set(named.map(namespacedName))
  }

  has(named: Named): boolean {
    return this.#names.has(named.name) && this.#whole.has(namespacedName(named))
  }
}

export function claimsOf({ namespace, volumes }: ClusterPod): readonly Named[] {
  return volumes.flatMap((volume) => ('claim' in volume ? [{ namespace, name: volume.claim }] : []))
}

/** Of a name that a list has twice both, since that shows that neither is known. */
function gathered(
  state: ClusterState,
  on: ReadonlySet<string>,
  names: ReadonlySet<string>,
  givenPods: readonly string[],
): ClusterState {
  const nodes = state.nodes.filter(({ name }) => on.has(name))
  // As --pod may mean them: by name, namespace/name, or the beginning of the UID.
  const isGiven = (pod: ClusterPod): boolean =>
    givenPods.some((each) => pod.name === each || namespacedName(pod) === each || pod.uid.startsWith(each))
  const podNames = new Names(state.pods.filter((pod) => on.has(pod.node ?? '') || isGiven(pod)))
  const pods = state.pods.filter((pod) => podNames.has(pod))
  const here = new Set(
    state.attachments.filter(({ name, node }) => on.has(node) || names.has(name)).map(({ name }) => name),
  )
  const attachments = state.attachments.filter(({ name }) => here.has(name))
  const claimed = new Names(pods.flatMap(claimsOf))
  const claims = state.claims.filter((claim) => claimed.has(claim))
  const named = new Set([
    ...claims.flatMap(({ volumeName }) => given(volumeName)),
    ...attachments.flatMap(({ persistentVolume }) => given(persistentVolume)),
  ])
  const found = state.volumes.filter(
    ({ name, claim }) => named.has(name) || (claim !== undefined && claimed.has(claim)),
  )
  // All PersistentVolumes of one handle are one volume (R818).
  const alike = new Set([
    ...found.flatMap(({ uniqueName }) => given(uniqueName)),
    ...attachments.flatMap((each) => given(inlineName(each))),
    ...nodes.flatMap(({ volumesInUse = [], volumesAttached = [] }) => [...volumesInUse, ...volumesAttached]),
  ])
  const volumeNames = new Set(found.map(({ name }) => name))
  for (const { name, uniqueName = '' } of state.volumes) if (alike.has(uniqueName)) volumeNames.add(name)
  return {
    ...state,
    ...{ nodes, pods, claims, attachments },
    volumes: state.volumes.filter(({ name }) => volumeNames.has(name)),
    ...(state.lostNodes !== undefined && { lostNodes: state.lostNodes.filter(({ name }) => on.has(name)) }),
  }
}

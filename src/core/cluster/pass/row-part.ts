/**
 * What the pass reads to judge one volume on one node: the part of a cluster that decides, and what of it is read again before the
 * operation. The pass says the same of the operation over this part as over the whole cluster (test/cluster/apply/row-part.test.ts);
 * what only the whole cluster shows (ClusterFacts) is found apart.
 *
 * The part is whole nodes, each with all that its pods and attachments name:
 * - a detach: its node, with the pods there and what their claims lead to;
 * - an attach: the same of every node that has the volume, may have it, or has a pod with it, if only one node may have it (R740);
 * - the same for every other volume that its pods lack, since each of them may take the room where the node has a limit (N67).
 */

import { attachmentName, csiUniqueName, parseCsiUniqueName } from '../../facts/actual/volume-names.ts'
import type { ClusterOperation } from '../../plan/cluster-plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { clusterContext } from '../model/cluster-context.ts'
import { driversOf } from '../model/cluster-objects.ts'
import type { ClusterAttachment, ClusterPod, ClusterState, ClusterVolume } from '../model/cluster-state.ts'
import { isExclusive, type KnownVolume, resolvePodVolume } from '../model/volumes.ts'

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

export function partOf(state: ClusterState, operation: ClusterOperation): ClusterState {
  const { kind, node, volume, attachment } = operation
  const ofNode = gathered(state, new Set([node]), new Set([attachment.name]))
  if (kind === 'DetachVolume') return ofNode
  const { desired, known, objects } = clusterContext(ofNode, PLAIN)
  const lacked = desired.onNode(node).flatMap(({ volume: each }) => {
    const { uniqueName, driver = '', handle = '' } = each
    const name = attachmentName(handle, driver, node)
    return objects.attachment(name).state === 'Found' ? [] : { uniqueName, exclusive: isExclusive(each), name }
  })
  const { uniqueName = '' } = volume
  const own = known.get(uniqueName)
  const exclusive = [...lacked, { uniqueName, exclusive: own === undefined || isExclusive(own) }].filter(
    (each) => each.exclusive,
  )
  const others = nodesOf(state, new Set(exclusive.map((each) => each.uniqueName)))
  return gathered(state, new Set([node, ...others]), new Set([attachment.name, ...lacked.map(({ name }) => name)]))
}

const PLAIN = { settleMs: 0, volctlVersion: '' }

/** Nodes that have one of these volumes or may, or have a pod with it. */
function nodesOf(state: ClusterState, uniqueNames: ReadonlySet<string>): readonly string[] {
  const isOne = (name: string | undefined): boolean => name !== undefined && uniqueNames.has(name)
  const volumes = state.volumes.filter(({ uniqueName }) => isOne(uniqueName))
  const names = new Set<string | undefined>(volumes.map(({ name }) => name))
  const claims = new Names([
    ...state.claims.filter(({ volumeName }) => volumeName !== undefined && names.has(volumeName)),
    ...volumes.flatMap(({ claim }) => claim ?? []),
  ])
  const drivers = driversOf(state)
  const isOfPod = (pod: ClusterPod): boolean =>
    pod.volumes.some((volume) => {
      if ('claim' in volume) return claims.has({ namespace: pod.namespace, name: volume.claim })
      // Of the cluster only its drivers matter for the name of such a volume.
      const resolution = resolvePodVolume(pod, volume, drivers, NONE)
      return 'volume' in resolution && isOne(resolution.volume.uniqueName)
    })
  const csi = [...uniqueNames].flatMap((each) => parseCsiUniqueName(each) ?? [])
  const known = new Set(state.volumes.flatMap(({ name, uniqueName, handle }) => (uniqueName && handle ? name : [])))
  const isAttachment = (attachment: ClusterAttachment): boolean => {
    const { name, node, persistentVolume, inline } = attachment
    if (names.has(persistentVolume) || isOne(inlineName(attachment))) return true
    if (persistentVolume === undefined ? inline?.handle : known.has(persistentVolume)) return false
    // Only the hash in its name shows which volume it is of (R007).
    return csi.some(({ handle, driver }) => name === attachmentName(handle, driver, node))
  }
  return [
    ...state.nodes
      .filter(({ volumesInUse = [], volumesAttached = [] }) => [volumesInUse, volumesAttached].flat().some(isOne))
      .map(({ name }) => name),
    ...state.attachments.filter(isAttachment).map(({ node }) => node),
    ...state.pods.filter(isOfPod).flatMap(({ node }) => node ?? []),
  ]
}

const NONE: ReadonlyMap<string, KnownVolume> = new Map()

/** Of an attachment that has its volume in its own spec. */
function inlineName({ attacher, inline }: ClusterAttachment): string | undefined {
  return inline?.handle ? csiUniqueName(inline.driver ?? attacher, inline.handle) : undefined
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

/** Of a name that a list has twice both, since that shows that neither is known. @param names of attachments, of whatever node */
function gathered(state: ClusterState, on: ReadonlySet<string>, names: ReadonlySet<string>): ClusterState {
  const nodes = state.nodes.filter(({ name }) => on.has(name))
  const podNames = new Names(state.pods.filter(({ node }) => node !== undefined && on.has(node)))
  const pods = state.pods.filter((pod) => podNames.has(pod))
  const here = state.attachments.filter(({ name, node }) => on.has(node) || names.has(name))
  const hereNames = new Set(here.map(({ name }) => name))
  const attachments = state.attachments.filter(({ name }) => hereNames.has(name))
  const claimed = new Names(pods.flatMap(claimsOf))
  const claims = state.claims.filter((claim) => claimed.has(claim))
  const named = new Set([...claims.map(({ volumeName }) => volumeName), ...here.map((each) => each.persistentVolume)])
  const found = state.volumes.filter(
    ({ name, claim }) => named.has(name) || (claim !== undefined && claimed.has(claim)),
  )
  const foundNames = new Set(found.map(({ name }) => name))
  // All PersistentVolumes of one handle are one volume (R818).
  const alike = new Set([
    ...found.map(({ uniqueName }) => uniqueName),
    ...attachments.map(inlineName),
    ...nodes.flatMap(({ volumesInUse = [], volumesAttached = [] }) => [...volumesInUse, ...volumesAttached]),
  ])
  const isAlike = ({ name, uniqueName }: ClusterVolume): boolean =>
    foundNames.has(name) || (uniqueName !== undefined && alike.has(uniqueName))
  return {
    ...state,
    ...{ nodes, pods, claims, attachments, volumes: state.volumes.filter(isAlike) },
    ...(state.lostNodes !== undefined && { lostNodes: state.lostNodes.filter(({ name }) => on.has(name)) }),
  }
}

/**
 * What the attach/detach controller's pass is computed from: the whole cluster, reduced to what some decision reads.
 *
 * A cluster has up to 150,000 pods, so each object becomes one flat record while its page is read, and the page is dropped.
 * The same records stand in a cluster snapshot, a line each. Times are RFC 3339, in the API server's clock.
 *
 * The shapes demand what the pass relies on without checking.
 */

import { type CsiDriver, podVolumeShape } from '../../kube/api/objects.ts'
import { type ApiReadError, insecure, type ObjectKey, writtenError } from '../../kube/api/resources.ts'
import {
  count,
  flag,
  kept,
  keptList,
  keptObjects,
  needed,
  number,
  oneOf,
  type Shape,
  type ShapeOf,
  text,
  time,
} from '../../trust/shape.ts'
import { type Lookup, mapFound, NOT_READ } from '../../volumes/api-lookup.ts'
import type { Attachability } from '../../volumes/desired-state.ts'
import { type ClaimFacts, claimFactsShape } from '../../volumes/resolve-claim.ts'

const texts = keptList(text)

const lease = kept({
  /** namespace/name */
  name: needed(text),
  holder: text,
  /** By the clock of its holder. */
  renewTime: text,
  /** When the lease was last written, by the clock of the API server: some versions give it for the first writing alone. */
  writtenAt: text,
  durationSeconds: number,
})

export interface LeaseEvidence extends ShapeOf<typeof lease> {}

const write = kept({
  /** By which it writes: the manager of managedFields. */
  manager: needed(text),
  /** `nodes/a`, `pods/shop/web-0` */
  object: needed(text),
  time: needed(text),
})

export interface ControllerWrite extends ShapeOf<typeof write> {}

/** What shows whether the attach/detach controller lives. */
const controller = kept({
  /** kube-system/kube-controller-manager; absent: there is none, or `leaseProblem` says why it is unknown. */
  lease,
  leaseProblem: text,
  /** The lease, read again after everything else: a clock that is wrong makes a lease look stale, but does not keep it unchanged. */
  leaseAtEnd: lease,
  /** Leases in kube-system by which a kube-controller-manager leads under another name. */
  otherLeases: keptList(lease),
  /** What a controller manager wrote last, the newest first, and when by the clock of the API server. */
  writes: keptList(write),
  /** What only a controller changes, and what changed between two looks of one run. */
  changes: texts,
})

const sight = kept({
  /** `whole`: consistent, all pages, all namespaces, no filter. `failed`: see `errors`. */
  state: needed(oneOf('whole', 'failed')),
  resourceVersion: text,
  count: needed(count),
})

/** How far a list can be believed. Only `whole` shows that an object is absent (S2, S3). */
export interface ListSight extends ShapeOf<typeof sight> {}

const listed = needed(sight)

const lists = kept({
  nodes: listed,
  pods: listed,
  persistentvolumeclaims: listed,
  persistentvolumes: listed,
  volumeattachments: listed,
  csidrivers: listed,
  csinodes: listed,
})

export type ClusterResource = keyof ShapeOf<typeof lists>

/** Without these whole, nobody can say that no pod wants a volume, or that no node uses it (S2, S3). */
export const DETACH_LISTS: readonly ClusterResource[] = ['pods', 'nodes', 'volumeattachments']
/** Without these whole, a volume that only one node may have could be attached a second time (S30). */
export const ATTACH_LISTS: readonly ClusterResource[] = [...DETACH_LISTS, 'persistentvolumes']

/** Absent: the server did not say. */
const rights = kept({ createAttachments: flag, deleteAttachments: flag })

/** Everything but the records: the first line of a snapshot. */
export const snapshotHead = kept({
  apiVersion: needed(oneOf('volctl.io/v1')),
  kind: needed(oneOf('ClusterSnapshot')),
  /** The server's clock when the reading began. */
  capturedAt: needed(time),
  /** The server did not show its clock: capturedAt is by the clock of this machine, and no time is judged by that. */
  clockUnknown: oneOf(true),
  server: needed(text),
  /** UID of the namespace kube-system: the same for every address of this cluster. Absent: not readable. */
  clusterUID: text,
  insecure,
  user: text,
  lists: needed(lists),
  errors: needed(keptList(writtenError)),
  rights: needed(rights),
  controller: needed(controller),
  /** All pods that were listed. */
  podCount: needed(count),
  /** Leases in kube-node-lease whose Node is not in the list, and the latest time that they show; absent: not readable. */
  lostNodes: keptObjects({ name: needed(text), leaseRenewTime: text }),
})

export interface SnapshotHead extends ShapeOf<typeof snapshotHead> {}

const csi = kept({
  /** `absent` only if the list is whole. */
  state: needed(oneOf('known', 'absent', 'unknown')),
  drivers: keptObjects({
    name: needed(text),
    /** N67: allocatable.count; absent: no limit is known. */
    limit: number,
  }),
})

const named = { name: needed(text), uid: needed(text) }
const times = { createdAt: text, deletedAt: text }

const node = kept({
  ...named,
  ...times,
  resourceVersion: needed(text),
  /** R702: the annotation's key counts, whatever its value. */
  managed: needed(flag),
  /** Status of the condition Ready; absent: there is none. */
  ready: text,
  readySince: text,
  heartbeat: text,
  /** renewTime of kube-node-lease/NAME, where it was readable: by the clock of the node. */
  leaseRenewTime: text,
  /** When that lease was last written, by the clock of the API server, where that is clearly later: the node's clock is behind. */
  leaseWrittenAt: text,
  /** R725: a taint with key node.kubernetes.io/out-of-service, any effect, any value. */
  outOfService: needed(flag),
  /** Absent: the status has no such field. */
  volumesInUse: texts,
  volumesAttached: texts,
  /** The CSINode. */
  csi: needed(csi),
})

export interface ClusterNode extends ShapeOf<typeof node> {}

const claimedVolume = kept({ name: needed(text), claim: needed(text), ephemeral: oneOf(true) })
const inlineVolume = kept({ name: needed(text), source: needed(podVolumeShape) })

/** A claim, or an inline source that could be attached. Sources that never are (config maps, CSI inline …) are left out. */
export type ClusterPodVolume = ShapeOf<typeof claimedVolume> | ShapeOf<typeof inlineVolume>

const podVolume: Shape<ClusterPodVolume> = (value, at) =>
  Object.hasOwn((value ?? {}) as object, 'source') ? inlineVolume(value, at) : claimedVolume(value, at)

const pod = kept({
  ...named,
  ...times,
  namespace: needed(text),
  /** spec.nodeName; absent: not scheduled, as in snapshots of before. */
  node: text,
  /** R221: the controller counts the pod as terminated. */
  terminated: needed(flag),
  /** Some container of the pod runs or ran. */
  started: needed(flag),
  volumes: needed(keptList(podVolume)),
})

export interface ClusterPod extends ShapeOf<typeof pod> {}

const volume = kept({
  ...named,
  deletedAt: text,
  finalizers: texts,
  phase: text,
  claim: kept({ namespace: needed(text), name: needed(text), uid: text }),
  accessModes: needed(texts),
  /** After translation to CSI (R150); absent with `problem`. */
  plugin: text,
  uniqueName: text,
  driver: text,
  handle: text,
  attachability: needed(oneOf<Attachability>('attachable', 'notAttachable', 'unknown')),
  /** Why no plugin can name the volume. */
  problem: text,
})

export interface ClusterVolume extends ShapeOf<typeof volume> {}

const attachError = kept({ message: needed(text) })

const attachment = kept({
  ...named,
  ...times,
  resourceVersion: needed(text),
  finalizers: texts,
  attacher: needed(text),
  node: needed(text),
  persistentVolume: text,
  /** Handle in the inline source, if it has one. */
  inline: kept({ driver: text, handle: text }),
  /** Absent: status says nothing. */
  attached: flag,
  attachError,
  detachError: attachError,
  /** It has the annotation volctl.io/created-by: a sign of volctl, and not of a controller. */
  byVolctl: oneOf(true),
})

export interface ClusterAttachment extends ShapeOf<typeof attachment> {}

const driver = kept({
  name: needed(text),
  /** Absent: the object does not say, which means true (C35). */
  attachRequired: flag,
})

/** Everything that was read of one cluster. */
export interface ClusterState extends SnapshotHead {
  readonly nodes: readonly ClusterNode[]
  /** Only pods of a node, with a volume that could be attached: of the others `podCount` has the number. */
  readonly pods: readonly ClusterPod[]
  readonly claims: readonly ClaimFacts[]
  readonly volumes: readonly ClusterVolume[]
  readonly attachments: readonly ClusterAttachment[]
  readonly drivers: readonly ShapeOf<typeof driver>[]
  /** Leases of external attachers, where they were readable. */
  readonly attachers: readonly LeaseEvidence[]
}

/** The lists of a snapshot: a line for each record. */
export type RecordList = Exclude<keyof ClusterState, keyof SnapshotHead>

/** The shape of a record of each list, in the order in which the lists are written. */
export const RECORDS: { readonly [List in RecordList]: Shape<ClusterState[List][number]> } = {
  nodes: node,
  pods: pod,
  claims: claimFactsShape,
  volumes: volume,
  attachments: attachment,
  drivers: driver,
  attachers: lease,
}

export const RECORD_LISTS = Object.keys(RECORDS) as readonly RecordList[]

// The objects by name, and whether one that is not there is shown to be absent (S3).

/** A list that has a name twice contradicts itself: it was not read as a whole (S3). */
export function doubtTwice(state: ClusterState): ClusterState {
  const { nodes, claims: persistentvolumeclaims, volumes: persistentvolumes, attachments: volumeattachments } = state
  const { drivers: csidrivers, pods } = state
  const lists = { nodes, persistentvolumeclaims, persistentvolumes, volumeattachments, csidrivers, pods }
  const errors = Object.entries<readonly ObjectKey[]>(lists).flatMap(([resource, list]): ApiReadError[] => {
    const names = new Set<string>()
    const twice = list.map(nameOf).find((name) => names.size === names.add(name).size)
    if (twice === undefined || state.errors.some((each) => each.resource === resource)) return []
    return [{ resource, status: 200, reason: 'Duplicate', message: `the list has ${twice} twice` }]
  })
  return errors.length === 0 ? state : { ...state, errors: [...state.errors, ...errors] }
}

export type ClusterObjects = ReturnType<typeof clusterObjects>

/** @param state a list that it lacks has no objects */
export function clusterObjects({
  lists,
  errors,
  ...state
}: Pick<ClusterState, 'lists' | 'errors'> & Partial<ClusterState>) {
  /** Consistent, all pages, all namespaces, and no error that could be about one of its objects (S2, S3). */
  const isWhole = (resource: ClusterResource): boolean =>
    lists[resource]?.state === 'whole' && !errors.some((each) => each.resource === resource)
  const finder = <T extends ObjectKey>(resource: ClusterResource, objects: readonly T[] = []) => {
    const byName = new Map(objects.map((object) => [nameOf(object), object]))
    return (...path: readonly string[]): Lookup<T> => {
      const object = byName.get(path.join('/'))
      if (object !== undefined) return { state: 'Found', object }
      return isWhole(resource) ? { state: 'Absent' } : NOT_READ
    }
  }
  const driver = finder('csidrivers', state.drivers)
  return {
    isWhole,
    node: finder('nodes', state.nodes),
    /** By its namespace and its name. */
    claim: finder('persistentvolumeclaims', state.claims),
    volume: finder('persistentvolumes', state.volumes),
    attachment: finder('volumeattachments', state.attachments),
    /** As what names volumes asks for it. */
    csiDriver: (name: string) =>
      mapFound(driver(name), ({ attachRequired }): Pick<CsiDriver, 'spec'> => ({ spec: { attachRequired } })),
  }
}

function nameOf({ namespace, name }: ObjectKey): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

// Times of a cluster's objects: RFC 3339 text to milliseconds.

/** Undefined: there is none, or it is no time; Go writes year 1 for "never" (S28). */
export function timeOf(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? '')
  return Number.isNaN(time) || time <= 0 ? undefined : time
}

/** The API server's clock when the reading began; undefined: not known. */
export function serverTime({ capturedAt, clockUnknown }: ClusterState): number | undefined {
  return clockUnknown === true ? undefined : timeOf(capturedAt)
}

/** The newest of some times, as text; undefined if one of them is not known: what is not known was just now (S28). */
export function newestOf(times: readonly (string | undefined)[]): string | undefined {
  if (times.some((each) => timeOf(each) === undefined)) return undefined
  return times.toSorted((a, b) => (timeOf(b) ?? 0) - (timeOf(a) ?? 0))[0]
}

/** When the holder of a lease was heard last: by its own clock, or by that of the API server where known. A time that is missing says nothing. */
export function heardAt({ renewTime, writtenAt }: Pick<LeaseEvidence, 'renewTime' | 'writtenAt'>): string | undefined {
  return newestOf([renewTime, writtenAt].filter((time) => timeOf(time) !== undefined))
}

/** The same of a node's kubelet. */
export function kubeletHeardAt({ leaseRenewTime, leaseWrittenAt }: Partial<ClusterNode>): string | undefined {
  return heardAt({ renewTime: leaseRenewTime, writtenAt: leaseWrittenAt })
}

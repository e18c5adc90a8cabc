/** The shapes of a cluster snapshot's lines, which the pass relies on without checking. */
import {
  anything,
  count,
  flag,
  kept,
  keptList,
  needed,
  number,
  oneOf,
  type Shape,
  text,
  time,
} from '../../json/shape.ts'
import { podVolumeShape } from '../../model/objects.ts'
import type { ApiReadError } from '../../model/snapshot.ts'
import type {
  AttachmentError,
  ClusterAttachment,
  ClusterClaim,
  ClusterDriver,
  ClusterNode,
  ClusterPod,
  ClusterPodVolume,
  ClusterResource,
  ClusterState,
  ClusterVolume,
  ControllerWrite,
  LeaseEvidence,
  ListSight,
  NodeDriver,
} from '../model/cluster-state.ts'

/** The lists of a snapshot: a line for each record. */
export type RecordList = 'nodes' | 'pods' | 'claims' | 'volumes' | 'attachments' | 'drivers' | 'attachers'

/** Everything but the records, in the first line. */
export type SnapshotHead = Omit<ClusterState, RecordList>

const texts = keptList(text)

const lease = kept<LeaseEvidence>({
  name: needed(text),
  holder: text,
  renewTime: text,
  writtenAt: text,
  durationSeconds: number,
})

const write = kept<ControllerWrite>({ manager: needed(text), object: needed(text), time: needed(text) })

const sight = kept<ListSight>({
  state: needed(oneOf<ListSight['state']>('whole', 'part', 'failed')),
  resourceVersion: text,
  count: needed(count),
})

const lists = kept<Record<ClusterResource, ListSight>>({
  nodes: needed(sight),
  pods: needed(sight),
  persistentvolumeclaims: needed(sight),
  persistentvolumes: needed(sight),
  volumeattachments: needed(sight),
  csidrivers: needed(sight),
  csinodes: needed(sight),
})

const readError = kept<ApiReadError>({
  resource: needed(text),
  namespace: text,
  name: text,
  status: needed(number),
  reason: needed(text),
  message: needed(text),
})

export const snapshotHead: Shape<SnapshotHead> = kept<SnapshotHead>({
  apiVersion: needed(oneOf('volctl.io/v1')),
  kind: needed(oneOf('ClusterSnapshot')),
  capturedAt: needed(time),
  clockUnknown: oneOf(true),
  clockSpreadMs: number,
  server: needed(text),
  clusterUID: text,
  insecure: oneOf('TlsNotVerified', 'PlainHttp'),
  user: text,
  serverVersion: text,
  lists: needed(lists),
  errors: needed(keptList(readError)),
  rights: needed(kept({ createAttachments: flag, deleteAttachments: flag, patchAttachments: flag })),
  controller: needed(
    kept({
      lease,
      leaseProblem: text,
      leaseAtEnd: lease,
      otherLeases: keptList(lease),
      writes: keptList(write),
      changes: texts,
    }),
  ),
  podCount: needed(count),
  lostNodes: keptList(kept({ name: needed(text), leaseRenewTime: text })),
})

const nodeDriver = kept<NodeDriver>({ name: needed(text), nodeID: needed(text), limit: number })

const node = kept<ClusterNode>({
  name: needed(text),
  uid: needed(text),
  resourceVersion: needed(text),
  createdAt: text,
  deletedAt: text,
  managed: needed(flag),
  keepsTerminated: needed(flag),
  ready: text,
  readySince: text,
  heartbeat: text,
  leaseRenewTime: text,
  leaseWrittenAt: text,
  outOfService: needed(flag),
  kubeletVersion: text,
  machineID: text,
  systemUUID: text,
  bootID: text,
  volumesInUse: texts,
  volumesAttached: texts,
  csi: needed(csiOfNode()),
})

function csiOfNode(): Shape<ClusterNode['csi']> {
  const known = kept<Extract<ClusterNode['csi'], { state: 'known' }>>({
    state: needed(oneOf('known')),
    drivers: needed(keptList(nodeDriver)),
    migrated: needed(texts),
  })
  const other = kept<Exclude<ClusterNode['csi'], { state: 'known' }>>({ state: needed(oneOf('absent', 'unknown')) })
  return (value, at) => ((value as { state?: unknown } | null)?.state === 'known' ? known(value, at) : other(value, at))
}

function podVolumeOf(): Shape<ClusterPodVolume> {
  const claimed = kept<Extract<ClusterPodVolume, { claim: string }>>({
    name: needed(text),
    claim: needed(text),
    ephemeral: oneOf(true),
  })
  const inline = kept<Extract<ClusterPodVolume, { source: unknown }>>({
    name: needed(text),
    source: needed(podVolumeShape),
  })
  return (value, at) => (Object.hasOwn((value ?? {}) as object, 'source') ? inline(value, at) : claimed(value, at))
}

const pod = kept<ClusterPod>({
  namespace: needed(text),
  name: needed(text),
  uid: needed(text),
  createdAt: text,
  deletedAt: text,
  node: text,
  phase: text,
  terminated: needed(flag),
  started: needed(flag),
  waiting: text,
  unschedulable: text,
  owner: kept({ kind: needed(text), name: needed(text) }),
  volumes: needed(keptList(podVolumeOf())),
})

const claim = kept<ClusterClaim>({
  namespace: needed(text),
  name: needed(text),
  uid: needed(text),
  deletedAt: text,
  finalizers: texts,
  volumeName: text,
  phase: text,
  wasBound: needed(flag),
  ownerUid: text,
  storageClass: text,
})

const volume = kept<ClusterVolume>({
  name: needed(text),
  uid: needed(text),
  deletedAt: text,
  finalizers: texts,
  phase: text,
  claim: kept({ namespace: needed(text), name: needed(text), uid: text }),
  accessModes: needed(texts),
  reclaimPolicy: text,
  plugin: text,
  uniqueName: text,
  driver: text,
  handle: text,
  attachability: needed(oneOf<ClusterVolume['attachability']>('attachable', 'notAttachable', 'unknown')),
  migratedFrom: text,
  problem: text,
})

const attachError = kept<AttachmentError>({ message: needed(text), time: text })

const attachment = kept<ClusterAttachment>({
  name: needed(text),
  uid: needed(text),
  resourceVersion: needed(text),
  createdAt: text,
  deletedAt: text,
  finalizers: texts,
  attacher: needed(text),
  node: needed(text),
  persistentVolume: text,
  inline: kept({ driver: text, handle: text, spec: anything as Shape<never> }),
  attached: flag,
  attachError,
  detachError: attachError,
  byVolctl: oneOf(true),
})

const driver = kept<ClusterDriver>({ name: needed(text), attachRequired: flag })

type Shapes = { readonly [List in RecordList]: Shape<ClusterState[List][number]> }

/** The shape of a record of each list, in the order in which the lists are written. */
export const RECORDS: Shapes = {
  nodes: node,
  pods: pod,
  claims: claim,
  volumes: volume,
  attachments: attachment,
  drivers: driver,
  attachers: lease,
}

export const RECORD_LISTS = Object.keys(RECORDS) as readonly RecordList[]

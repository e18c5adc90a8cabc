/**
 * Everything a plan is computed from, as one JSON document (contract, "Snapshot").
 *
 * Live and offline use this same shape: the live source collects a NodeSnapshot, `volctl snapshot` writes it down,
 * `--snapshot` reads it back. Optional sections are sections that a snapshot may lack: the plan then says what it
 * cannot know and stays as cautious as for a source that failed.
 *
 * The shape demands what the planner relies on without checking: if such a part is missing or of another type, a pass would
 * stop in the middle, or take what it cannot see for absent. Other fields are kept unchecked.
 */

import {
  ATTACHMENTS,
  CLAIMS,
  CONFIG_MAPS,
  CSI_DRIVERS,
  CSI_NODES,
  LEASES,
  NODES,
  PODS,
  secretDigestShape,
  VOLUMES,
} from '../kube/api/objects.ts'
import { type ApiReadError, insecure, writtenError } from '../kube/api/resources.ts'
import type { MountTable } from '../linux/mount-table.ts'
import { type PathType, plainPath } from '../linux/paths.ts'
import type { UsingProcess } from '../messages/findings.ts'
import { csiSocket, runtime } from '../rpc/endpoints.ts'
import { about, named } from '../trust/json-schema.ts'
import {
  anything,
  count,
  fail,
  flag,
  hint,
  kept,
  keptList,
  keptObjects,
  keptRecord,
  needed,
  nullable,
  number,
  oneOf,
  type Shape,
  type ShapeOf,
  schemaOf,
  text,
  time,
  unneeded,
  withSchema,
  word,
} from '../trust/shape.ts'

/** An empty text says no more than a missing one. */
const filled: Shape<string> = withSchema(
  (value, at) => (value === '' ? fail(at, 'there', undefined) : text(value, at)),
  () => ({ type: 'string', minLength: 1 }),
)

const rootDirectory: Shape<string> = withSchema(
  (value, at) => {
    const path = filled(value, at)
    if (!path.startsWith('/')) return fail(at, 'an absolute path', value)
    return plainPath(path) === '/' ? fail(at, 'a directory other than /', value) : path
  },
  () => ({ type: 'string', pattern: '^/.' }),
)

/** Other tools write them differently; an entry that volctl does not understand makes everything unknown (`readFailures`). */
const readError = withSchema(
  (value) => value as ApiReadError,
  (defs) => schemaOf(writtenError, defs),
)

const podElsewhere = kept({
  namespace: needed(text),
  name: needed(text),
  uid: needed(text),
  phase: text,
  /** RFC 3339. */
  deletionTimestamp: text,
  /** Names of claims in its namespace; only those that pods here have or want. */
  claims: needed(keptList(text)),
})

/** A pod of another node that refers to claims which pods here have or want (R743). */
export interface PodElsewhere extends ShapeOf<typeof podElsewhere> {}

const nodeElsewhere = kept({
  name: needed(text),
  /** Unique names of such volumes in its node.status, for plugins that have no VolumeAttachment. */
  attached: keptList(text),
  /** Absent: not asked, or `problem` says why they are unknown. */
  pods: keptList(podElsewhere),
  problem: text,
})

/** Another node that has a volume which a pod here has or wants, and which only one node may have (S30). */
export interface NodeElsewhere extends ShapeOf<typeof nodeElsewhere> {}

const elsewhere = kept({
  nodes: needed(keptList(nodeElsewhere)),
  /** Why the status of other nodes could not be read, which lists attachments without a VolumeAttachment. */
  problem: text,
})

/** What other nodes were asked, because a pod here waits for, or has, a volume that may be theirs. */
export interface Elsewhere extends ShapeOf<typeof elsewhere> {}

const api = kept({
  server: unneeded(text),
  /** Absent: the server was verified. */
  insecure,
  /** `kubelet` for a node identity (Node authorizer), otherwise a word of the source's own, e.g. `admin`. */
  credential: unneeded(text),
  /** The authenticated user's name, if the server gave it. */
  user: text,
  /** resourceVersion of the pod list. */
  resourceVersion: text,
  node: unneeded(nullable(named('node', NODES.shape))),
  pods: needed(keptList(named('pod', PODS.shape))),
  persistentVolumeClaims: needed(keptList(named('claim', CLAIMS.shape))),
  persistentVolumes: needed(keptList(named('persistentVolume', VOLUMES.shape))),
  volumeAttachments: needed(keptList(named('volumeAttachment', ATTACHMENTS.shape))),
  csiDrivers: needed(keptList(named('csiDriver', CSI_DRIVERS.shape))),
  csiNode: unneeded(nullable(named('csiNode', CSI_NODES.shape))),
  configMaps: needed(keptList(named('configMap', CONFIG_MAPS.shape))),
  secrets: needed(keptList(named('secret', secretDigestShape))),
  errors: needed(keptList(readError)),
  /** The node's lease; absent: there is none, or it was not readable (S11). */
  lease: LEASES.shape,
  /** RFC 3339: renewTime of the node's lease, where it was readable (S29). */
  leaseRenewTime: text,
  /** The API server's Date header minus the host's clock, in milliseconds (S28). */
  clockSkewMs: number,
  /** The second look at the pod list with the kubelet's own credential (S2); `problem`: it could not be taken. */
  podListCheck: kept({ source: unneeded(text), problem: text, insecure }),
  /** What the API server answered when asked whether this identity may delete VolumeAttachments. */
  mayDeleteVolumeAttachments: flag,
  /** Absent: there was nothing to ask. */
  elsewhere,
})

export interface ApiSnapshot extends ShapeOf<typeof api> {}

export type FileType = 'dir' | 'file' | 'link' | 'block' | 'char' | 'fifo' | 'socket'

const treeEntry = kept({
  /** Relative to the root directory; `.` is the root itself. */
  path: needed(text),
  type: needed(word<FileType>()),
  /** Octal text, e.g. "750". */
  mode: text,
  uid: number,
  gid: number,
  /** Bytes. */
  size: number,
  dev: number,
  ino: number,
  /** Seconds since the epoch. */
  mtime: number,
  target: text,
  /**
   * For a link in the kubelet's structure that volctl follows as the kubelet does: the target, absolute and without links.
   * Entries behind the link have paths below the link's own.
   */
  realPath: text,
  /** Text of a small state file (vol_data.json, iscsi.json). */
  content: text,
  /** HMAC of a file that an atomic writer wrote. */
  digest: text,
  /** Why this entry, or what is below it, could not be read. */
  error: text,
})

/**
 * One directory entry below the root directory. Of a mount point only path and type are known. The live source may leave
 * attributes out for entries that no decision looks at (pods that still run).
 */
export interface TreeEntry extends ShapeOf<typeof treeEntry> {}

const staticPods = kept({
  /** The kubelet's staticPodPath; absent or empty: none configured. */
  path: text,
  readable: needed(flag),
  manifests: needed(keptObjects({ file: needed(text), namespace: unneeded(text), name: needed(text), uid: text })),
})

export interface StaticPodsSnapshot extends ShapeOf<typeof staticPods> {}

export type StopShownBy = 'unit' | 'lease' | 'heartbeat' | 'nothing'

const kubelet = kept({
  running: needed(flag),
  /** A unit that is active, activating or restarting, or anything else that may start the kubelet again (S11). */
  mayReturn: needed(flag),
  /** RFC 3339; absent: long enough ago. */
  stoppedAt: text,
  /** What shows when it stopped; `nothing`: it counts as stopped just now (S11). */
  stopShownBy: word<StopShownBy>(),
  /** The kubelet's own node name, and what shows it; absent: not known, or as its flags say (S1). */
  nodeName: text,
  nodeNameFrom: word<'flag' | 'credential' | 'hostname'>(),
  pid: number,
  /** The systemd unit that runs the kubelet, or would start it: `kubelet.service`, `k3s.service`; absent: not known. */
  unit: text,
  /** Why --stop-kubelet would be refused, and what a person does then, in words and as a command (S35). */
  unstoppable: kept({ why: needed(text), remedy: needed(text), command: needed(keptList(text)) }),
  args: keptList(text),
  config: keptRecord(anything),
  /** Why the kubelet stays stopped, or what may start it again, in words (S31). */
  note: text,
})

export interface KubeletSnapshot extends ShapeOf<typeof kubelet> {}

const blockDevice = kept({
  name: needed(text),
  /** "/" or a text ending in " (deleted)" is unknown. */
  backingFile: text,
})

/** A file system that volctl detached lazily in this boot, and that is not shown to be gone (S20). */
const lazilyDetached = kept({
  /** Where it was mounted. */
  path: needed(text),
  /** "major:minor" */
  dev: unneeded(text),
  /** Unique name of its volume, otherwise its name. */
  volume: text,
})

const lazyMemory = kept({
  /** The file that would show it. */
  path: needed(text),
  why: needed(text),
})

/** Why it is unknown what was detached lazily (S20). */
export interface LazyMemoryDefect extends ShapeOf<typeof lazyMemory> {}

const flexDriver = kept({
  /** vendor/driver, or the directory's name where it has no vendor. */
  name: needed(text),
  /** Absolute. */
  executable: unneeded(text),
  /** Why it cannot be run. */
  error: text,
})

/** A flexVolume driver that is installed where this node's kubelet looks (P85). */
export interface FlexDriver extends ShapeOf<typeof flexDriver> {}

const hostPath = kept({
  path: needed(text),
  /** Links followed; absent: it could not be looked at. */
  type: word<PathType | 'absent'>(),
  /** Why not; "Timeout" where it did not answer. */
  error: text,
})

/** The path of a hostPath volume that has a type to be checked, of a pod that has nothing running (P58). */
export interface HostPath extends ShapeOf<typeof hostPath> {}

const selinux = kept({
  enabled: unneeded(flag),
  /**
   * The label that its policy gives a container's files, e.g. `system_u:object_r:container_file_t:s0`; absent: it says
   * nothing.
   */
  fileLabel: text,
  /** Why the policy could not be read. */
  error: text,
})

/** SELinux of the host (C68). */
export interface Selinux extends ShapeOf<typeof selinux> {}

/** A process or a file that someone other than root may control: volctl went on as if it did not exist. */
const notBelieved = kept({
  /** `process 812 (kubelet)`, or a path. */
  what: needed(text),
  why: needed(text),
  hint: needed(hint),
  /** The kubelet would use this file: what it says, and what it protects, is unknown (S8, S10). */
  unknown: oneOf(true),
})

const inUse = kept({
  /** The kind of the operation that it stops. */
  kind: needed(text),
  /** What that operation would take away: its first path, or `volumeattachments/NAME`. */
  target: needed(text),
  /** `HeldBy`; `UsersUnknown`, `DeviceUnknown`: what cannot be known counts as in use (S3). */
  code: needed(word<'HeldBy' | 'UsersUnknown' | 'DeviceUnknown'>()),
  message: needed(text),
  hint,
  /** Processes that the message names or counts. Absent: none, or by an earlier volctl. */
  users: keptList<UsingProcess>(kept({ pid: needed(count), process: needed(text) })),
})

/** What an operation of this node's plan would take away, and who uses it: what an apply would be stopped by. */
export interface InUse extends ShapeOf<typeof inUse> {}

const wholeSnapshot = kept({
  apiVersion: needed(oneOf('volctl.io/v1')),
  kind: needed(oneOf('NodeSnapshot')),
  capturedAt: needed(time),
  nodeName: needed(filled),
  rootDir: needed(rootDirectory),
  bootID: text,
  /** RFC 3339. */
  bootTime: text,
  machineID: text,
  systemUUID: text,
  kernelVersion: text,
  /** The look was taken from within a user namespace; absent: it was not. */
  userNamespace: flag,
  api,
  mountinfo: text,
  tree: keptList(treeEntry),
  runtime,
  /** UIDs of this node's pods that have a process. */
  processes: keptList(text),
  /** The same of kubelets that run in a pod or a container of this node (S9); absent: none. */
  nestedProcesses: keptList(text),
  deadMounts: keptObjects({ path: needed(text), error: unneeded(text) }),
  staticPods,
  kubelet,
  blockDevices: keptList(blockDevice),
  csiSockets: keptList(csiSocket),
  /** Absent: the drivers' directory was not read. */
  flexDrivers: keptList(flexDriver),
  /** Absent: there was none to look at, or it was not read. */
  hostPaths: keptList(hostPath),
  /** Absent: not read. */
  selinux,
  /** What was found and ignored (S32, S33); absent: nothing. */
  notBelieved: keptList(notBelieved),
  /** Absent: `lazilyDetached` is complete. */
  lazyMemory,
  /** Absent: there is none. */
  lazilyDetached: keptList(lazilyDetached),
  /** What is in use of all that a plan of this node would take away. Absent: nobody has looked. */
  inUse: keptList(inUse),
})

export interface NodeSnapshot extends ShapeOf<typeof wholeSnapshot> {}

export const snapshotShape: Shape<NodeSnapshot> = about(
  'Everything that a plan is computed from: `volctl snapshot`. Of objects of the API only the fields that volctl decides by are described. Fields may be added in any version; none is removed or changes its meaning without a word in the change log.',
  wholeSnapshot,
)

/** One look at a node: what every plan is computed from. Live or from a file, it is the same value. */
export interface NodeState {
  readonly snapshot: NodeSnapshot
  readonly mounts: MountTable
}

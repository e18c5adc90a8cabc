/** Which operations there are, and which steps they are made of. */

/** By kind: its group for --only and --skip (contract), what it comes to, and the verb for that. */
export const OPERATIONS = {
  UnmountVolume: { group: 'unmount', work: 'down', verb: 'unmount' },
  UnmapVolume: { group: 'unmount', work: 'down', verb: 'unmap' },
  CleanOrphanVolume: { group: 'unmount', work: 'down', verb: 'clean up' },
  MountVolume: { group: 'mount', work: 'up', verb: 'set up' },
  MapVolume: { group: 'mount', work: 'up', verb: 'set up' },
  RemountVolume: { group: 'remount', work: 'refresh', verb: 'write again' },
  ExpandVolume: { group: 'expand', work: 'grow', verb: 'grow' },
  AttachVolume: { group: 'attach', work: 'up', verb: 'attach' },
  UnmountDevice: { group: 'device', work: 'down', verb: 'unstage' },
  UnmapDevice: { group: 'device', work: 'down', verb: 'unmap' },
  DetachVolume: { group: 'detach', work: 'down', verb: 'detach' },
  RemoveOrphanPodDir: { group: 'orphans', work: 'directories', verb: 'remove' },
} as const

export type OperationKind = keyof typeof OPERATIONS

export const OPERATION_KINDS = Object.keys(OPERATIONS) as readonly OperationKind[]

/** Kinds that take something away: a mount, a map, a device, an attachment, content, a directory. */
export const TAKING_AWAY: ReadonlySet<OperationKind> = new Set(
  OPERATION_KINDS.filter((kind) => ['down', 'directories'].includes(OPERATIONS[kind].work)),
)

/** Kinds that give a pod a volume that it lacks. */
export const SETTING_UP: ReadonlySet<OperationKind> = new Set(['MountVolume', 'MapVolume'])

export const OPERATION_GROUPS: ReadonlyMap<string, readonly OperationKind[]> = Map.groupBy(
  OPERATION_KINDS,
  (kind) => OPERATIONS[kind].group,
)

/**
 * What each op does to the step's `target`, the one absolute path or object acted on, and which other fields it can have. An
 * op means one thing: `apply/step-table.ts` has one function for each.
 */
export const STEP_FIELDS = {
  /** Takes one layer off what is mounted on `target`. detail: how, e.g. "force", "lazy". */
  umount: ['detail'],
  /** Removes the empty directory. */
  rmdir: [],
  /** Removes the file or link. */
  unlink: [],
  /** Deletes everything below `target`, by descriptors (S12); `target` itself stays. */
  deleteContent: [],
  /** The CSI driver's call. */
  NodeUnpublishVolume: [],
  /** The CSI driver's call. */
  NodeUnstageVolume: [],
  /** Releases the loop device `target`. */
  'losetup -d': [],
  /** The flexVolume driver's call "unmount" (P87). detail: its executable. */
  flexUnmount: ['detail'],
  /** The flexVolume driver's call "unmountdevice" (P87). detail: its executable. */
  flexUnmountDevice: ['detail'],
  /**
   * Flushes and removes the SCSI disks of the FC volume whose global directory `target` is, if nothing uses the disks (P81,
   * S25).
   */
  removeFcDisks: [],
  /** The same for an iSCSI volume (P76, S25). */
  removeIscsiDisks: [],
  /**
   * Ends the sessions of the iSCSI volume whose global directory `target` is, if no other LUN of these sessions is in use
   * (P76, S25).
   */
  iscsiLogout: ['detail'],
  /** DELETE of `volumeattachments/NAME` in the API, with uid and resourceVersion as preconditions. */
  deleteVolumeAttachment: [],
  /**
   * Makes `target` and its missing parents. detail "exact": sets the mode even if `target` exists, and whatever the umask.
   */
  mkdir: ['mode', 'detail'],
  /** mount(8) on the directory or file `target`; a bind mount with options takes two calls. */
  mount: ['source', 'fsType', 'options'],
  /**
   * Looks at the device, checks its file system and mounts it, never formats (S15, P128); does nothing if `source` is a
   * directory.
   */
  mountDevice: ['detail', 'source', 'fsType', 'options'],
  /** Binds the device on the pod's file in the volume's map directory, so that the pod gets it as a device (P98). */
  mapDevice: ['source'],
  /** The pod's link to a device. */
  symlink: ['source'],
  /** A loop device on the mapped device `target` holds it open (P99). */
  'losetup -f': [],
  /**
   * Writes the content of a configMap, secret, downwardAPI or projected volume, as a new generation behind the link `target`
   * (..data).
   */
  writeContent: [],
  /** Writes the empty file that marks an emptyDir as set up (P21). */
  writeMarker: [],
  /** Writes vol_data.json, which a kubelet later needs to call the CSI driver (C13). */
  writeVolumeData: ['label'],
  /** Applies fsGroup (P31). */
  setOwnership: ['ownership'],
  /** Checks the type of a hostPath (detail), and creates the path if it is missing and the type says so. */
  checkPath: ['detail'],
  /** The CSI driver's call. */
  NodeStageVolume: ['label'],
  /** The CSI driver's call. */
  NodePublishVolume: ['label'],
  /** The CSI driver's call, and the claim's status before and after it (R458, R459). */
  NodeExpandVolume: [],
  /** Grows the file system on a local volume's device (P131), and writes the claim's status before and after it. */
  growFileSystem: [],
} as const

export type StepOp = keyof typeof STEP_FIELDS

/** States of the verdicts on the rows of a status, the worst first: they are sorted in this order. */
export const VERDICT_STATES = [
  'error',
  'blocked',
  'unknown',
  'waiting',
  'operation',
  'notAsked',
  'warning',
  'kept',
  'good',
] as const

/** States of the verdicts of explain. */
export const EXPLAINED_STATES = ['problem', 'blocked', 'waiting', 'operation', 'nothing'] as const

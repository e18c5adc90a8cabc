/** The steps that an operation is made of: what is done to a volume, as data. */
import type { MountInfo } from '../linux/mount-table.ts'
import { ownership } from '../linux/ownership.ts'
import { about, maybe, named } from '../trust/json-schema.ts'
import {
  integer,
  keyOf,
  list,
  matching,
  type ObjectOf,
  object,
  optional,
  type Shape,
  type ShapeOf,
  text,
} from '../trust/shape.ts'
import { path } from './finding.ts'

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

/** Beside `op` and `target`; STEP_FIELDS says which op has which. */
const stepFields = {
  /** How, or by what. */
  detail: optional(text),
  source: maybe('What is mounted, or linked to; absent: the device that an earlier step has found.', text),
  fsType: maybe('Of a mount; absent: a bind mount, or ext4 on a device.', text),
  options: maybe('Mount options, in their order.', list(text)),
  /** "0750" */
  mode: maybe('Mode of a new directory.', matching(/^[0-7]{4}$/, 'an octal mode')),
  ownership: maybe('fsGroup of a volume.', ownership),
  /** C68; absent: none. */
  label: maybe('SELinux label of the files of a CSI volume.', text),
} satisfies Record<(typeof STEP_FIELDS)[StepOp][number], unknown>

type StepFields = Required<ObjectOf<typeof stepFields>>

/** A step of one op: a field that the op does not have cannot be given. */
export type StepOf<Op extends StepOp> = {
  readonly op: Op
  readonly target: string
} & {
  readonly [Field in keyof StepFields]?: Field extends (typeof STEP_FIELDS)[Op][number] ? StepFields[Field] : never
}

export type Step = { readonly [Op in StepOp]: StepOf<Op> }[StepOp]

const fieldsOfStep = object({
  op: keyOf(STEP_FIELDS),
  target: about('The one absolute path or object acted on.', text),
  ...stepFields,
})

/** A field that a step of this op has not is one that the fresh plan's step has not. */
export const step = named('step', fieldsOfStep as Shape<Step>)

export const expects = object({
  path,
  /** Oldest first: every layer on the path. */
  layers: list(object({ id: integer, dev: text, root: text, fsType: text, source: optional(text) })),
})

/** The mounts that a mount step was decided on; apply compares them with a fresh table (S26, S27). */
export interface ExpectedMount extends ShapeOf<typeof expects> {}

/** The mounts that an operation was decided on, for comparison by apply (S26, S27). */
export function expectedMount(path: string, layers: readonly MountInfo[]): ExpectedMount {
  return { path, layers: layers.map(({ id, dev, root, fsType, source }) => ({ id, dev, root, fsType, source })) }
}

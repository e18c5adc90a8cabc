/** The shape of a plan's operation, for reading and for the schema. The types ensure that no field is forgotten. */

import type { VolumeMode } from '../facts/actual/volume-names.ts'
import { ownership } from '../linux/ownership.ts'
import type { Place } from '../messages/code-entry.ts'
import { type CodesIn, codesIn } from '../messages/codes.ts'
import { about, maybe, named } from '../trust/json-schema.ts'
import {
  count as anyCount,
  path as anyPath,
  code,
  flag,
  integer,
  keptRecord,
  keyOf,
  list,
  matching,
  type ObjectOf,
  object,
  oneOf,
  optional,
  type Shape,
  type ShapeOf,
  scalar,
  text,
} from '../trust/shape.ts'
import { OPERATION_KINDS, STEP_FIELDS, type StepOp } from './kinds.ts'
import { subject } from './subject.ts'

export const path = named('path', anyPath)
export const count = named('count', anyCount)
export const kind = named('kind', oneOf(...OPERATION_KINDS))

/** CamelCase: one of the known codes; any in the schema. */
export function codeOf<Code extends string>(known: readonly Code[]): Shape<Code> {
  return named('code', about('CamelCase, from the catalogue in volctl-codes(7).', code(known)))
}

const arg = scalar<string | number | undefined>(
  (value) => value === undefined || typeof value === 'string' || Number.isFinite(value),
  'text or a number',
  { type: ['string', 'number'] },
)

export const args = optional(
  about('What the sentence in the message is made of, by name; absent: it is a sentence of its own.', keptRecord(arg)),
)

/** What is said with a code: of whatever is blocked, refused, waits or is a problem. */
export function finding<Where extends Place>(where: Where) {
  return { code: codeOf<CodesIn<Where>>(codesIn(where)), message: text, args, hint: optional(text) }
}

const podFields = object({ namespace: optional(text), name: optional(text), uid: text })

export interface PodRef extends ShapeOf<typeof podFields> {}

export const pod = named('pod', podFields)

export const severity = oneOf('error', 'warning', 'info')

export type Severity = ShapeOf<typeof severity>

const identity = {
  uniqueName: optional(text),
  plugin: about('e.g. kubernetes.io/csi', text),
  driver: optional(text),
  handle: optional(text),
}

const objects = {
  claim: maybe('namespace/name', text),
  persistentVolume: optional(text),
  accessModes: optional(list(text)),
  attachedElsewhere: maybe('Other nodes with an attachment of this volume.', list(text)),
  attached: optional(flag),
  inUse: optional(flag),
}

/** What the API shows of a volume: all that a cluster's plan says of one. */
export const volumeInApi = object({ name: text, ...identity, ...objects })

const volumeFields = object({
  name: about('The spec name, as on disk.', text),
  /** pod.spec.volumes[].name, where the pod is known. */
  podVolumeName: optional(text),
  ...identity,
  mode: oneOf<VolumeMode>('Filesystem', 'Block'),
  /** S31: e.g. "vol_data.json", "the global mount's vol_data.json (same device)". */
  handleFrom: maybe('Where driver and handle came from.', text),
  ...objects,
  device: maybe('"major:minor source" of the mount.', text),
  givenDevice: maybe(
    'The value of --device for a volume to be unstaged, unmapped or detached: a device file, or none.',
    text,
  ),
})

export interface VolumeRef extends ShapeOf<typeof volumeFields> {}

export const volume = named('volume', volumeFields)

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
const step = named('step', fieldsOfStep as Shape<Step>)

const expects = object({
  path,
  /** Oldest first: every layer on the path. */
  layers: list(object({ id: integer, dev: text, root: text, fsType: text, source: optional(text) })),
})

/** The mounts that a mount step was decided on; apply compares them with a fresh table (S26, S27). */
export interface ExpectedMount extends ShapeOf<typeof expects> {}

const file = object({
  path,
  dev: integer,
  ino: integer,
  /** Bytes; for files only. */
  size: optional(count),
  /** Absent for a directory that is removed when empty, since emptying it changes the time. */
  mtime: maybe('Seconds since the epoch.', integer),
})

/** Identity of a file or directory: another one under the same name differs. */
export interface FileIdentity extends ShapeOf<typeof file> {}

const basis = object({
  /** Its uid may differ from the one on disk (S10). */
  pod: maybe(
    "The pod's object in the API, if there was one.",
    object({ listed: flag, uid: optional(text), resourceVersion: optional(text) }),
  ),
  /** Content below a mount is not known. */
  files: maybe('State files, and files that are removed or deleted.', list(file)),
})

/** The other facts that an operation was decided on, beside its mounts; apply compares them with a fresh look (S26). */
export interface Basis extends ShapeOf<typeof basis> {}

/** A mount whose server or daemon does not answer. */
const dead = object({ path, error: text })

/** Of what waits, and of a cause. */
export const until = maybe('RFC 3339: when it is over at the latest, where that is known.', text)

export const causeKey = maybe('Key of its cause in `summary.causes`.', text)

/** A process that uses what would be taken away. */
export const users = maybe(
  'Processes that use what would be taken away: those that `message` names, and those that it only counts.',
  list(object({ pid: anyCount, process: text })),
)

const obstacle = object({ ...finding('blocked'), users, cause: causeKey })

export interface Blocked extends ShapeOf<typeof obstacle> {}

const blocked = maybe('The operation is needed, but an obstacle that a person can remove stands in the way.', obstacle)

/** What an operation of a node and one of a cluster have. */
export const commonFields = {
  id: about('Stable for the same state.', text),
  kind,
  reason: codeOf(codesIn('reason')),
  message: text,
  /** Absent in a plan of an earlier volctl. */
  subject: optional(subject),
  paths: about('Every path that is mounted, unmounted, created or removed, by the driver as well.', list(path)),
  after: about('Ids of the operations that must succeed first.', list(text)),
  blocked,
  rule: text,
}

const wholeOperation = object({
  ...commonFields,
  podMessage: maybe(
    'The beginning of `message` if the reason is the pod: the same for all operations of the pod.',
    text,
  ),
  ownMessage: maybe('The rest of `message`: what is true of this operation alone.', text),
  podState: maybe("`podMessage` without the pod's name.", text),
  pod: optional(pod),
  volume: optional(volume),
  steps: list(step),
  deletes: maybe(
    'Data that the operation deletes.',
    object({
      files: count,
      bytes: count,
      counted: maybe(
        'The content cannot be counted without entering a mount; files and bytes are then 0.',
        oneOf(false),
      ),
    }),
  ),
  /** S31 */
  kubeletWould: maybe('What the kubelet would have done instead, where it differs.', text),
  /** In words: "transport endpoint is not connected (ENOTCONN)". */
  dead: maybe('Mounts of the operation whose server or daemon does not answer, with the error in words.', list(dead)),
  expects: maybe('The mounts that the operation was decided on.', list(expects)),
  basis: maybe('The other facts that the operation was decided on.', basis),
  attachment: maybe(
    'DetachVolume: the preconditions of the deletion.',
    object({ name: text, uid: text, resourceVersion: optional(text) }),
  ),
})

export interface Operation extends ShapeOf<typeof wholeOperation> {}

export const operation = named('operation', wholeOperation)

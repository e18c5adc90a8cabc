/** The shape of a plan's operation, for reading and for the schema. The types ensure that no field is forgotten. */

import { codesIn } from '../messages/codes.ts'
import { about, maybe, named } from '../trust/json-schema.ts'
import { flag, integer, list, object, oneOf, optional, type ShapeOf, text } from '../trust/shape.ts'
import { args, codeOf, count, obstacle, path, pod, subject } from '../volumes/finding.ts'
import { expects, step } from '../volumes/steps.ts'
import type { VolumeMode } from '../volumes/volume-names.ts'
import { OPERATION_KINDS } from './kinds.ts'

export const kind = named('kind', oneOf(...OPERATION_KINDS))

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

const blocked = maybe('The operation is needed, but an obstacle that a person can remove stands in the way.', obstacle)

/** What an operation of a node and one of a cluster have. */
export const commonFields = {
  id: about('Stable for the same state.', text),
  kind,
  reason: codeOf(codesIn('reason')),
  message: text,
  args,
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
  ownMessage: maybe('The rest of `message`: what is true of this operation alone. It is made of `args`.', text),
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

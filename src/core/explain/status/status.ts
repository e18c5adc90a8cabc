/**
 * What the kubelet's volume manager would answer about each volume of a node, with a verdict: data, drawn by a view
 * (contract, `volctl status`). Fields are stable once released; new ones may come.
 */
import { ALL_CODES } from '../../messages/codes.ts'
import { causes } from '../../plan/cause.ts'
import { VERDICT_STATES } from '../../plan/kinds.ts'
import { volume } from '../../plan/operation-shape.ts'
import { complete, kubeletInput, nextStep, problems, refused } from '../../plan/plan.ts'
import { about, maybe, named } from '../../trust/json-schema.ts'
import { flag, hint, keptRecord, list, object, oneOf, optional, type ShapeOf, text } from '../../trust/shape.ts'
import { codeOf, count, path, pod } from '../../volumes/finding.ts'

const code = codeOf(ALL_CODES)

const state = named(
  'state',
  about(
    'The worst first. error, warning: the plan reports a problem. blocked: something has to be done, and an obstacle stands in the way. unknown: it could not be judged. waiting: somebody else acts first. operation: volctl would act. notAsked: blocked only for a flag that was not given. kept: the pod is left alone, because it ends or may still run. good: as it should be.',
    oneOf(...VERDICT_STATES),
  ),
)

const verdict = object({
  state,
  code: maybe('Of the problem, obstacle or wait; of an operation its reason.', code),
  message: text,
  hint: optional(hint),
  rule: optional(text),
  also: about('What else the plan says about it, less bad.', list(code)),
})

export interface RowVerdict extends ShapeOf<typeof verdict> {}

const attachment = object({
  name: text,
  attached: flag,
  deleting: flag,
  error: maybe('The last attempt to attach or detach.', text),
})

const attach = object({
  /** R011, R816 */
  needed: about(
    'Does the volume have to be attached; unknown: the CSIDriver could not be read.',
    oneOf('attachable', 'notAttachable', 'unknown'),
  ),
  /** R814 */
  attached: about("Status and VolumeAttachment agree that it is attached here. The kubelet's VolumeIsAttached.", flag),
  nodeStatus: about('node.status.volumesAttached lists it.', flag),
  attachment: maybe("This node's VolumeAttachment.", attachment),
  elsewhere: about('Other nodes that have it attached.', list(text)),
})

export interface AttachState extends ShapeOf<typeof attach> {}

/** R314 */
const staged = oneOf('DeviceGloballyMounted', 'DeviceMountUncertain', 'DeviceNotMounted')
export type DeviceMountState = ShapeOf<typeof staged>

const row = about(
  'One volume of one pod; without `pod`: what of a volume is staged, mapped or attached on the node.',
  object({
    pod: optional(pod),
    volume,
    /** R004 */
    podVolumeNames: about(
      'pod.spec.volumes[].name: several, where the pod has one volume under several names.',
      list(text),
    ),
    /** S3, S4 */
    desired: about(
      'wanted: a pod that is meant to run has the volume. unresolved: wanted, but the claim or PersistentVolume could not be resolved. ended: of a pod in the API that has ended. unknown: of no pod as far as could be read, and not everything could be. notWanted: no pod in the API uses it.',
      oneOf('wanted', 'unresolved', 'ended', 'unknown', 'notWanted'),
    ),
    attach: maybe('Absent: nothing of the volume is ever attached.', attach),
    /** R330 */
    inUse: optional(
      object({
        computed: about('Should the kubelet report it: what its GetVolumesInUse would return.', flag),
        reported: about('node.status.volumesInUse lists it.', flag),
      }),
    ),
    staged: maybe("The kubelet's DeviceMountState. Absent: the volume has no mount or map of the node's own.", staged),
    /** R314 */
    mounted: maybe(
      "The kubelet's VolumeMountState: mounted and uncertain together are its GetPossiblyMountedVolumesForPod. Absent without a pod.",
      oneOf('VolumeMounted', 'VolumeMountUncertain', 'VolumeNotMounted'),
    ),
    mountsNothing: maybe('The kubelet mounts nothing for such a volume (hostPath, image).', oneOf(true)),
    dead: maybe('What a probe of a mount of it answered, where that is dead.', text),
    /** R319, R320 */
    due: about(
      'What a mounted volume waits for: the content or the size that the API says.',
      list(oneOf('remount', 'expand')),
    ),
    verdict: named('verdict', verdict),
    operations: about('Ids in the plan.', list(text)),
    causes: about('Keys of `causes` of the status, the worst first.', list(text)),
  }),
)

export interface StatusRow extends ShapeOf<typeof row> {}

export const statusShape = object({
  apiVersion: oneOf('volctl.io/v1'),
  kind: oneOf('Status'),
  node: text,
  rootDir: path,
  bootID: optional(text),
  createdAt: about('RFC 3339: when the node was looked at.', text),
  volctlVersion: text,
  kubelet: kubeletInput,
  rows: about('The worst first.', list(named('row', row))),
  problems: about('What the plan reports that is about none of these volumes.', problems),
  summary: object({
    volumes: about('Rows.', count),
    verdicts: about('Rows by the state of their verdict; a state without rows is absent.', keptRecord(count, state)),
    orphanedPods: about('Pods that were deleted from the API while something of them is left on the node.', count),
    filtered: about('Rows left out by names of pods, namespaces and volumes.', count),
  }),
  complete,
  causes,
  next: maybe(
    'What to type on this node, as in the plan; absent: nothing is left to do.',
    list(named('nextStep', nextStep)),
  ),
  refused: optional(refused),
})

export interface Status extends ShapeOf<typeof statusShape> {}

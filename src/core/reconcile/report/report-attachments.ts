/**
 * What is mounted here while the control plane believes otherwise: it may be attached elsewhere tomorrow, or is already, or the
 * disk may go from under the mount (O7, S30). The mount table alone shows nothing wrong.
 */

import { accessModesText, allowsSeveralNodes, isForOnePod } from '../../desired/access-modes.ts'
import { apiLookup } from '../../desired/api-lookup.ts'
import { defined } from '../../lang/defined.ts'
import { isPlainWord } from '../../lang/plain-word.ts'
import { attachmentName } from '../../names/volume-names.ts'
import type { Findings } from '../../plan/draft.ts'
import type { PlanContext } from '../context/context.ts'
import { describeNodes, freeHint, nodesWith } from '../obstacles/other-nodes.ts'
import { type PresentVolume, presentVolumes } from '../obstacles/present-volumes.ts'
import { whyNotManaged } from '../pods/kubelet-mode.ts'

export function reportAttachments(context: PlanContext, findings: Findings): void {
  const { api } = context.inputs.snapshot
  if (api === undefined) return
  const present = presentVolumes(context)
  for (const volume of present) {
    reportOtherWriters(context, findings, volume)
    reportOwnAttachment(context, findings, volume)
  }
  const outOfService = api.node?.spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/out-of-service')
  if (outOfService && present.length > 0) reportOutOfService(context, findings, present)
}

/** S30: more nodes, or more pods, than its access mode allows. */
function reportOtherWriters(context: PlanContext, findings: Findings, volume: PresentVolume): void {
  const { name, path, pods, identity, persistentVolume } = volume
  const about = aboutOf(volume)
  const objects = identity === undefined ? [persistentVolume] : context.objects.persistentVolumesOf(identity)
  const nodes = objects.some(allowsSeveralNodes) ? [] : nodesWith(context, volume)
  if (nodes.length > 0) {
    findings.problem(
      'error',
      'TwoWriters',
      `${name} is mounted on ${path} and also attached to another node, against its access mode (${accessModesText(persistentVolume)}): ${describeNodes(nodes)}`,
      about,
      `Two nodes that write spoil the file system: decide which one may have it, and end the pods of the other. To keep it here: ${freeHint(nodes)}`,
    )
  }
  if (!isForOnePod(persistentVolume) || pods.length < 2) return
  findings.problem(
    'error',
    'TwoWriters',
    `${name} is ReadWriteOncePod, and ${pods.length} pods have it here: ${pods.join(', ')}`,
    about,
    'Decide which one may have it, and delete the others.',
  )
}

function reportOwnAttachment(context: PlanContext, findings: Findings, volume: PresentVolume): void {
  const { objects, inputs } = context
  const { uniqueName, path, identity } = volume
  // What a kubelet attaches by itself the controller keeps no account of.
  if (inputs.snapshot.api?.node?.status === undefined || whyNotManaged(inputs.snapshot) !== undefined) return
  const about = aboutOf(volume)
  const attachment = identity === undefined ? undefined : objects.attachmentOf(identity)
  const gone = whyNotAttached(context, volume)
  if (gone !== undefined) {
    findings.problem(
      'error',
      'MountedButNotAttached',
      `${uniqueName} is mounted on ${path} and not attached to this node (${gone}): another node may write to it`,
      about,
      'Stop what uses it here before anything else; then let the controller attach it again.',
    )
  } else if (!objects.isInUse(uniqueName)) {
    findings.problem(
      'error',
      'MountedButNotInUse',
      `${uniqueName} is mounted on ${path} and not reported in use: the controller may detach it under the mount`,
      about,
      'Start the kubelet, which reports it, or unmount it.',
    )
  }
  if (attachment?.metadata.deletionTimestamp === undefined) return
  findings.problem(
    'error',
    'AttachmentDeleting',
    `VolumeAttachment ${attachment.metadata.name} is being deleted (${attachment.metadata.deletionTimestamp}) while ${uniqueName} is mounted on ${path}: the disk may go from under the mount`,
    about,
    'Stop what uses it here, so that it is unmounted before the disk goes; nobody can take the deletion back. The controller attaches it anew for a pod that wants it.',
  )
}

/** What shows that the control plane has it not attached here; undefined: nothing does. What was not read shows nothing (S3). */
function whyNotAttached({ objects, inputs }: PlanContext, { uniqueName, identity }: PresentVolume): string | undefined {
  const { api, nodeName } = inputs.snapshot
  if (!objects.isAttached(uniqueName)) return 'it is not in node.status.volumesAttached'
  if (identity === undefined || api === undefined) return undefined
  const name = attachmentName(identity.handle, identity.driver, nodeName)
  const attachment = apiLookup(api).volumeAttachment(name)
  if (attachment.state === 'Absent') return `there is no VolumeAttachment ${name}`
  if (attachment.state === 'Unknown' || attachment.object.status?.attached === true) return undefined
  const error = attachment.object.status?.attachError?.message
  return `VolumeAttachment ${name} is not attached${error ? `: ${error}` : ''}`
}

/** R731: the controller detaches from such a node at once, whatever is mounted. */
function reportOutOfService({ inputs }: PlanContext, findings: Findings, present: readonly PresentVolume[]): void {
  const { nodeName } = inputs.snapshot
  const names = present.map(({ name }) => name)
  findings.problem(
    'error',
    'NodeOutOfService',
    `the node is tainted out-of-service, and the controller detaches its volumes without asking, while ${names.length} are mounted here: ${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''}`,
    {},
    `This machine runs: stop what uses them, or take the taint away${isPlainWord(nodeName) ? ` (kubectl taint node ${nodeName} node.kubernetes.io/out-of-service-)` : ''}.`,
  )
}

function aboutOf({ name, path, pods: [pod] }: PresentVolume): { pod?: string; volume: string; path: string } {
  return { ...defined({ pod }), volume: name, path }
}

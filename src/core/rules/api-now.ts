/** Which pods are there right before an operation (S3, S5, S9, S22, S26): fresh, where a plan has the classes of its look. */

import { append, memoize } from '../base/collections.ts'
import type { Pod } from '../kube/api/objects.ts'
import { type Finding, said } from '../messages/findings.ts'
import type { Operation } from '../plan/plan.ts'
import type { VolumeToMount } from '../volumes/desired-state.ts'
import { isOutOfService } from '../volumes/node-affinity.ts'
import { isMirrorPod, isTerminalPhase, isTerminating, onDiskUid, protectedUids } from '../volumes/pods.ts'
import { type ControllerWanted, mayWant, wantedDevices } from '../volumes/populate.ts'
import { isDeviceOf } from '../volumes/registry.ts'
import { CSI_PLUGIN } from '../volumes/volume-names.ts'
import type { MachineFacts, Verdict, Witness } from './machine-facts.ts'
import type { MachineJudge } from './rule.ts'

/** The pod must still be orphaned or finished. For an operation on a device, no pod may want the volume. */
export const wantedAgain: MachineJudge = (facts) => {
  const { pod, volume } = facts.operation
  if (pod !== undefined) return podIsBack(pod.uid, facts)
  return volume?.uniqueName === undefined ? undefined : deviceWanted(volume.uniqueName, facts)
}

async function deviceWanted(name: string, { operation, witness, context }: MachineFacts): Promise<Verdict | undefined> {
  const wanted = await context.wantedOf(unfinished(witness))
  return wanted === undefined || mayWant(wanted, name) || wantsDevice(operation, wanted)
    ? said('WantedAgain.again', { name })
    : undefined
}

/** A device may have several unique names (R014, P96): for iSCSI, FC and flexVolumes the sources are compared as well. */
function wantsDevice({ volume }: Operation, wanted: ControllerWanted): boolean {
  if (volume === undefined || volume.plugin === CSI_PLUGIN) return false
  const sources = wantedDevices(wanted, volume.plugin)
  return sources === undefined || sources.some((source) => isDeviceOf(source, volume.plugin, volume.name))
}

/** Pods in the API that may still use their volumes. */
export function unfinished(witness: Witness): Pod[] {
  return witness.apiPods.filter((pod) => !isFinished(pod, witness))
}

function podIsBack(uid: string, { operation: { kind }, witness }: MachineFacts): Verdict | undefined {
  if (witness.alive.has(uid)) {
    return {
      ...said('PodStillRunning.alive', { uid }),
      hint: 'Stop its containers; then plan again.',
    }
  }
  const blind = witness.blindFor?.(uid)
  if (blind !== undefined) return said('AlivenessUnknown.pod', { name: uid, message: blind })
  const pods = podsOf(witness).get(uid)
  if (pods === undefined && !witness.listed.has(uid)) return undefined
  if (kind === 'RemoveOrphanPodDir') {
    return {
      ...said('WantedAgain.listed', { uid }),
      hint: 'volctl keeps its directory until the pod is deleted from the API.',
    }
  }
  return pods?.every((pod) => isFinished(pod, witness)) === true ? undefined : said('WantedAgain.unfinished', { uid })
}

/** Pods by every UID that their directory may have on disk (S10). Cached, since a batch asks thousands of times. */
const podsOf = memoize((witness: Witness): ReadonlyMap<string, readonly Pod[]> => {
  const pods = new Map<string, Pod[]>()
  for (const pod of witness.apiPods) {
    for (const uid of new Set([onDiskUid(pod), ...protectedUids(pod)])) append(pods, uid, pod)
  }
  return pods
})

function isFinished(pod: Pod, { alive, blindFor }: Witness): boolean {
  const mayRun = (uid: string): boolean => alive.has(uid) || blindFor?.(uid) !== undefined
  return (isTerminating(pod) || isTerminalPhase(pod)) && !protectedUids(pod).some(mayRun)
}

/** S22: the pod must be in a fresh list, must not be terminating or finished, and must want this very volume. */
export const noLongerWanted: MachineJudge = (facts) => {
  const { operation, witness } = facts
  const { pod, volume } = operation
  const found = podOf(operation, witness)
  const no = (why: string): Verdict => said('NoLongerWanted.why', { uid: pod?.uid, why })
  if (found === undefined) return no('is no longer in the API')
  const isAlive = protectedUids(found).some((uid) => witness.alive.has(uid))
  if (isTerminalPhase(found) || (isTerminating(found) && !isAlive)) return no('is terminating or has ended')
  return wantedNow(facts) === undefined ? no(`no longer wants ${volume?.uniqueName}`) : undefined
}

/** The volume, as the pod wants it now. */
export function wantedNow({ operation, witness, context }: MachineFacts): VolumeToMount | undefined {
  const found = podOf(operation, witness)
  const name = operation.volume?.uniqueName
  return found === undefined || name === undefined ? undefined : context.wanted(found, name)
}

function podOf({ pod }: Operation, { apiPods }: Witness): Pod | undefined {
  return (
    apiPods.find((each) => !isMirrorPod(each) && each.metadata.uid === pod?.uid) ??
    apiPods.find((each) => onDiskUid(each) === pod?.uid)
  )
}

// What the API says right before an attachment is deleted (S21), and before a driver is called to set a volume up (S22, S30): read
// by the step, judged here.

/** The plan's own attachment, of a node that is there, which no pod wants. */
export const notToDetach: MachineJudge = ({ operation, attachment, api, plan }) => {
  const { attachment: bound, volume } = operation
  if (api === undefined || attachment === undefined) return undefined
  const { metadata, spec } = attachment
  if (bound === undefined || metadata.uid !== bound.uid || spec.nodeName !== plan.node)
    return said('Changed.otherAttachment', { name: metadata.name })
  if (api.node === undefined) return said('NodeMissing.node', { node: plan.node })
  const name = volume?.uniqueName
  return name === undefined || api.isWanted
    ? said('WantedAgain.again', { name: name ?? 'an unidentified volume' })
    : undefined
}

/** S30: if the credential may not list the attachments, nothing is mounted. */
export const attachedElsewhere: MachineJudge = ({ api }) => {
  const { volume, elsewhere = [] } = api?.toSetUp ?? {}
  if (elsewhere.length === 0) return undefined
  return typeof elsewhere === 'string'
    ? said('AccessMode.unread', { specName: volume?.specName, elsewhere })
    : said('AccessMode.also', { specName: volume?.specName, elsewhere: elsewhere.join(', ') })
}

/** Attached here, by an attachment that stays (C37), and reported in use: otherwise the controller may detach it at any moment. */
export const notAttached: MachineJudge = ({ api, attachment, plan }) => {
  if (api?.toSetUp === undefined) return undefined
  const { node, toSetUp } = api
  const { volume, attachmentName: name } = toSetUp
  const { uniqueName, attachability, specName } = volume
  if (node === undefined) return refused(said('NodeMissing.node', { node: plan.node }))
  if (isOutOfService(node)) return refused(said('NodeNotReady.tainted', { name: plan.node }))
  if (attachability === 'notAttachable') return undefined
  if (attachability === 'unknown') return said('CsiDriverUnknown.toAttach', { specName })
  const { volumesAttached, volumesInUse } = node.status ?? {}
  if (!volumesAttached?.some((each) => each.name === uniqueName))
    return refused(said('NotAttached.status', { uniqueName }))
  if (!volumesInUse?.includes(uniqueName)) return refused(said('NotReportedInUse.noLonger', { uniqueName }))
  if (attachment === undefined) return refused(said('NotAttached.gone', { name }))
  if (attachment.metadata.deletionTimestamp !== undefined) return refused(said('AttachmentDeleting.begun', { name }))
  return attachment.status?.attached === true ? undefined : refused(said('NotAttached.attachment', { name, error: '' }))
}

function refused(finding: Finding<Verdict['code']>): Verdict {
  return { ...finding, hint: 'Plan again.' }
}

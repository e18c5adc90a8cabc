/**
 * The end of step 3: attachments that nothing on this node needs any more (S21; O24).
 *
 * The node itself is the proof that nothing uses the volume; with a kubelet that runs, detaching is the controller's
 * work and is only shown. What only the machine can tell (superblocks, holders, open devices) is checked at apply.
 */
import { compareText } from '../compare-text.ts'
import { type ControllerWanted, controllerWantedVolumes } from '../desired/controller-wanted.ts'
import { csiSourceOf } from '../desired/csi-translation/csi-source.ts'
import type { VolumeAttachment } from '../model/objects.ts'
import { attachmentName, csiUniqueName } from '../names.ts'
import { type PlanContext, waitForKubelet } from './context.ts'
import type { CsiIdentity } from './csi-identity.ts'
import { deviceObstacle, predecessorObstacle, unresolvedObstacle } from './device-obstacles.ts'
import type { Draft, Findings, Obstacle, Wait } from './draft.ts'
import { describeCsiVolume } from './volume-facts.ts'

export function detachVolumes(context: PlanContext, findings: Findings): void {
  const { api, nodeName } = context.inputs.snapshot
  if (api === undefined) return
  const wanted = controllerWantedVolumes(api.pods, api, nodeName)
  const mine = api.volumeAttachments.filter((attachment) => attachment.spec.nodeName === nodeName)
  for (const attachment of mine.toSorted((a, b) => compareText(a.metadata.name, b.metadata.name))) {
    detachVolume(context, findings, attachment, wanted)
  }
}

function detachVolume(
  context: PlanContext,
  findings: Findings,
  attachment: VolumeAttachment,
  wanted: ControllerWanted,
): void {
  const { inputs } = context
  const identity = identifyAttachment(context, attachment)
  const uniqueName = identity === undefined ? undefined : csiUniqueName(identity.driver, identity.handle)
  if (uniqueName !== undefined && wanted.names.has(uniqueName)) return
  const persistentVolume = attachment.spec.source.persistentVolumeName
  const users = [
    ...(uniqueName === undefined ? [] : context.users.of(uniqueName)),
    ...(persistentVolume === undefined ? [] : context.users.ofPersistentVolume(persistentVolume)),
  ]
  if (users.some((user) => user.pod.class === 'Desired')) return
  const after = predecessorsOf(findings, uniqueName, persistentVolume)
  const volume = describeCsiVolume(context, {
    name: after[0]?.volume?.name ?? persistentVolume ?? identity?.handle ?? attachment.metadata.name,
    mode: after[0]?.volume?.mode ?? 'Filesystem',
    identity,
    uniqueName,
  })
  const wait = waitFor(context, attachment, users[0]?.pod.uid) ?? stillOnNode(context, findings, uniqueName)
  if (wait !== undefined) {
    findings.wait('DetachVolume', wait, 'S21', { volume })
    return
  }
  const blocked =
    obstacleOf(context, identity, attachment) ?? unresolvedObstacle(wanted.unresolved) ?? predecessorObstacle(after)
  const name = attachment.metadata.name
  findings.add({
    kind: 'DetachVolume',
    reason: 'NotWanted',
    message: `no pod of this node wants ${uniqueName ?? name}${after.length === 0 ? '' : ' once the operations before are done'}; ${whatTheControllerWaitsFor(context, uniqueName)}`,
    volume,
    steps: [{ op: 'deleteVolumeAttachment', target: `volumeattachments/${name}` }],
    paths: [],
    after,
    rule: 'S21',
    kubeletWould: 'leave it to the controller, which waits for the next node status',
    removes: new Set(),
    attachment: {
      name,
      uid: attachment.metadata.uid,
      ...(attachment.metadata.resourceVersion === undefined
        ? {}
        : { resourceVersion: attachment.metadata.resourceVersion }),
    },
    ...(blocked === undefined ? {} : { blocked }),
  })
  if (inputs.snapshot.api?.node?.metadata.annotations?.[MANAGED] === undefined) {
    findings.problem(
      'info',
      'ReadFailed',
      `node ${inputs.snapshot.nodeName} has no annotation ${MANAGED}: its attachments are not managed by the controller (N9)`,
    )
  }
}

const MANAGED = 'volumes.kubernetes.io/controller-managed-attach-detach'

/** Driver and handle: by the PV, an inline spec, a state file, or a name in the node's status with the same hash (R007). */
function identifyAttachment(context: PlanContext, attachment: VolumeAttachment): CsiIdentity | undefined {
  const { api, nodeName } = context.inputs.snapshot
  const { attacher: driver, source } = attachment.spec
  const fits = (handle: string): boolean => attachmentName(handle, driver, nodeName) === attachment.metadata.name
  const volume = context.objects.persistentVolume(source.persistentVolumeName ?? '')
  const handle = volume === undefined ? source.inlineVolumeSpec?.csi?.volumeHandle : csiSourceOf(volume)?.volumeHandle
  if (handle !== undefined && fits(handle)) {
    return { driver, handle, from: `PersistentVolume ${source.persistentVolumeName ?? '(inline)'}` }
  }
  for (const { volume: known } of context.onDisk.all) {
    if (known.driver === driver && fits(known.handle)) return { driver, handle: known.handle, from: known.from }
  }
  const status = api?.node?.status
  const prefix = csiUniqueName(driver, '')
  const names = [...(status?.volumesAttached ?? []).map((each) => each.name), ...(status?.volumesInUse ?? [])]
  const name = names.find((each) => each.startsWith(prefix) && fits(each.slice(prefix.length)))
  return name === undefined ? undefined : { driver, handle: name.slice(prefix.length), from: "the node's status" }
}

function predecessorsOf(
  findings: Findings,
  uniqueName: string | undefined,
  persistentVolume: string | undefined,
): Draft[] {
  const named = uniqueName === undefined ? [] : findings.ofVolume(uniqueName)
  const leaked = persistentVolume === undefined ? [] : findings.leakedOf(persistentVolume)
  return [...new Set([...named, ...leaked])]
}

function waitFor(context: PlanContext, attachment: VolumeAttachment, user: string | undefined): Wait | undefined {
  if (attachment.metadata.deletionTimestamp !== undefined) {
    const error = attachment.status?.detachError?.message
    const held = attachment.metadata.finalizers?.join(', ')
    return {
      code: 'AttachmentDeleting',
      message: `${attachment.metadata.name} is being deleted${held ? `, held by ${held}` : ''}${error ? `; the last attempt failed: ${error}` : ''}`,
      hint: 'The external attacher of the driver has to finish it; look at its log.',
    }
  }
  if (user !== undefined) {
    return {
      code: 'PodStillRunning',
      message: `pod ${user} still runs on it, or may`,
      hint: 'Stop its containers first; then plan again.',
    }
  }
  const kubelet = waitForKubelet(context)
  if (kubelet !== undefined)
    return { ...kubelet, message: `detaching is the controller's work while ${kubelet.message}` }
  if (attachment.status?.attached !== true) {
    return { code: 'ControllerActs', message: `${attachment.metadata.name} is not attached; the controller removes it` }
  }
  return undefined
}

/** Something of the volume is on this node, and this plan does not undo it. */
function stillOnNode(context: PlanContext, findings: Findings, uniqueName: string | undefined): Wait | undefined {
  if (uniqueName === undefined) return undefined
  const left = context.onDisk.of(uniqueName).find(({ path }) => !findings.touches(context.inputs.absolute(path)))
  return left === undefined
    ? undefined
    : { code: 'PodStillRunning', message: `${left.path} is still on record, and no operation of this plan undoes it` }
}

function obstacleOf(
  context: PlanContext,
  identity: CsiIdentity | undefined,
  attachment: VolumeAttachment,
): Obstacle | undefined {
  const { api } = context.inputs.snapshot
  if (api?.node?.metadata.annotations?.[MANAGED] === undefined && api?.node !== null) {
    return {
      code: 'Forbidden',
      message: "this node's attachments are not managed by the attach/detach controller",
      hint: 'Detach the volume with the tools of its storage system.',
    }
  }
  if (identity === undefined) {
    return {
      code: 'IdentityUnconfirmed',
      message: `${attachment.metadata.name}: neither its PersistentVolume nor anything on this node tells the handle`,
      hint: 'Look the volume up in the storage system; delete the attachment yourself once it is surely not in use.',
    }
  }
  const general = deviceObstacle(context, identity)
  if (general !== undefined) return general
  const others = context.objects
    .persistentVolumesOf(identity)
    .filter((each) => each.metadata.name !== attachment.spec.source.persistentVolumeName)
  if (others.length > 0) {
    return {
      code: 'SecondVolume',
      message: `PersistentVolume ${others.map((each) => each.metadata.name).join(', ')} is behind the same attachment`,
      hint: 'Remove the second PersistentVolume, or leave the attachment to the controller.',
    }
  }
  if (api?.credential === 'kubelet' || api?.mayDeleteVolumeAttachments === false) {
    return {
      code: 'Forbidden',
      message: 'this credential may not delete attachments',
      hint: 'Use a credential that may delete volumeattachments (--kubeconfig).',
    }
  }
  return undefined
}

function whatTheControllerWaitsFor({ objects }: PlanContext, uniqueName: string | undefined): string {
  return uniqueName !== undefined && objects.isInUse(uniqueName)
    ? 'the controller waits for node.status.volumesInUse, which a kubelet that is down does not renew'
    : 'the controller has not detached it yet'
}

/**
 * The end of phase 3: attachments that nothing on this node needs any more (S21; O24).
 *
 * The node itself proves that nothing uses the volume. While a kubelet runs, the attach/detach controller detaches, and
 * the plan only shows it. What only the machine knows (superblocks, holders, open devices) is checked at apply.
 */

import { memoize } from '../../base/collections.ts'
import { compareText, present } from '../../base/text.ts'
import { type CsiIdentity, type Identified, uniqueNameOf } from '../../facts/row.ts'
import type { VolumeAttachment } from '../../kube/api/objects.ts'
import { undeletedPath } from '../../linux/paths.ts'
import { isByKubelet } from '../../messages/codes.ts'
import { advice, commandLine, kubectl, volctl } from '../../messages/command.ts'
import { said } from '../../messages/findings.ts'
import { type Draft, removedBy, type Wait } from '../../plan/draft.ts'
import type { VolumeRef } from '../../plan/plan.ts'
import { type PlanContext, waitForKubelet } from '../../rules/context.ts'
import type { PodClass } from '../../rules/pods/pod-classes.ts'
import { propose } from '../../rules/rules.ts'
import { unreadTraces } from '../../rules/unread.ts'
import type { ActualInputs } from '../../volumes/on-disk/actual-inputs.ts'
import { podLabel, podNameAndUid } from '../../volumes/pods.ts'
import { type ControllerWanted, controllerWantedVolumes } from '../../volumes/populate.ts'
import { escapeQualifiedName } from '../../volumes/volume-names.ts'
import { describeCsiVolume, withGivenDevice } from '../identity/volume-facts.ts'
import { otherMachineWait } from '../mount-volumes/mount-conditions.ts'
import { isUnidentified } from './staged-parts.ts'

export function detachVolumes(context: PlanContext): void {
  const { api, nodeName } = context.inputs.snapshot
  if (api === undefined) return
  const mine = api.volumeAttachments.filter((attachment) => attachment.spec.nodeName === nodeName)
  const wanted = controllerWantedVolumes(api.pods, api, nodeName)
  const unidentified = context.findings.operations.find(isUnidentified)
  for (const attachment of mine.toSorted((a, b) => compareText(a.metadata.name, b.metadata.name))) {
    detachVolume(context, attachment, wanted, unidentified)
  }
}

/** @param unidentified an operation on a mount that may be of any volume */
function detachVolume(
  context: PlanContext,
  attachment: VolumeAttachment,
  wanted: ControllerWanted,
  unidentified: Draft | undefined,
): void {
  const { uses, ledger, identify, findings } = context
  const { name, uid, resourceVersion } = attachment.metadata
  const { persistentVolumeName: persistentVolume } = attachment.spec.source
  const identity = identify.attachment(attachment)
  const uniqueName = identity && uniqueNameOf(identity)
  const users = uses.of(uniqueName, persistentVolume)
  // A pod that wants the volume by the controller's rule, or that uses it here.
  const [pod] = wanted.names.get(uniqueName ?? '') ?? []
  const desired = users.find((user) => user.pod.class === 'Desired')
  const why = pod === undefined ? desired && `pod ${desired.pod.uid} ${desired.how}` : `pod ${podLabel(pod)} wants it`
  const target = `volumeattachments/${name}`
  if (why !== undefined) {
    findings.leave({ path: target, rule: 'R706', why }, () => ledger.attachment(attachment))
    return
  }
  const subject = ledger.attachment(attachment)
  const traces = uses
    .traces(identity, persistentVolume)
    .map((trace) => ({ trace, drafts: trace.flatMap((path) => findings.on(context.inputs.absolute(path))) }))
  // By its unique name, and on everything with the name of its PersistentVolume, identified or not: an operation that is blocked because
  // its volume could not be identified blocks the detach as well.
  const named = [
    ...findings.ofVolume(uniqueName ?? ''),
    ...findings.leakedOf(escapeQualifiedName(persistentVolume ?? '')),
  ]
  const after = [...new Set([...named, ...traces.flatMap(({ drafts }) => drafts)])]
  // A mount, map or record of the volume that this plan does not remove.
  const left = traces.find(({ drafts }) => drafts.length === 0)
  // What is here is attached here, whatever the attachment calls this machine.
  const isHere = traces.length + after.length > 0
  const others =
    (isHere ? undefined : otherMachineWait(context, attachment)) ??
    waitFor(context, attachment, uniqueName, users[0]?.pod)
  // What comes first and is blocked says why, most often by the same mount.
  const isFree = after.every(({ blocked }) => blocked === undefined)
  const isOpen = isFree && (others === undefined || isByKubelet(others.code))
  const drivers = isOpen ? mountedByDriver(context, attachment, [identity?.handle, persistentVolume]) : undefined
  const wait = drivers ?? others ?? (left && stillOnNode(context.inputs.absolute(left.trace[0])))
  // Where the device is known, an apply compares it with every mount; what comes first and is blocked says why.
  const isUnproved = isFree && after.every((each) => removedBy(each).length === 0)
  // What keeps volctl from it does not keep the controller, which detaches while a kubelet runs.
  const facts = wait === undefined && {
    attachment: { object: attachment, unresolved: wanted.unresolved, unread: unreadTraces(context) },
    identified: identity === undefined ? handleUnknown(name) : { identity },
    device: { names: present(persistentVolume) },
    unidentified: () => (isUnproved ? unidentified : undefined),
  }
  const detach = {
    kind: 'DetachVolume',
    // The same text for every volume, so that a screen shows it once.
    ...said(users.length > 0 ? 'NotWanted.onNode' : after.length === 0 ? 'NotWanted.unused' : 'NotWanted.lastPodGone', {
      controller: whatTheControllerWaitsFor(context, uniqueName),
      node: context.inputs.snapshot.nodeName,
    }),
    volume: describeAttached(context, attachment, identity, after),
    subject,
    steps: [{ op: 'deleteVolumeAttachment', target }],
    paths: [],
    after,
    rule: 'S21',
    kubeletWould: 'leave the detach to the attach/detach controller, which waits for the next node status',
    attachment: { name, uid, resourceVersion },
  } as const
  propose(context, detach, facts || {}, wait, 'S21')
}

/** For a block volume, name and mode as on disk: an apply needs them to find loop devices on its maps (C19). */
function describeAttached(
  context: PlanContext,
  { metadata, spec: { source } }: VolumeAttachment,
  identity: CsiIdentity | undefined,
  after: readonly Draft[],
): VolumeRef {
  const { persistentVolumeName } = source
  const known = (after.find(({ volume }) => volume?.mode === 'Block') ?? after[0])?.volume
  const mode = context.objects.persistentVolume(persistentVolumeName)?.spec.volumeMode
  const volume = describeCsiVolume(context, {
    name: known?.name ?? persistentVolumeName ?? identity?.handle ?? metadata.name,
    mode: known?.mode ?? (mode === 'Block' ? 'Block' : 'Filesystem'),
    identity,
  })
  return withGivenDevice(context, volume, persistentVolumeName)
}

function handleUnknown(name: string): Identified {
  return {
    unconfirmed: said('IdentityUnconfirmed.noHandle', { name }),
    hint: advice`Find the volume in the storage system. Once it is certainly not in use, delete the VolumeAttachment yourself: ${kubectl('delete', 'volumeattachment', name)}`,
  }
}

function waitFor(
  context: PlanContext,
  { metadata: { name, deletionTimestamp, finalizers }, status }: VolumeAttachment,
  uniqueName: string | undefined,
  user: PodClass | undefined,
): Wait | undefined {
  if (deletionTimestamp !== undefined) {
    const error = status?.detachError?.message
    return {
      ...said('AttachmentDeleting.stuck', {
        name,
        heldBy: finalizers?.length ? `, held by ${finalizers.join(', ')}` : '',
        error: error ? `; the last attempt failed: ${error}` : '',
        gone: '',
      }),
      hint: advice`The driver's external-attacher has to finish the deletion; what it last said: ${kubectl('describe', 'volumeattachment', name)}`,
    }
  }
  if (user?.why?.is === 'kept') {
    return {
      ...said('TerminatedKept.has', { uid: user.uid, message: user.why.message }),
      hint: 'Delete the pod, or remove that setting; then plan again.',
    }
  }
  if (user !== undefined) {
    return {
      ...said('PodStillRunning.uses', { pod: podNameAndUid(user.ref) }),
      hint: 'Stop the containers of that pod; then plan again.',
      because: { subject: { pod: user.ref }, follows: true },
    }
  }
  const kubelet = waitForKubelet(context)
  if (kubelet !== undefined) {
    const waits = whatTheControllerWaitsFor(context, uniqueName)
    const message = `the attach/detach controller detaches the volume: ${kubelet.message}; ${waits}`
    return { ...kubelet, message, args: undefined }
  }
  return status?.attached === true ? undefined : said('ControllerActs.deletes', { name })
}

function stillOnNode(path: string): Wait {
  return {
    ...said('StillInUse.path', { path }),
    hint: advice`See what it is, and what keeps it: ${volctl('explain', path)}`,
  }
}

/** S21: a driver may have the volume mounted in a directory of its own: by the attachment's device, or by a name of the volume. */
function mountedByDriver(
  { inputs }: PlanContext,
  { status }: VolumeAttachment,
  names: readonly (string | undefined)[],
): Wait | undefined {
  const devices = Object.values(status?.attachmentMetadata ?? {}).filter((value) => value.startsWith('/dev/'))
  // A shorter name may be anything's.
  const own = [...names, ...devices].flatMap((name = '') =>
    name.length < 6 ? [] : new RegExp(`(?<!\\w)${name.replaceAll(/\W/g, '\\$&')}(?!\\w)`),
  )
  const found = driversMounts(inputs).find(({ text }) => own.some((name) => name.test(text)))
  return (
    found && {
      ...said('StillInUse.elsewhere', { path: found.path }),
      hint: advice`See who uses ${found.path} (${commandLine('findmnt', found.path)}); the driver takes it off, or has forgotten it.`,
    }
  )
}

/** Mounts where no kubelet mounts a volume, with what may name a volume: path, source, and the file behind a loop device. */
const driversMounts = memoize((inputs: ActualInputs) => {
  const { mounts, rootDir, snapshot } = inputs
  const files = new Map((snapshot.blockDevices ?? []).map(({ name, backingFile = '' }) => [name, backingFile]))
  return [...mounts.notBelow(rootDir), ...inputs.pluginMounts()].flatMap(({ mountPoint, source }) => {
    const path = undeletedPath(mountPoint)
    // Of paths as a kubelet has them more is asked.
    if (/kubernetes\.io|\/(?:pods|volumeDevices)\//.test(path)) return []
    return [{ path, text: `${path} ${source} ${files.get(source) ?? ''}` }]
  })
})

function whatTheControllerWaitsFor({ objects, kubelet }: PlanContext, uniqueName: string | undefined): string {
  if (uniqueName === undefined || !objects.isInUse(uniqueName))
    return 'the attach/detach controller has not detached it yet'
  return kubelet.state === 'running'
    ? 'the attach/detach controller will not detach it while node.status.volumesInUse lists it'
    : 'the attach/detach controller will not detach it while node.status.volumesInUse lists it, and the kubelet, which updates that, is down'
}

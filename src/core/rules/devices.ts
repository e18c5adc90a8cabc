/** What holds back the unstaging, unmapping or detaching of a device of any plugin (S4, S9, S21, S30). */

import { namespacedName } from '../kube/api/names.ts'
import { whoMounted } from '../linux/mount-table.ts'
import { advice, said, saidOfAny } from '../messages/findings.ts'
import { whyNotManaged } from '../node/kubelet/kubelet-flags.ts'
import type { VolumeRef } from '../plan/plan.ts'
import { isListedWhole } from '../volumes/api-lookup.ts'
import { causeOfUnresolved, type DeviceKind, mayBeOne, type UnresolvedVolume } from '../volumes/desired-state.ts'
import type { Obstacle } from '../volumes/finding.ts'
import { allowsSeveralNodes } from '../volumes/node-affinity.ts'
import { statusVolumesAt } from '../volumes/populate.ts'
import { CSI_PLUGIN } from '../volumes/volume-names.ts'
import { type PlanContext, useCredential } from './context.ts'
import { nodesWith } from './other-nodes.ts'
import { missingPodsDirectory, strangerHint } from './pods/witnesses.ts'
import type { Judge } from './rule.ts'
import { unknownLinks } from './unread.ts'

/**
 * A volume of an existing pod that could not be resolved or identified may be this one, and so may what is behind a link. By the
 * controller's rule unused volumes count, too (R708).
 */
export const mayBeUsed: Judge = ({ device, identified, attachment, operation: { volume }, context }) => {
  if (device === undefined || volume === undefined) return undefined
  const kind = { plugin: volume.plugin, driver: identified?.identity?.driver }
  // S21: if the directory of pods is missing, any pod may use any volume.
  const missing = missingPodsDirectory(context.inputs)
  return (
    unresolvedObstacle([...context.desired.unresolved, ...(attachment?.unresolved ?? [])], kind) ??
    unidentifiedObstacle(context, kind) ??
    (missing && { ...saidOfAny('MayBeInUse', 'noPods', { path: missing.path }), hint: missing.hint }) ??
    unknownLinks(context.inputs)[0]?.obstacle
  )
}

/** A volume that is attached to another node, which its access mode does not allow, is left as it is. */
export const twoWriters: Judge = ({ device, identified, operation: { volume }, context }) => {
  if (device === undefined || volume === undefined) return undefined
  const { objects } = context
  const identity = identified?.identity
  const elsewhere =
    identity === undefined
      ? namesElsewhere(context, volume)
      : objects.persistentVolumesOf(identity).some(allowsSeveralNodes)
        ? []
        : objects.attachedElsewhere(identity)
  if (elsewhere.length === 0) return undefined
  return said('TwoWriters.elsewhere', { elsewhere: elsewhere.join(', ') })
}

/** Of plugins whose attachments only the status of Nodes lists: the volume's name is that of its global directory. */
function namesElsewhere(context: PlanContext, { plugin, name }: VolumeRef): readonly string[] {
  const { api } = context.inputs.snapshot
  if (api?.elsewhere === undefined || plugin === CSI_PLUGIN) return []
  const volumes = statusVolumesAt(api, plugin, name)
  if (volumes.some(({ persistentVolume }) => allowsSeveralNodes(persistentVolume))) return []
  return [...new Set(volumes.flatMap((volume) => nodesWith(context, volume)).map(({ name }) => name))]
}

/** S9, S21: a pod that must not be disturbed has a volume that could not be identified, or may run unseen. */
function unidentifiedObstacle({ uses, inputs }: PlanContext, device: DeviceKind): Obstacle | undefined {
  if (inputs.snapshot.processes === undefined) {
    return {
      ...said('MayBeInUse.noProcesses'),
      hint: 'Run volctl, or take the snapshot, as root; then plan again.',
    }
  }
  const unidentified = uses.unidentified.find(({ mayBe }) => mayBeOne(mayBe, device))
  if (unidentified === undefined) return undefined
  const { pod, what } = unidentified
  if (pod.why?.is === 'stranger') {
    return {
      ...said('UnknownPodProcess.volume', { uid: pod.uid }),
      hint: strangerHint(pod.uid),
    }
  }
  return {
    ...said('MayBeInUse.unidentified', {
      uid: pod.uid,
      state: pod.class === 'Desired' || pod.alive ? 'runs' : 'may run',
      volumes: what,
    }),
    because: { subject: { pod: pod.ref } },
  }
}

function unresolvedObstacle(unresolved: readonly UnresolvedVolume[], device: DeviceKind): Obstacle | undefined {
  const unknown = unresolved.find((each) => mayBeOne(each.mayBe, device))
  if (unknown === undefined) return undefined
  const { podVolumeName, pod, message } = unknown
  return {
    ...said('MayBeInUse.unresolved', { podVolumeName, pod: namespacedName(pod.metadata), message }),
    because: { ...causeOfUnresolved(unknown), follows: true },
  }
}

// Which volume it is, who still shows it, and what can undo it (S16, S17, S24, S26).

/** Nothing is undone under a name that may be another volume's. */
export const identityUnconfirmed: Judge = ({ identified }) =>
  identified?.unconfirmed && { ...identified.unconfirmed, hint: identified.hint }

export const shownElsewhere: Judge = ({ held, context: { inputs } }) => {
  if (held === undefined) return undefined
  const { by, target } = held
  const path = inputs.plain(by.mountPoint)
  return {
    ...said('HeldBy.sameFileSystem', { ...by, path, target: inputs.absolute(target) }),
    hint: whoMounted(path),
  }
}

/** A mount or map that could not be identified may be of this volume, whose device is not known. */
export const mayBeMounted: Judge = ({ unidentified }) => {
  const draft = unidentified?.()
  if (draft === undefined) return undefined
  return {
    ...said('IdentityUnconfirmed.unidentified', {
      name: draft.volume?.name,
      pod: draft.pod === undefined ? '' : ` of pod ${draft.pod.uid}`,
    }),
    hint: draft.blocked?.hint,
  }
}

/** A driver, CSI or flexVolume, has to be called, and cannot be. */
export const driverUnavailable: Judge = ({ call }) => (call?.kind === 'blocked' ? call.blocked : undefined)

/** No call of a driver that does not stage removes the mount, so the kernel must not, either (R444). */
export const stagedByNobody: Judge = ({ call, device, identified, mounts: [staged] = [], context: { inputs } }) => {
  const driver = device && identified?.identity?.driver
  if (call?.kind !== 'call' || driver === undefined || staged === undefined || staged.layers.length === 0)
    return undefined
  if (inputs.stages(driver)) return undefined
  const path = inputs.absolute(staged.path)
  return {
    ...said('ForeignMount.notStaged', { driver, path }),
    hint: advice`Maybe an older version of the driver mounted it. ${whoMounted(path)}`,
  }
}

/** An operation that has to come first is blocked. */
export const predecessor: Judge = ({ operation: { after } }) => {
  const stuck = after.find((draft) => draft.blocked !== undefined)
  if (stuck === undefined) return undefined
  const what = stuck.volume?.name ?? stuck.paths[0] ?? ''
  return {
    ...said('Predecessor.operation', {
      kind: stuck.kind,
      volume: what,
      pod: stuck.pod === undefined ? '' : ` of pod ${stuck.pod.uid}`,
      code: stuck.blocked?.code,
    }),
    hint: `Resolve ${stuck.kind} of ${what} first.`,
  }
}

// S21: whether an attachment may be deleted, by what the API says. What only the machine knows is asked at apply.

export const notManaged: Judge = ({ attachment, context: { inputs } }) => {
  const unmanaged = attachment && whyNotManaged(inputs.snapshot)
  return unmanaged === undefined
    ? undefined
    : {
        ...said('NotManaged.detach', { unmanaged }),
        hint: 'Detach the volume with the tools of its storage system.',
      }
}

export const sharedAttachment: Judge = ({ attachment, identified, context: { objects, inputs } }) => {
  const identity = identified?.identity
  if (attachment === undefined || identity === undefined) return undefined
  const { api } = inputs.snapshot
  const others = objects
    .persistentVolumesOf(identity)
    .filter((each) => each.metadata.name !== attachment.object.spec.source.persistentVolumeName)
  if (others.length > 0) {
    return {
      ...said('AttachmentUnclear.shared', { persistentVolumes: others.map((each) => each.metadata.name).join(', ') }),
      hint: 'Remove the other PersistentVolume, or leave the detach to the attach/detach controller.',
    }
  }
  if (api?.credential === 'kubelet' || api?.mayDeleteVolumeAttachments === false) {
    return {
      ...said('Forbidden.change', { verb: 'delete' }),
      hint: useCredential('delete volumeattachments'),
    }
  }
  if (isListedWhole(api, 'persistentvolumes')) return undefined
  return {
    ...said('AttachmentUnclear.mayBeShared'),
    hint: useCredential('list persistentvolumes'),
  }
}

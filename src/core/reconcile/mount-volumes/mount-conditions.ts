/** What must hold before a wanted volume may be mounted (S22, S30, R430, R813, R814, R829; O26). */

import type { VolumeAttachment } from '../../kube/api/objects.ts'
import { causeOf, entryOf, isByKubelet, remedyOf } from '../../messages/codes.ts'
import { advice, kubectl, marked } from '../../messages/command.ts'
import { type Finding, said } from '../../messages/findings.ts'
import { whyNotManaged } from '../../node/kubelet/kubelet-flags.ts'
import type { Wait } from '../../plan/draft.ts'
import { type PlanContext, podNameOf, startKubelet, useCredential, waitForKubelet } from '../../rules/context.ts'
import { bringDriverBack, driverOfNode, flexProgram, whyNoDriver } from '../../rules/driver-call.ts'
import { describeNodes, freeHint, nodesWith } from '../../rules/other-nodes.ts'
import { handleOf } from '../../volumes/api-objects.ts'
import { podPathOf, type VolumeToMount } from '../../volumes/desired-state.ts'
import type { Obstacle } from '../../volumes/finding.ts'
import { flexVolume } from '../../volumes/flex-volume.ts'
import { mountOptionsObstacle } from '../../volumes/mount-options.ts'
import {
  accessModesText,
  allowsSeveralNodes,
  isForOnePod,
  isOutOfService,
  matchesNode,
} from '../../volumes/node-affinity.ts'
import { evidenceOf, mountsOver, pluginNamed } from '../../volumes/registry.ts'
import type { NodeSnapshot } from '../../volumes/snapshot.ts'
import { CSI_PLUGIN, uniqueVolumeName } from '../../volumes/volume-names.ts'
import { knowsOtherNodes } from '../identity/volume-facts.ts'

/** What keeps a wanted volume from being mounted until somebody else has acted. */
type WaitOf = (context: PlanContext, volume: VolumeToMount) => Wait | undefined

export const mountWait: WaitOf = (context, volume) => {
  // First whether another node, machine or pod has the volume: then neither this kubelet nor this pass can mount it.
  const attachment = volume.attachability === 'notAttachable' ? undefined : context.objects.attachmentOf(volume)
  const taken = elsewhereWait(context, volume) ?? otherMachineWait(context, attachment) ?? otherPodWait(context, volume)
  if (taken !== undefined) return taken
  const attach = attachWait(context, volume)
  const kubelet = kubeletWait(context, volume)
  // What a running kubelet waits for as well is the cause (S38), but not the seconds until an attachment is listed.
  if (kubelet !== undefined && isByKubelet(kubelet.code)) {
    const isControllers =
      attach !== undefined && causeOf(attach.code) === 'controller' && entryOf(attach.code)?.lasts !== 'never'
    return (isControllers ? attach : undefined) ?? driverWait(context, volume) ?? kubelet
  }
  return kubelet ?? outOfService(context) ?? attach ?? elsewhereUnknown(context, volume) ?? driverWait(context, volume)
}

/**
 * The attachment is of another machine that had this node's name, and none of this one: by the attacher's note, or by metadata in which the
 * driver's other attachments here have this node's id. That it is being deleted is said instead.
 */
export function otherMachineWait({ inputs }: PlanContext, attachment?: VolumeAttachment): Wait | undefined {
  if (attachment === undefined || attachment.metadata.deletionTimestamp !== undefined) return undefined
  const { metadata, spec, status } = attachment
  const own = driverOfNode(inputs.snapshot, spec.attacher)?.nodeID
  if (!own) return undefined
  const others = attachedHere(inputs.snapshot, spec.attacher)
  const noted = Object.entries(status?.attachmentMetadata ?? {}).find(
    ([key, value]) => value !== own && others.some((each) => each.status?.attachmentMetadata?.[key] === own),
  )
  const its = metadata.annotations?.['csi.alpha.kubernetes.io/node-id'] ?? noted?.[1]
  if (its === undefined || its === own) return undefined
  return {
    ...said('OtherMachine', { name: metadata.name, its, own }),
    hint: advice`Once machine ${its} is certainly off, have the volume attached to this one: ${kubectl('delete', 'volumeattachment', metadata.name)}`,
  }
}

/** A driver's attachments to this node. */
function attachedHere({ api, nodeName }: NodeSnapshot, attacher: string): readonly VolumeAttachment[] {
  const all = api?.volumeAttachments ?? []
  return all.filter(({ spec }) => spec.nodeName === nodeName && spec.attacher === attacher)
}

/** What only a kubelet sets up is not done sooner where it is stopped, nor once it has settled. */
const kubeletWait: WaitOf = (context, volume) => {
  const wait = waitForKubelet(context)
  if (wait === undefined || typeof pluginNamed(volume.plugin).setUp === 'function') return wait
  const { code, message, args } = wait
  return context.kubelet.state === 'stopped' ? undefined : { code, message, args }
}

/** S22: the Node must be ready, or only lack its kubelet, and not be out of service. */
function outOfService({ inputs }: PlanContext): Wait | undefined {
  if (!isOutOfService(inputs.snapshot.api?.node)) return undefined
  return {
    ...said('NodeNotReady.taintedHere'),
    hint: 'Remove the taint once the node is trusted again.',
  }
}

const attachWait: WaitOf = (context, volume) => {
  const { uniqueName, driver, attachability } = volume
  // An attachment of before the driver stopped attaching concerns nobody (C35, C36).
  if (attachability === 'notAttachable') return undefined
  const { objects, inputs } = context
  const unmanaged = whyNotManaged(inputs.snapshot)
  // N9, C41: here only the kubelet attaches, and it does not attach CSI volumes.
  if (unmanaged !== undefined && attachability === 'attachable') {
    return {
      ...said('NotManaged.attach', { specName: volume.specName, unmanaged }),
      hint:
        driver === undefined
          ? startKubelet(context, 'it attaches and mounts the volume')
          : "Set enableControllerAttachDetach: true in the kubelet's configuration, and start the kubelet: CSI volumes cannot be attached in any other way.",
    }
  }
  if (attachability === 'unknown') {
    // Only the driver knows, and a plan runs no programs.
    if (pluginNamed(volume.plugin) === flexVolume) return undefined
    return said('CsiDriverUnknown.unread', { specName: volume.specName })
  }
  const isListed = objects.isAttached(uniqueName)
  const attachment = objects.attachmentOf(volume)
  if (attachment?.metadata.deletionTimestamp !== undefined) {
    return {
      ...said('AttachmentDeleting.begun', { name: attachment.metadata.name }),
      hint: 'The attach/detach controller attaches the volume again once the VolumeAttachment is gone; then plan again.',
    }
  }
  if (attachment !== undefined && attachment.status?.attached !== true) return refusedWait(context, volume, attachment)
  if (!isListed) {
    // A Node that was not read lists nothing (S3).
    return attachment === undefined || inputs.snapshot.api?.node?.status === undefined
      ? notAttached(context, volume, said('NotAttached.unlisted', { uniqueName }))
      : unlistedWait(context, attachment, uniqueName)
  }
  if (attachment === undefined && driver !== undefined)
    return notAttached(context, volume, said('NotAttached.unread', { uniqueName }))
  if (objects.isInUse(uniqueName)) return undefined
  return {
    ...said('NotReportedInUse.notYet', { uniqueName }),
    hint: startKubelet(context, 'the attach/detach controller may detach a volume that is not reported in use'),
  }
}

/** The attacher's own word first, and the limit that it may have met. */
function refusedWait(context: PlanContext, volume: VolumeToMount, { metadata, spec, status }: VolumeAttachment): Wait {
  const { snapshot } = context.inputs
  const limit = driverOfNode(snapshot, spec.attacher)?.allocatable?.count
  const taken = attachedHere(snapshot, spec.attacher).filter((each) => each.status?.attached).length
  const why = status?.attachError?.message
  const refused = said('NotAttached.attachment', { name: metadata.name, error: why ? `: ${why}` : '' })
  if (limit === undefined || taken < limit) return notAttached(context, volume, refused)
  return said('AttachLimit.thisNode', { message: refused.message, limit, attacher: spec.attacher, taken })
}

/** O43: every kubelet waits for the list that only the controller writes, which it does within a second of the attachment. */
function unlistedWait({ options, cautiousNow }: PlanContext, { metadata }: VolumeAttachment, uniqueName: string): Wait {
  const unlisted = said('ControllerActs.unlisted', { name: metadata.name, uniqueName })
  return Date.parse(metadata.creationTimestamp ?? '') > cautiousNow - options.settleMs
    ? unlisted
    : {
        ...said('AttachedMismatch.waits', { message: unlisted.message }),
        hint: marked(
          'The kubelet can only wait for that. See whether the controller runs, and when it last renewed its lease: `kubectl -n kube-system get lease kube-controller-manager -o yaml`. If it runs, its log says why it does not report.',
        ),
      }
}

function notAttached(context: PlanContext, volume: VolumeToMount, finding: Finding<'NotAttached'>): Wait {
  // It is unknown whether another node has the volume attached, which does not mean that none has (S3).
  const unknown = elsewhereUnknown(context, volume)
  const { message } = finding
  return {
    ...(unknown === undefined ? finding : said('NotAttached.elsewhere', { message, elsewhere: unknown.message })),
    hint: advice`The attach/detach controller attaches the volume: see the events of the pod (${kubectl('describe', 'pod')})${unknown === undefined ? '.' : advice`, or find out where the volume is attached. ${unknown.hint ?? ''}`}`,
  }
}

/** One pod at a time (ReadWriteOncePod), whichever kubelet runs: another one, Desired or Frozen, has it on disk, or wants it and has it mounted. */
const otherPodWait: WaitOf = (context, { persistentVolume, uniqueName, podUid, specName }) => {
  if (!isForOnePod(persistentVolume)) return undefined
  const onDisk = context.uses.of(uniqueName).find(({ pod, how }) => pod.uid !== podUid && how === 'has it on disk')
  const mounted = context.ledger
    .row(uniqueName)
    ?.wanted.find((other) => other.podUid !== podUid && evidenceOf(context.inputs, other).state === 'mounted')
  const other = onDisk?.pod.uid ?? mounted?.podUid
  if (other === undefined) return undefined
  return said('AccessMode.otherPodUses', { specName, pod: podNameOf(context, other) })
}

/** S30: nothing is mounted while it is unknown whether another node has the volume. */
const elsewhereUnknown: WaitOf = (context, volume) => {
  const { persistentVolume, attachability } = volume
  if (attachability === 'notAttachable' || persistentVolume === undefined || allowsSeveralNodes(persistentVolume))
    return undefined
  const { elsewhere } = context.inputs.snapshot.api ?? {}
  const isCsi = handleOf(volume) !== undefined
  const why = !isCsi ? elsewhere?.problem : knowsOtherNodes(context) ? undefined : ''
  if (why === undefined) return undefined
  return {
    ...said('AccessMode.unknown', { specName: volume.specName, why: why === '' ? '' : `: ${why}` }),
    hint: useCredential(`list ${isCsi ? 'volumeattachments' : 'nodes'}`),
  }
}

/** S30: another node has the volume, and its access mode allows one node (R743). */
export const elsewhereWait: WaitOf = (context, volume) => {
  const { persistentVolume, attachability, plugin, specName } = volume
  // Without a PersistentVolume there is no access mode (R740).
  if (persistentVolume === undefined || allowsSeveralNodes(persistentVolume)) return undefined
  const identity = handleOf(volume)
  // A flexVolume that is not attached here has its shared name on other nodes (P7).
  const isShared = identity !== undefined || attachability !== 'unknown'
  const uniqueName = isShared ? volume.uniqueName : uniqueVolumeName(plugin, specName)
  const nodes = nodesWith(context, { uniqueName, identity, persistentVolume })
  if (nodes.length === 0) return undefined
  const names = nodes.map(({ name }) => name).join(', ')
  return {
    ...said('AccessMode.otherNode', {
      specName,
      names,
      modes: accessModesText(persistentVolume),
      nodes: describeNodes(nodes),
    }),
    hint: freeHint(nodes),
  }
}

const driverWait: WaitOf = (context, { plugin, driver }) => {
  if (plugin !== CSI_PLUGIN || driver === undefined || context.inputs.driver(driver) !== undefined) return undefined
  return { ...whyNoDriver(context, driver), ...bringDriverBack(context, driver) }
}

/**
 * Only a kubelet sets the volume up. Undefined: volctl does, or what keeps a kubelet from it as well is an obstacle, which a person
 * has to resolve.
 */
export const setUpWait: WaitOf = (context, volume) => {
  const { plugin } = volume
  const { setUp } = pluginNamed(plugin)
  if (typeof setUp === 'function' || mountObstacle(context, volume) !== undefined) return undefined
  const { snapshot } = context.inputs
  const driver = pluginNamed(plugin) === flexVolume ? flexProgram(snapshot, plugin) : undefined
  if (snapshot.flexDrivers !== undefined && driver !== undefined && 'why' in driver) {
    return {
      ...said('DriverUnavailable.flex', { plugin, why: driver.why }),
      hint: 'Install the driver where the kubelet looks for drivers (volumePluginDir); then plan again.',
    }
  }
  return {
    ...said('LeftToKubelet.plugin', { kind: setUp }),
    hint: startKubelet(context, 'it sets up the volume'),
  }
}

/** What a person has to resolve before the mount. */
export function mountObstacle(context: PlanContext, volume: VolumeToMount): Obstacle | undefined {
  const { inputs } = context
  const node = inputs.snapshot.api?.node ?? null
  if (volume.persistentVolume !== undefined && node !== null && !matchesNode(volume.persistentVolume, node)) {
    return said('NodeAffinity', { name: volume.persistentVolume.metadata.name })
  }
  const plugin = pluginNamed(volume.plugin)
  const options = plugin.refusesMountOptions ? mountOptionsObstacle(volume) : undefined
  if (options !== undefined) return options
  const target = podPathOf(volume)
  const inside = inputs.top(target) !== undefined || !mountsOver(volume) ? [] : inputs.tree.descendants(target)
  const data = inside.find((entry) => entry.type !== 'dir')
  if (data !== undefined) {
    return {
      ...said('DataUnderMountPoint.underVolume', { path: inputs.absolute(data.path) }),
      hint: context.witnesses.isAlive(volume.podUid) ? remedyOf('RunsWithoutVolume') : undefined,
    }
  }
  if (!isNoBlock(volume)) return undefined
  return {
    ...said('PluginUnsupported.block', { specName: volume.specName, plugin: volume.plugin }),
    hint: 'Create the PersistentVolume and its claim again, with volumeMode Filesystem.',
  }
}

/** The kubelet finds no block mapper for the volume, and tries for ever (R010). */
export function isNoBlock({ mode, plugin }: VolumeToMount): boolean {
  return mode === 'Block' && !pluginNamed(plugin).block
}

/** What must hold before a wanted volume may be mounted (S22, S30, R430, R813, R814, R829; O26). */

import { registeredDriver } from '../../actual/csi-drivers.ts'
import { accessModesText, allowsSeveralNodes, isForOnePod } from '../../desired/access-modes.ts'
import type { VolumeToMount } from '../../desired/desired-state.ts'
import { matchesNode } from '../../desired/node-affinity.ts'
import { CSI_PLUGIN, uniqueVolumeName } from '../../names/volume-names.ts'
import type { Findings, Obstacle, Wait } from '../../plan/draft.ts'
import { podName } from '../../plan/pod-name.ts'
import { flexVolume } from '../../plugins/flex-volume.ts'
import { mountOptionsObstacle } from '../../plugins/mount-options.ts'
import { pluginNamed } from '../../plugins/registry.ts'
import { type PlanContext, podRefOf, waitForKubelet } from '../context/context.ts'
import { whyNoDriver } from '../drivers/why-no-driver.ts'
import { knowsOtherNodes } from '../identity/volume-facts.ts'
import { notMigrated } from '../obstacles/migration.ts'
import { describeNodes, type ElsewhereNode, freeHint, nodesWith, type SharedVolume } from '../obstacles/other-nodes.ts'
import { whyNotManaged } from '../pods/kubelet-mode.ts'

export function mountWait(context: PlanContext, volume: VolumeToMount): Wait | undefined {
  // What another node has comes first: neither this kubelet nor this pass can get it (Multi-Attach).
  return (
    elsewhereWait(context, volume) ??
    waitForKubelet(context) ??
    nodeWait(context) ??
    attachWait(context, volume) ??
    accessWait(context, volume) ??
    driverWait(context, volume)
  )
}

/** S22: a Node that is ready, or merely without its kubelet, and not out of service. */
function nodeWait({ inputs }: PlanContext): Wait | undefined {
  const taint = inputs.snapshot.api?.node?.spec?.taints?.find(
    (each) => each.key === 'node.kubernetes.io/out-of-service',
  )
  return taint === undefined
    ? undefined
    : {
        code: 'NodeNotReady',
        message: 'the node is tainted out-of-service',
        hint: 'Remove the taint once the node is trusted again.',
      }
}

function attachWait(context: PlanContext, volume: VolumeToMount): Wait | undefined {
  if (volume.attachability === 'notAttachable') return undefined
  const unmanaged = whyNotManaged(context.inputs.snapshot)
  if (unmanaged !== undefined && volume.attachability === 'attachable') return notManaged(volume, unmanaged)
  if (volume.attachability === 'unknown') {
    // The driver alone can say, and programs are run by apply only: it asks before the mount.
    if (pluginNamed(volume.plugin) === flexVolume) return undefined
    return {
      code: 'AttachabilityUnknown',
      message: `whether ${volume.specName} has to be attached could not be read`,
      hint: 'Use a credential that may read csidrivers (--kubeconfig).',
    }
  }
  if (!context.objects.isAttached(volume.uniqueName)) {
    return notAttached(context, volume, `${volume.uniqueName} is not in node.status.volumesAttached`)
  }
  if (volume.driver !== undefined && volume.handle !== undefined) {
    const attachment = context.objects.attachmentOf({ driver: volume.driver, handle: volume.handle })
    if (attachment === undefined)
      return notAttached(context, volume, `${volume.uniqueName} has no VolumeAttachment that can be read`)
    if (attachment.metadata.deletionTimestamp !== undefined) {
      return {
        code: 'AttachmentDeleting',
        message: `VolumeAttachment ${attachment.metadata.name} is being deleted`,
        hint: 'The controller attaches the volume anew once that is gone: plan again.',
      }
    }
    if (attachment.status?.attached !== true) {
      const error = attachment.status?.attachError?.message
      return notAttached(
        context,
        volume,
        `VolumeAttachment ${attachment.metadata.name} is not attached${error ? `: ${error}` : ''}`,
      )
    }
  }
  if (!context.objects.isInUse(volume.uniqueName)) {
    return {
      code: 'NotReportedInUse',
      message: `${volume.uniqueName} is attached and not yet in node.status.volumesInUse, which only the kubelet writes`,
      hint: 'Start the kubelet: the controller may detach a volume that is not reported in use.',
    }
  }
  return undefined
}

function notAttached(context: PlanContext, volume: VolumeToMount, message: string): Wait {
  // Nobody can tell whether another node keeps it from being attached: that is not the same as that none does (S3).
  const unknown = elsewhereUnknown(context, volume)
  return {
    code: 'NotAttached',
    message: unknown === undefined ? message : `${message}; ${unknown.message}`,
    hint: `The attach/detach controller attaches it: see the pod's events (kubectl describe pod)${unknown === undefined ? '.' : `, or where it is attached. ${unknown.hint ?? ''}`}`,
  }
}

/** N9, C41: nobody but the kubelet attaches here, and that not for CSI. */
function notManaged({ specName, driver }: VolumeToMount, why: string): Wait {
  return {
    code: 'NotManaged',
    message: `${specName} has to be attached, which is not the controller's work on this node: ${why}`,
    hint:
      driver === undefined
        ? 'Start the kubelet: it attaches and mounts it.'
        : "Set enableControllerAttachDetach: true in the kubelet's configuration, and start it: CSI volumes are attached in no other way.",
  }
}

/** One pod (ReadWriteOncePod) or one node (neither RWX nor ROX) at a time. */
function accessWait(context: PlanContext, volume: VolumeToMount): Wait | undefined {
  const { persistentVolume } = volume
  if (persistentVolume === undefined) return undefined
  if (isForOnePod(persistentVolume)) {
    const other = otherPodWith(context, volume)
    if (other !== undefined) {
      return {
        code: 'AccessMode',
        message: `${volume.specName} is ReadWriteOncePod, and pod ${other} has it`,
        hint: 'It is free once that pod has ended: delete one of the two.',
      }
    }
  }
  return elsewhereUnknown(context, volume)
}

/** S30: who else has it is not known, and then nothing is mounted. */
function elsewhereUnknown(context: PlanContext, volume: VolumeToMount): Wait | undefined {
  const { persistentVolume, attachability, identity } = sharedOf(volume)
  if (attachability === 'notAttachable' || persistentVolume === undefined || allowsSeveralNodes(persistentVolume))
    return undefined
  const { elsewhere } = context.inputs.snapshot.api ?? {}
  const why = identity === undefined ? elsewhere?.problem : knowsOtherNodes(context) ? undefined : ''
  if (why === undefined) return undefined
  return {
    code: 'AccessMode',
    message: `whether ${volume.specName} is attached elsewhere cannot be told with this credential${why === '' ? '' : `: ${why}`}`,
    hint: `Use a credential that may list ${identity === undefined ? 'nodes' : 'volumeattachments'} (--kubeconfig).`,
  }
}

/** S30: another node has it, and its access mode allows one. */
export function elsewhereWait(context: PlanContext, volume: VolumeToMount): Wait | undefined {
  const nodes = nodesInTheWay(context, volume)
  if (nodes.length === 0) return undefined
  const names = nodes.map(({ name }) => name).join(', ')
  return {
    code: 'AccessMode',
    message: `${volume.specName} is attached to ${names} against its access mode (${accessModesText(volume.persistentVolume)}): ${describeNodes(nodes)}`,
    hint: freeHint(nodes),
  }
}

function nodesInTheWay(context: PlanContext, volume: VolumeToMount): readonly ElsewhereNode[] {
  const { persistentVolume } = volume
  // Without a PersistentVolume it has no access mode (R740).
  if (persistentVolume === undefined || allowsSeveralNodes(persistentVolume)) return []
  return nodesWith(context, sharedOf(volume))
}

function sharedOf(volume: VolumeToMount): SharedVolume & Pick<VolumeToMount, 'attachability'> {
  const { driver, handle, persistentVolume, attachability, plugin, specName } = volume
  const identity = driver === undefined || handle === undefined ? undefined : { driver, handle }
  // A flexVolume that is not attached here goes by its shared name elsewhere (P7).
  const isShared = identity !== undefined || attachability !== 'unknown'
  const uniqueName = isShared ? volume.uniqueName : uniqueVolumeName(plugin, specName)
  return { uniqueName, identity, persistentVolume, attachability }
}

/** What the controller says in an event of the pod as "Multi-Attach error" (R743), with what a person needs to end it. */
export function reportMultiAttach(context: PlanContext, findings: Findings, volume: VolumeToMount): void {
  const nodes = nodesInTheWay(context, volume)
  if (nodes.length === 0) return
  const pod = podName(podRefOf(context, volume.podUid))
  findings.problem(
    'warning',
    'MultiAttach',
    `pod ${pod} waits for ${volume.specName}, which one node at a time may have (${accessModesText(volume.persistentVolume)}), and another has it: ${describeNodes(nodes)}`,
    { pod: volume.podUid, volume: volume.specName },
    freeHint(nodes),
  )
}

/** UID of another pod, Desired or Frozen, that has the volume: the disk says so, or what it wants is there. */
function otherPodWith(context: PlanContext, { uniqueName, podUid }: VolumeToMount): string | undefined {
  const onDisk = context.users.of(uniqueName).find((user) => user.pod.uid !== podUid && user.how === 'has it on disk')
  if (onDisk !== undefined) return onDisk.pod.uid
  return context.desired.volumes.find(
    (other) =>
      other.uniqueName === uniqueName &&
      other.podUid !== podUid &&
      pluginNamed(other.plugin).evidence(context.inputs, other).state === 'mounted',
  )?.podUid
}

function driverWait(context: PlanContext, volume: VolumeToMount): Wait | undefined {
  if (volume.plugin !== CSI_PLUGIN || volume.driver === undefined) return undefined
  if (registeredDriver(context.inputs, volume.driver) !== undefined) return undefined
  return {
    code: 'DriverNotRegistered',
    message: whyNoDriver(context, volume.driver),
    hint: "See whether the driver's node pod runs.",
  }
}

/** What a person has to clear away before the mount. */
export function mountObstacle(context: PlanContext, volume: VolumeToMount, target: string): Obstacle | undefined {
  const { inputs } = context
  const node = inputs.snapshot.api?.node ?? null
  if (volume.persistentVolume !== undefined && node !== null && !matchesNode(volume.persistentVolume, node)) {
    return {
      code: 'NodeAffinity',
      message: `PersistentVolume ${volume.persistentVolume.metadata.name} may not be used on this node`,
      hint: 'The pod is on the wrong node: delete it, so that it is scheduled again.',
    }
  }
  const kubelets = notMigrated(context, volume)
  if (kubelets !== undefined) {
    return {
      code: 'NotMigrated',
      message: `this kubelet mounts ${kubelets} by itself, in a directory of its own, and does not leave it to ${volume.driver ?? 'a CSI driver'}`,
      hint: 'Start the kubelet: it mounts the volume.',
    }
  }
  const plugin = pluginNamed(volume.plugin)
  const options = plugin.refusesMountOptions ? mountOptionsObstacle(volume) : undefined
  if (options !== undefined) return options
  const inside = inputs.top(target) !== undefined || !plugin.mountsOver(volume) ? [] : inputs.tree.descendants(target)
  const data = inside.find((entry) => entry.type !== 'dir')
  if (data !== undefined) {
    return {
      code: 'DataUnderMountPoint',
      message: `${inputs.absolute(data.path)} lies where the volume is to be mounted`,
      hint: 'Look at it; move it away or delete it yourself, then plan again.',
    }
  }
  return undefined
}

/** What must hold before a wanted volume may be mounted (S22, S30, R430, R813, R814, R829; O26). */
import type { VolumeToMount } from '../desired/desired-state.ts'
import { matchesNode } from '../desired/node-affinity.ts'
import { CSI_PLUGIN } from '../names.ts'
import { flexVolume } from '../plugins/flex-volume.ts'
import { mountOptionsObstacle } from '../plugins/mount-options.ts'
import { pluginNamed } from '../plugins/registry.ts'
import { type PlanContext, registeredDriver, waitForKubelet } from './context.ts'
import type { Obstacle, Wait } from './draft.ts'
import { whyNoDriver } from './report-drivers.ts'
import { allowsSeveralNodes, isForOnePod, knowsOtherNodes } from './volume-facts.ts'

export function mountWait(context: PlanContext, volume: VolumeToMount): Wait | undefined {
  return (
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
    return notAttached(`${volume.uniqueName} is not in node.status.volumesAttached`)
  }
  if (volume.driver !== undefined && volume.handle !== undefined) {
    const attachment = context.objects.attachmentOf({ driver: volume.driver, handle: volume.handle })
    if (attachment === undefined) return notAttached(`${volume.uniqueName} has no VolumeAttachment that can be read`)
    if (attachment.metadata.deletionTimestamp !== undefined) {
      return {
        code: 'AttachmentDeleting',
        message: `VolumeAttachment ${attachment.metadata.name} is being deleted`,
        hint: 'The controller attaches the volume anew once that is gone: plan again.',
      }
    }
    if (attachment.status?.attached !== true) {
      const error = attachment.status?.attachError?.message
      return notAttached(`VolumeAttachment ${attachment.metadata.name} is not attached${error ? `: ${error}` : ''}`)
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

function notAttached(message: string): Wait {
  return {
    code: 'NotAttached',
    message,
    hint: "The attach/detach controller attaches it: see the pod's events (kubectl describe pod).",
  }
}

/** One pod (ReadWriteOncePod) or one node (neither RWX nor ROX) at a time. */
function accessWait(context: PlanContext, volume: VolumeToMount): Wait | undefined {
  const { persistentVolume, driver, handle } = volume
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
  if (driver === undefined || handle === undefined || allowsSeveralNodes(persistentVolume)) return undefined
  if (!knowsOtherNodes(context) && volume.attachability !== 'notAttachable') {
    return {
      code: 'AccessMode',
      message: `whether ${volume.specName} is attached elsewhere cannot be told with this credential (S30)`,
      hint: 'Use a credential that may list volumeattachments (--kubeconfig).',
    }
  }
  const elsewhere = context.objects.attachedElsewhere({ driver, handle })
  return elsewhere.length === 0
    ? undefined
    : {
        code: 'AccessMode',
        message: `${volume.specName} is attached to ${elsewhere.join(', ')} against its access mode`,
        hint: 'End its pods there; the controller detaches it then.',
      }
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
  if (registeredDriver(context, volume.driver) !== undefined) return undefined
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

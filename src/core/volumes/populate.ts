/** The populator: which volumes the given pods need. */

import { append, memoize } from '../base/collections.ts'
import type { Pod } from '../kube/api/objects.ts'
import { apiLookup } from './api-lookup.ts'
import {
  type DesiredState,
  mayBeNamed,
  mayBeOne,
  type UnresolvedVolume,
  type VolumeSpec,
  type VolumeToMount,
} from './desired-state.ts'
import type { DeviceSource } from './plugin.ts'
import { isControllerTerminated, onDiskUid, usedVolumeNames } from './pods.ts'
import { isDeviceOf } from './registry.ts'
import { resolveVolume, type SpecOfSource, specOf } from './resolve-volume.ts'
import type { ApiSnapshot } from './snapshot.ts'
import { CSI_PLUGIN, uniqueVolumeName } from './volume-names.ts'

/**
 * Resolves every volume that a container of these pods uses (R105). The caller decides which pods want volumes.
 *
 * A volume that cannot be resolved is listed, never left out: a tool that starts with an empty desired state would otherwise take
 * it for "not desired" (R118, R812).
 */
export function desiredStateOfPods(pods: readonly Pod[], api: ApiSnapshot): DesiredState {
  const volumes = new Map<string, VolumeToMount>()
  const unresolved: UnresolvedVolume[] = []
  for (const pod of pods) {
    const podUid = onDiskUid(pod)
    const used = usedVolumeNames(pod)
    for (const volume of pod.spec.volumes ?? []) {
      const use = used.get(volume.name)
      if (use === undefined) continue
      const { spec, unresolved: why } = resolveVolume(pod, volume, api, use)
      if (why !== undefined) unresolved.push(why)
      if (spec === undefined || why !== undefined) continue
      // The same volume under a second name in the pod: one mount with both names, and the later spec counts (R004, R302).
      const key = JSON.stringify([podUid, spec.uniqueName])
      const podVolumeNames = [...new Set([...(volumes.get(key)?.podVolumeNames ?? []), volume.name])]
      volumes.set(key, { ...spec, podUid, pod, podVolumeNames })
    }
  }
  return { volumes: [...volumes.values()], unresolved }
}

// PersistentVolumes without a VolumeAttachment (iscsi, fc, flexVolume): only the status of Nodes shows where they are attached.

/** All such volumes that were read, under their names in the Node's status. */
export const statusVolumes = memoize((api: ApiSnapshot) =>
  api.persistentVolumes.flatMap((persistentVolume) => {
    const found = specOf({ persistentVolume }, { podUid: '', lookup: apiLookup(api), node: api.node })
    // CSI volumes have VolumeAttachments.
    if ('error' in found || found.plugin === CSI_PLUGIN || found.attachability === 'notAttachable') return []
    return { ...found, uniqueName: sharedName(found), persistentVolume }
  }),
)

/** The volumes to which a global directory of this name may belong. */
export function statusVolumesAt(api: ApiSnapshot, plugin: string, name: string) {
  return statusVolumes(api).filter((volume) => isDeviceOf(volume, plugin, name))
}

// Which volumes the attach/detach controller wants attached to a node, by rules that differ from the kubelet's (R706-R709).

export interface ControllerWanted {
  /** Unique volume name to the pods that want it. */
  readonly names: ReadonlyMap<string, readonly Pod[]>
  /** All known volumes, attachable or not. */
  readonly volumes: readonly VolumeSpec[]
  /** For these the controller still wants what it wanted before: an attachment that may be theirs stays (S4). */
  readonly unresolved: readonly UnresolvedVolume[]
}

/**
 * Every volume of spec.volumes counts, used by a container or not, of every pod of the node that is not terminated in the API
 * (S21). A volume counts as wanted, too, if its attachability is not known, or if the pod cannot use it.
 */
export function controllerWantedVolumes(pods: readonly Pod[], api: ApiSnapshot, nodeName: string): ControllerWanted {
  const names = new Map<string, Pod[]>()
  const volumes: VolumeSpec[] = []
  const unresolved: UnresolvedVolume[] = []
  for (const pod of pods) {
    if ((pod.spec.nodeName ?? nodeName) !== nodeName || isControllerTerminated(pod)) continue
    for (const volume of pod.spec.volumes ?? []) {
      const { spec, unresolved: why } = resolveVolume(pod, volume, api)
      if (why !== undefined) unresolved.push(why)
      if (spec === undefined) continue
      volumes.push(spec)
      if (spec.attachability !== 'notAttachable') append(names, sharedName(spec), pod)
    }
  }
  return { names, volumes, unresolved }
}

/** Is the volume wanted, or may one that could not be resolved be this one (S4)? */
export function mayWant({ names, unresolved }: ControllerWanted, uniqueName: string): boolean {
  return names.has(uniqueName) || unresolved.some(({ mayBe }) => mayBeNamed(mayBe, uniqueName))
}

/** The devices that are wanted (S25); undefined if a volume that could not be resolved may belong to the plugin (S4). */
export function wantedDevices(
  { volumes, unresolved }: ControllerWanted,
  plugin: string,
): readonly DeviceSource[] | undefined {
  return unresolved.some(({ mayBe }) => mayBeOne(mayBe, { plugin })) ? undefined : volumes
}

/** By which the controller and the Node's status have a volume that is attached: the kubelet has none of a flexVolume before (P7). */
function sharedName({ plugin, specName, uniqueName, deviceMountable }: SpecOfSource): string {
  return deviceMountable ? uniqueName : uniqueVolumeName(plugin, specName)
}

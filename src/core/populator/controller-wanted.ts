/** Which volumes the attach/detach controller wants attached to a node, by rules that differ from the kubelet's (R706-R709). */

import { apiLookup } from '../desired/api-lookup.ts'
import type { UnresolvedVolume } from '../desired/desired-state.ts'
import { mayBeNamed, mayBeOne } from '../desired/may-be.ts'
import { isControllerTerminated, onDiskUid } from '../desired/pods.ts'
import type { VolumeSpec } from '../desired/volume-spec.ts'
import { append } from '../lang/append.ts'
import type { Pod } from '../model/objects.ts'
import type { ApiSnapshot } from '../model/snapshot.ts'
import { uniqueVolumeName } from '../names/volume-names.ts'
import type { DeviceSource } from '../plugins/plugin.ts'
import { CONTROLLER_RULES, knownSpec, resolveVolume } from './resolve-volume.ts'

export interface ControllerWanted {
  /** Unique volume name to the pods that want it. */
  readonly names: ReadonlyMap<string, readonly Pod[]>
  /** All known volumes, attachable or not. */
  readonly volumes: readonly VolumeSpec[]
  /** For these the controller still wants what it wanted before: an attachment that may be theirs stays (S4). */
  readonly unresolved: readonly UnresolvedVolume[]
}

const UNUSED = { mounted: false, mapped: false }

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
    const podUid = onDiskUid(pod)
    const context = { podUid, lookup: apiLookup(api), node: api.node }
    for (const volume of pod.spec.volumes ?? []) {
      const resolution = resolveVolume(pod, volume, UNUSED, context, CONTROLLER_RULES)
      if ('unresolved' in resolution) {
        unresolved.push({ podUid, pod, podVolumeName: volume.name, ...resolution.unresolved })
      }
      const spec = knownSpec(resolution)
      if (spec === undefined) continue
      volumes.push(spec)
      for (const name of attachedNames(spec)) append(names, name, pod)
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

/** Unlike the kubelet, the controller always uses a volume's shared name. */
function attachedNames({ plugin, specName, uniqueName, attachability, deviceMountable }: VolumeSpec): string[] {
  if (attachability === 'notAttachable') return []
  return [deviceMountable ? uniqueName : uniqueVolumeName(plugin, specName)]
}

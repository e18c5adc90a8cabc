/** What the attach/detach controller wants attached to a node, by its own rules, which differ from the kubelet's (R706-R709). */
import { append } from '../append.ts'
import type { Pod } from '../model/objects.ts'
import type { ApiSnapshot } from '../model/snapshot.ts'
import { uniqueVolumeName } from '../names.ts'
import { apiLookup } from './api-lookup.ts'
import type { UnresolvedVolume, VolumeSpec } from './desired-state.ts'
import { isControllerTerminated, onDiskUid } from './pods.ts'
import { CONTROLLER_RULES, resolveVolume } from './resolve-volume.ts'

export interface ControllerWanted {
  /** Unique volume name to the pods that want it. */
  readonly names: ReadonlyMap<string, readonly Pod[]>
  /** All that resolved, attachable or not. */
  readonly volumes: readonly VolumeSpec[]
  /** The controller keeps what it wanted before for these: any attachment may be theirs. */
  readonly unresolved: readonly UnresolvedVolume[]
}

const UNUSED = { mounted: false, mapped: false }

/**
 * All of spec.volumes counts, used by a container or not, of every pod of the node that isn't terminated in the API
 * (S21). Where attachability isn't known the volume counts as wanted.
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
        continue
      }
      volumes.push(resolution.spec)
      for (const name of attachedNames(resolution.spec)) append(names, name, pod)
    }
  }
  return { names, volumes, unresolved }
}

/** Unlike the kubelet's, the controller's volumes always bear their shared name. */
function attachedNames({ plugin, specName, uniqueName, attachability, deviceMountable }: VolumeSpec): string[] {
  if (attachability === 'notAttachable') return []
  return [deviceMountable ? uniqueName : uniqueVolumeName(plugin, specName)]
}

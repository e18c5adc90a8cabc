/** PersistentVolumes of plugins that have no VolumeAttachment: who has them stands in the status of Nodes alone (iscsi, fc, flexVolume). */
import { apiLookup } from '../desired/api-lookup.ts'
import { isDeviceOf } from '../devices/whose-device.ts'
import { onceFor } from '../lang/once-for.ts'
import type { PersistentVolume } from '../model/objects.ts'
import type { ApiSnapshot } from '../model/snapshot.ts'
import { uniqueVolumeName } from '../names/volume-names.ts'
import type { DeviceSource } from '../plugins/plugin.ts'
import { pluginOfPersistentVolume } from './volume-plugins.ts'

export interface StatusVolume {
  /** As the Node has it. */
  readonly uniqueName: string
  readonly persistentVolume: PersistentVolume
  readonly source: DeviceSource
}

/** Of all that were read. */
export const statusVolumes = onceFor((api: ApiSnapshot): readonly StatusVolume[] =>
  api.persistentVolumes.flatMap((persistentVolume): StatusVolume[] => {
    // VolumeAttachments tell of these.
    if (persistentVolume.spec.csi != null) return []
    const facts = pluginOfPersistentVolume(persistentVolume, { podUid: '', lookup: apiLookup(api), node: api.node })
    if ('error' in facts || facts.attachability === 'notAttachable') return []
    const specName = persistentVolume.metadata.name
    // A flexVolume that is not attached here has no shared name yet (P7).
    const uniqueName = facts.attachability === 'unknown' ? uniqueVolumeName(facts.plugin, specName) : facts.uniqueName
    return [{ uniqueName, persistentVolume, source: { plugin: facts.plugin, specName, persistentVolume } }]
  }),
)

/** Those of which a global directory of this name may be. */
export function statusVolumesAt(api: ApiSnapshot, plugin: string, name: string): readonly StatusVolume[] {
  return statusVolumes(api).filter(({ source }) => isDeviceOf(source, plugin, name))
}

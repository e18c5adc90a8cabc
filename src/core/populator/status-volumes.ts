/** PersistentVolumes without a VolumeAttachment (iscsi, fc, flexVolume): only the status of Nodes shows where they are attached. */
import { apiLookup } from '../desired/api-lookup.ts'
import { isDeviceOf } from '../devices/whose-device.ts'
import { onceFor } from '../lang/once-for.ts'
import type { PersistentVolume } from '../model/objects.ts'
import type { ApiSnapshot } from '../model/snapshot.ts'
import { uniqueVolumeName } from '../names/volume-names.ts'
import type { DeviceSource } from '../plugins/plugin.ts'
import { pluginOfPersistentVolume } from './resolve-volume.ts'

export interface StatusVolume {
  /** The name in the Node's status. */
  readonly uniqueName: string
  readonly persistentVolume: PersistentVolume
  readonly source: DeviceSource
}

/** All such volumes that were read. */
export const statusVolumes = onceFor((api: ApiSnapshot): readonly StatusVolume[] =>
  api.persistentVolumes.flatMap((persistentVolume): StatusVolume[] => {
    // CSI volumes have VolumeAttachments.
    if (persistentVolume.spec.csi != null) return []
    const facts = pluginOfPersistentVolume(persistentVolume, { podUid: '', lookup: apiLookup(api), node: api.node })
    if ('error' in facts || facts.attachability === 'notAttachable') return []
    const specName = persistentVolume.metadata.name
    // A flexVolume that is not attached here has no shared name yet (P7).
    const uniqueName = facts.attachability === 'unknown' ? uniqueVolumeName(facts.plugin, specName) : facts.uniqueName
    return [{ uniqueName, persistentVolume, source: { plugin: facts.plugin, specName, persistentVolume } }]
  }),
)

/** The volumes to which a global directory of this name may belong. */
export function statusVolumesAt(api: ApiSnapshot, plugin: string, name: string): readonly StatusVolume[] {
  return statusVolumes(api).filter(({ source }) => isDeviceOf(source, plugin, name))
}

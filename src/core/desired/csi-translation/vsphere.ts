/** `kubernetes.io/vsphere-volume` to `csi.vsphere.vmware.com` (R155, R163). */
import type { CsiPersistentVolumeSource, InTreeSources } from '../../model/objects.ts'
import { copied, type InTreePlugin } from './in-tree-plugin.ts'
import { translateZoneAndRegion } from './topology.ts'

const DRIVER = 'csi.vsphere.vmware.com'

export const vsphere: InTreePlugin<'vsphereVolume'> = {
  source: 'vsphereVolume',
  translatePersistentVolume(source, pv) {
    const topology = translateZoneAndRegion(pv, {
      zone: 'topology.csi.vmware.com/zone',
      region: 'topology.csi.vmware.com/region',
    })
    return 'error' in topology ? topology : { csi: csiSource(source), ...topology }
  },
  translateInline(source) {
    // The kubelet itself panics here: no node can have mounted such a volume.
    if (source.storagePolicyName) return { error: 'an inline vSphere volume with storagePolicyName is not supported' }
    return { name: `${DRIVER}-${source.volumePath}`, csi: csiSource(source), accessModes: ['ReadWriteOnce'] }
  },
}

function csiSource(source: NonNullable<InTreeSources['vsphereVolume']>): CsiPersistentVolumeSource {
  const { volumePath, storagePolicyName, fsType } = source
  const volumeAttributes: Record<string, string> = storagePolicyName ? { storagepolicyname: storagePolicyName } : {}
  return {
    driver: DRIVER,
    volumeHandle: volumePath,
    volumeAttributes,
    ...copied(fsType === undefined ? {} : { fsType }),
  }
}

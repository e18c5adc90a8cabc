/** `kubernetes.io/cinder` to `cinder.csi.openstack.org` (R155, R162). */
import type { CsiPersistentVolumeSource, InTreeSources } from '../../model/objects.ts'
import { copied, type InTreePlugin } from './in-tree-plugin.ts'
import { translateZone } from './topology.ts'

const DRIVER = 'cinder.csi.openstack.org'

export const cinder: InTreePlugin<'cinder'> = {
  source: 'cinder',
  translatePersistentVolume(source, pv) {
    const topology = translateZone(pv, 'topology.cinder.csi.openstack.org/zone')
    return 'error' in topology ? topology : { csi: csiSource(source), ...topology }
  },
  translateInline(source) {
    return { name: `${DRIVER}-${source.volumeID}`, csi: csiSource(source), accessModes: ['ReadWriteOnce'] }
  },
}

function csiSource(source: NonNullable<InTreeSources['cinder']>): CsiPersistentVolumeSource {
  return { driver: DRIVER, volumeHandle: source.volumeID, volumeAttributes: {}, ...copied(source) }
}

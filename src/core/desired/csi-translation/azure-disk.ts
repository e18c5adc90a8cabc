/** `kubernetes.io/azure-disk` to `disk.csi.azure.com` (R155, R159). */
import type { CsiPersistentVolumeSource, InTreeSources } from '../../model/objects.ts'
import { copied, type InTreePlugin, type Untranslatable } from './in-tree-plugin.ts'

const DRIVER = 'disk.csi.azure.com'

type Source = NonNullable<InTreeSources['azureDisk']>

export const azureDisk: InTreePlugin<'azureDisk'> = {
  source: 'azureDisk',
  translatePersistentVolume(source) {
    // An empty caching mode is passed on for a PersistentVolume, but not for an inline volume.
    const csi = csiSource(source, source.cachingMode !== undefined)
    return 'error' in csi ? csi : { csi }
  },
  translateInline(source) {
    const csi = csiSource(source, Boolean(source.cachingMode))
    if ('error' in csi) return csi
    return { name: source.diskURI, csi, accessModes: ['ReadWriteOnce'] }
  },
}

function csiSource(source: Source, withCachingMode: boolean): CsiPersistentVolumeSource | Untranslatable {
  const { diskURI, kind, cachingMode = '', fsType } = source
  if (kind && kind.toLowerCase() !== 'managed') return { error: `Azure disk ${diskURI} has kind ${kind}, not Managed` }
  const volumeAttributes = {
    kind: 'Managed',
    ...(withCachingMode ? { cachingmode: cachingMode } : {}),
    ...(fsType ? { fstype: fsType } : {}),
  }
  return { driver: DRIVER, volumeHandle: diskURI, volumeAttributes, ...copied(source) }
}

/** `kubernetes.io/gce-pd` to `pd.csi.storage.gke.io` (R155-R157, R160). */
import { defined } from '../../lang/defined.ts'
import type { CsiPersistentVolumeSource, InTreeSources, PersistentVolume } from '../../model/objects.ts'
import { copied, type InTreePlugin, type Untranslatable } from './in-tree-plugin.ts'
import { BETA_LABELS, GA_LABELS, splitZones, translateZone } from './topology.ts'

const DRIVER = 'pd.csi.storage.gke.io'

type Source = NonNullable<InTreeSources['gcePersistentDisk']>

export const gcePd: InTreePlugin<'gcePersistentDisk'> = {
  source: 'gcePersistentDisk',
  translatePersistentVolume(source, pv) {
    const location = locationOf(pv)
    if (typeof location !== 'string') return location
    const topology = translateZone(pv, 'topology.gke.io/zone')
    if ('error' in topology) return topology
    const accessModes = translateAccessModes(pv.spec.accessModes)
    return { csi: csiSource(source, location), ...defined({ accessModes }), ...topology }
  },
  translateInline(source) {
    return {
      name: `${DRIVER}-${source.pdName}`,
      // The kubelet never replaces this with the real zone: names and paths contain the hash of this text (R157).
      csi: csiSource(source, 'zones/UNSPECIFIED'),
      accessModes: [source.readOnly ? 'ReadOnlyMany' : 'ReadWriteOnce'],
    }
  },
}

function csiSource(source: Source, location: string): CsiPersistentVolumeSource {
  const volumeHandle = `projects/UNSPECIFIED/${location}/disks/${source.pdName}`
  const volumeAttributes = { partition: source.partition ? String(source.partition) : '' }
  return { driver: DRIVER, volumeHandle, volumeAttributes, ...copied(source) }
}

/** From one zone label, several zones of one region, or no label. The beta label comes first here, unlike in topology.ts. */
function locationOf(pv: PersistentVolume): string | Untranslatable {
  const label = pv.metadata.labels?.[BETA_LABELS.zone] ?? pv.metadata.labels?.[GA_LABELS.zone]
  if (label === undefined) return 'zones/UNSPECIFIED'
  const zones = [...new Set(splitZones(label))]
  if (zones.length === 1) return `zones/${label}`
  const [region, ...others] = [...new Set(zones.map(regionOf))]
  if (region === undefined || others.length > 0) return { error: `zones ${label} are in different regions` }
  return `regions/${region}`
}

/** `us-central1-a` to `us-central1`. */
function regionOf(zone: string): string | undefined {
  const parts = zone.split('-')
  return parts.length === 3 ? `${parts[0]}-${parts[1]}` : undefined
}

/** The in-tree plugin never enforced access modes, the driver does (R156). */
function translateAccessModes(modes: readonly string[] | undefined): readonly string[] | undefined {
  if (modes === undefined) return undefined
  const onlyReadOnlyMany = modes.length > 0 && modes.every((mode) => mode === 'ReadOnlyMany')
  return onlyReadOnlyMany ? ['ReadOnlyMany'] : ['ReadWriteOnce']
}

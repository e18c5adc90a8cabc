/** In-tree volumes as the CSI volumes that the kubelet translates them to, always and on every node (R150-R164). */
import type { CsiPersistentVolumeSource, InTreeSources, PersistentVolume } from '../kube/api/objects.ts'
import type { SpecFailure, SpecSource } from './desired-state.ts'
import { BETA_LABELS, GA_LABELS, splitZones, type TopologyKeys, translateTopology } from './in-tree-topology.ts'

/** What names the volume: a PersistentVolume, or a pod of this namespace. */
interface Within {
  readonly name: string
  readonly namespace?: string
  readonly pv?: PersistentVolume
}

interface InTreeVolume<Source> {
  readonly driver: string
  /** The CSI source, without driver, fsType and readOnly, which are added for all. */
  csi(source: Source, within: Within): Omit<CsiPersistentVolumeSource, 'driver'> | SpecFailure
  /** Never copied. */
  readonly dropsReadOnly?: true
  /** The keys in a PersistentVolume's node affinity (R154); absent: they stay. */
  readonly topology?: TopologyKeys
  /** Of a PersistentVolume; absent: they stay. */
  accessModes?(modes: readonly string[] | undefined): readonly string[] | undefined
  /** Of an inline volume: its spec name and directory (R005); absent: driver and handle. */
  inlineName?(source: Source, handle: string): string
  /** Of an inline volume; absent: ReadWriteOnce. */
  inlineAccessMode?(source: Source): string
}

type Sources = { readonly [Key in keyof InTreeSources]-?: NonNullable<InTreeSources[Key]> }

const onlyReadOnly = ({ readOnly }: { readonly readOnly?: boolean }): string =>
  readOnly ? 'ReadOnlyMany' : 'ReadWriteOnce'

export const IN_TREE: { readonly [Key in keyof Sources]: InTreeVolume<Sources[Key]> } = {
  /** R155, R158. */
  awsElasticBlockStore: {
    driver: 'ebs.csi.aws.com',
    csi: ({ volumeID, partition }) => {
      const volumeHandle = ebsVolumeId(volumeID)
      if (volumeHandle === undefined) return { error: `${volumeID} is not an EBS volume ID` }
      return { volumeHandle, volumeAttributes: { partition: String(partition ?? 0) } }
    },
    topology: { zone: 'topology.ebs.csi.aws.com/zone' },
  },
  /** R155-R157, R160. */
  gcePersistentDisk: {
    driver: 'pd.csi.storage.gke.io',
    csi: ({ pdName, partition }, { pv }) => {
      // Of an inline volume never the real zone: names and paths contain the hash of this text (R157).
      const location = pv === undefined ? 'zones/UNSPECIFIED' : locationOf(pv)
      if (typeof location !== 'string') return location
      const volumeHandle = `projects/UNSPECIFIED/${location}/disks/${pdName}`
      return { volumeHandle, volumeAttributes: { partition: partition ? String(partition) : '' } }
    },
    topology: { zone: 'topology.gke.io/zone' },
    // The in-tree plugin never enforced access modes, the driver does (R156).
    accessModes: (modes) => {
      if (modes === undefined) return undefined
      return modes.length > 0 && modes.every((mode) => mode === 'ReadOnlyMany') ? ['ReadOnlyMany'] : ['ReadWriteOnce']
    },
    inlineName: ({ pdName }) => `pd.csi.storage.gke.io-${pdName}`,
    inlineAccessMode: onlyReadOnly,
  },
  /** R155, R159. */
  azureDisk: {
    driver: 'disk.csi.azure.com',
    csi: ({ diskURI, kind, cachingMode, fsType }, { pv }) => {
      if (kind && kind.toLowerCase() !== 'managed')
        return { error: `Azure disk ${diskURI} has kind ${kind}, not Managed` }
      // An empty caching mode is passed on for a PersistentVolume, but not for an inline volume.
      const cachingmode = pv === undefined ? cachingMode || undefined : cachingMode
      const volumeAttributes = {
        kind: 'Managed',
        ...(cachingmode !== undefined && { cachingmode }),
        ...(fsType && { fstype: fsType }),
      }
      return { volumeHandle: diskURI, volumeAttributes }
    },
    inlineName: ({ diskURI }) => diskURI,
  },
  /** R155, R161. */
  azureFile: {
    driver: 'file.csi.azure.com',
    csi: ({ secretName, secretNamespace, shareName }, { pv, name, namespace: ofPod }) => {
      const namespace = pv === undefined ? ofPod || 'default' : (secretNamespace ?? pv.spec.claimRef?.namespace)
      if (!namespace) return { error: `the namespace of its secret ${secretName} is not known` }
      const group = pv?.metadata.annotations?.['kubernetes.io/azure-file-resource-group'] ?? ''
      const account = /azure-storage-account-(.+)-secret/.exec(secretName)?.[1] ?? secretName
      return {
        volumeHandle: [group, account, shareName, name, namespace].join('#'),
        volumeAttributes: { sharename: shareName },
        nodeStageSecretRef: { name: secretName, namespace },
      }
    },
    inlineName: (_, handle) => handle,
    inlineAccessMode: () => 'ReadWriteMany',
  },
  /** R155, R162. */
  cinder: {
    driver: 'cinder.csi.openstack.org',
    csi: ({ volumeID }) => ({ volumeHandle: volumeID, volumeAttributes: {} }),
    topology: { zone: 'topology.cinder.csi.openstack.org/zone' },
  },
  /** R155, R163. */
  vsphereVolume: {
    driver: 'csi.vsphere.vmware.com',
    csi: ({ volumePath, storagePolicyName }, { pv }) => {
      // The kubelet itself panics here: no node can have mounted such a volume.
      if (pv === undefined && storagePolicyName)
        return { error: 'an inline vSphere volume with storagePolicyName is not supported' }
      const volumeAttributes = { ...(storagePolicyName && { storagepolicyname: storagePolicyName }) }
      return { volumeHandle: volumePath, volumeAttributes }
    },
    topology: { zone: 'topology.csi.vmware.com/zone', region: 'topology.csi.vmware.com/region' },
  },
  /** R155, R164. */
  portworxVolume: {
    driver: 'pxd.portworx.com',
    csi: ({ volumeID }, { pv }) => ({ volumeHandle: volumeID, volumeAttributes: {}, ...secretReferences(pv) }),
    dropsReadOnly: true,
    inlineAccessMode: onlyReadOnly,
  },
}

/** So that all can be asked one after the other. */
interface AnySource {
  readonly readOnly?: boolean
  readonly fsType?: string
}

/** The one source that a volume has, in the spec of a pod or of its PersistentVolume. */
function inTreeOf(sources: InTreeSources | undefined) {
  for (const key of Object.keys(IN_TREE) as (keyof InTreeSources)[]) {
    const source = sources?.[key]
    if (source != null) return { key, source: source as AnySource, kind: IN_TREE[key] as InTreeVolume<AnySource> }
  }
  return undefined
}

/**
 * A PersistentVolume, or an inline volume as a synthetic one without claim, capacity, mount options and node affinity (R153); undefined:
 * its source is not in-tree (R151).
 *
 * @param namespace of the pod that an inline volume is in
 */
export function translate(
  { persistentVolume: pv, source: volume }: SpecSource,
  namespace?: string,
): { readonly persistentVolume: PersistentVolume } | SpecFailure | undefined {
  const found = inTreeOf(pv?.spec ?? volume)
  if (found === undefined) return undefined
  const { key, source, kind } = found
  const named = kind.csi(source, { name: pv?.metadata.name ?? volume?.name ?? '', namespace, pv })
  if ('error' in named) return named
  const { fsType, readOnly } = source
  const csi = { driver: kind.driver, ...named, fsType, readOnly: kind.dropsReadOnly ? undefined : readOnly }
  if (pv === undefined) {
    const name = kind.inlineName?.(source, csi.volumeHandle) ?? `${kind.driver}-${csi.volumeHandle}`
    const accessModes = [kind.inlineAccessMode?.(source) ?? 'ReadWriteOnce']
    return { persistentVolume: { metadata: { name, uid: '' }, spec: { csi, accessModes, volumeMode: 'Filesystem' } } }
  }
  const nodeSelectorTerms = kind.topology ? translateTopology(pv, kind.topology) : []
  if ('error' in nodeSelectorTerms) return nodeSelectorTerms
  const { [key]: _translated, ...rest } = pv.spec
  const spec = {
    ...rest,
    csi,
    accessModes: kind.accessModes?.(pv.spec.accessModes) ?? rest.accessModes,
    ...(nodeSelectorTerms.length > 0 && { nodeAffinity: { required: { nodeSelectorTerms } } }),
  }
  return { persistentVolume: { ...pv, spec } }
}

/** The CSI source of a PersistentVolume, translated if its source is in-tree (R150); undefined for other sources. */
export function csiSourceOf(persistentVolume: PersistentVolume): CsiPersistentVolumeSource | undefined {
  const given = { persistentVolume }
  const found = persistentVolume.spec.csi === undefined ? translate(given) : given
  return found && 'persistentVolume' in found ? found.persistentVolume.spec.csi : undefined
}

/** `aws://zone/vol-1` to `vol-1`; without the prefix an ID is taken unchecked. */
function ebsVolumeId(volumeId: string): string | undefined {
  if (!volumeId.startsWith('aws://')) return volumeId
  const [, path = ''] = /^aws:\/\/[^/?#]*([^?#]*)/.exec(volumeId) ?? []
  const id = path.replace(/^\/+|\/+$/g, '')
  return /^vol-[^/]*$/.test(id) ? id : undefined
}

/** Of a GCE disk, from one zone label, several zones of one region, or no label. The beta label comes first here, unlike elsewhere. */
function locationOf(pv: PersistentVolume): string | SpecFailure {
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

/** Of a Portworx volume, one secret for all calls, if both annotations are there. */
function secretReferences(pv: PersistentVolume | undefined): Partial<CsiPersistentVolumeSource> {
  const { 'openstorage.io/auth-secret-name': name, 'openstorage.io/auth-secret-namespace': namespace } =
    pv?.metadata.annotations ?? {}
  if (!name || !namespace) return {}
  const secret = { name, namespace }
  return {
    controllerPublishSecretRef: secret,
    nodeStageSecretRef: secret,
    nodePublishSecretRef: secret,
    controllerExpandSecretRef: secret,
    nodeExpandSecretRef: secret,
  }
}

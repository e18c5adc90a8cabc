/** The kinds of object that the test server has. */
export interface ResourceType {
  readonly group: string
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
  /** Default v1. */
  readonly version?: string
}

const STORAGE = 'storage.k8s.io'

export const RESOURCE_TYPES: readonly ResourceType[] = [
  { group: '', plural: 'pods', kind: 'Pod', namespaced: true },
  { group: '', plural: 'namespaces', kind: 'Namespace', namespaced: false },
  { group: '', plural: 'nodes', kind: 'Node', namespaced: false },
  { group: '', plural: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim', namespaced: true },
  { group: '', plural: 'persistentvolumes', kind: 'PersistentVolume', namespaced: false },
  { group: '', plural: 'configmaps', kind: 'ConfigMap', namespaced: true },
  { group: '', plural: 'secrets', kind: 'Secret', namespaced: true },
  { group: '', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true },
  {
    group: 'certificates.k8s.io',
    version: 'v1',
    plural: 'clustertrustbundles',
    kind: 'ClusterTrustBundle',
    namespaced: false,
  },
  { group: STORAGE, plural: 'volumeattachments', kind: 'VolumeAttachment', namespaced: false },
  { group: STORAGE, plural: 'csidrivers', kind: 'CSIDriver', namespaced: false },
  { group: STORAGE, plural: 'csinodes', kind: 'CSINode', namespaced: false },
  { group: 'coordination.k8s.io', plural: 'leases', kind: 'Lease', namespaced: true },
]

export const REVIEWS = ['selfsubjectreviews', 'selfsubjectaccessreviews'] as const

export function typeOfKind(kind: string): ResourceType | undefined {
  return RESOURCE_TYPES.find((type) => type.kind === kind)
}

export function typeOfPlural(group: string, plural: string): ResourceType | undefined {
  return RESOURCE_TYPES.find((type) => type.group === group && type.plural === plural)
}

export function apiVersion(type: ResourceType): string {
  const { group, version = 'v1' } = type
  return group === '' ? version : `${group}/${version}`
}

/** An object as in JSON: only the fields that the server itself uses are typed. */
export interface StoredObject {
  apiVersion?: string
  kind?: string
  metadata: {
    name: string
    namespace?: string
    uid?: string
    resourceVersion?: string
    creationTimestamp?: string
    deletionTimestamp?: string
    finalizers?: string[]
    annotations?: Record<string, string>
    ownerReferences?: unknown
  }
  spec?: Record<string, unknown>
  status?: Record<string, unknown>
}

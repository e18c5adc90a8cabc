/** The resources volctl reads, and their paths. */
export interface Resource {
  /** Plural name, as in `api.errors`. */
  readonly plural: string
  readonly root: string
}

export interface ObjectKey {
  readonly namespace?: string | undefined
  readonly name: string
}

const CORE = '/api/v1'
const STORAGE = '/apis/storage.k8s.io/v1'

export const PODS: Resource = { plural: 'pods', root: CORE }
export const NODES: Resource = { plural: 'nodes', root: CORE }
export const CLAIMS: Resource = { plural: 'persistentvolumeclaims', root: CORE }
export const VOLUMES: Resource = { plural: 'persistentvolumes', root: CORE }
export const CONFIG_MAPS: Resource = { plural: 'configmaps', root: CORE }
export const SECRETS: Resource = { plural: 'secrets', root: CORE }
export const ATTACHMENTS: Resource = { plural: 'volumeattachments', root: STORAGE }
export const CSI_DRIVERS: Resource = { plural: 'csidrivers', root: STORAGE }
export const CSI_NODES: Resource = { plural: 'csinodes', root: STORAGE }
export const LEASES: Resource = { plural: 'leases', root: '/apis/coordination.k8s.io/v1' }

/** Path of all objects of a resource, in every namespace. */
export function listPath(resource: Resource): string {
  return `${resource.root}/${resource.plural}`
}

export function objectPath(resource: Resource, key: ObjectKey): string {
  const scope = key.namespace === undefined ? '' : `/namespaces/${encodeURIComponent(key.namespace)}`
  return `${resource.root}${scope}/${resource.plural}/${encodeURIComponent(key.name)}`
}

/** One text for a key, for maps and sorting. */
export function keyText(key: ObjectKey): string {
  return `${key.namespace ?? ''}/${key.name}`
}

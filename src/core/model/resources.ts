/** The resources volctl reads: their paths, and the fields of their objects that volctl relies on. */

import type { Shape } from '../json/shape.ts'
import {
  attachmentShape,
  type ConfigMap,
  type CsiDriver,
  type CsiNode,
  claimShape,
  configMapShape,
  csiDriverShape,
  csiNodeShape,
  type Lease,
  leaseShape,
  type Node,
  nodeShape,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  podShape,
  type Secret,
  secretShape,
  type VolumeAttachment,
  volumeShape,
} from './objects.ts'

export interface ResourcePath {
  /** Plural name, as in `api.errors`. */
  readonly plural: string
  readonly root: string
}

export interface Resource<T> extends ResourcePath {
  readonly shape: Shape<T>
}

export interface ObjectKey {
  readonly namespace?: string | undefined
  readonly name: string
}

const CORE = '/api/v1'
const STORAGE = '/apis/storage.k8s.io/v1'

export const PODS: Resource<Pod> = { plural: 'pods', root: CORE, shape: podShape }
export const NODES: Resource<Node> = { plural: 'nodes', root: CORE, shape: nodeShape }
export const CLAIMS: Resource<PersistentVolumeClaim> = {
  plural: 'persistentvolumeclaims',
  root: CORE,
  shape: claimShape,
}
export const VOLUMES: Resource<PersistentVolume> = { plural: 'persistentvolumes', root: CORE, shape: volumeShape }
export const CONFIG_MAPS: Resource<ConfigMap> = { plural: 'configmaps', root: CORE, shape: configMapShape }
export const SECRETS: Resource<Secret> = { plural: 'secrets', root: CORE, shape: secretShape }
export const ATTACHMENTS: Resource<VolumeAttachment> = {
  plural: 'volumeattachments',
  root: STORAGE,
  shape: attachmentShape,
}
export const CSI_DRIVERS: Resource<CsiDriver> = { plural: 'csidrivers', root: STORAGE, shape: csiDriverShape }
export const CSI_NODES: Resource<CsiNode> = { plural: 'csinodes', root: STORAGE, shape: csiNodeShape }

export const LEASES: Resource<Lease> = {
  plural: 'leases',
  root: '/apis/coordination.k8s.io/v1',
  shape: leaseShape,
}

/** Path of all objects of a resource, in every namespace. */
export function listPath(resource: ResourcePath): string {
  return `${resource.root}/${resource.plural}`
}

export function objectPath(resource: ResourcePath, key: ObjectKey): string {
  const scope = key.namespace === undefined ? '' : `/namespaces/${encodeURIComponent(key.namespace)}`
  return `${resource.root}${scope}/${resource.plural}/${encodeURIComponent(key.name)}`
}

/** One text for a key, for maps and sorting. */
export function keyText(key: ObjectKey): string {
  return `${key.namespace ?? ''}/${key.name}`
}

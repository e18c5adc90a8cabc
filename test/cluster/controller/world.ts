/** What a controller sees: objects of the API as they are in JSON. */
import { createHash } from 'node:crypto'
import type {
  CsiDriver,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  VolumeAttachment,
} from '../../../src/core/kube/api/objects.ts'
import {
  ATTACHMENTS,
  CLAIMS,
  CSI_DRIVERS,
  listPath,
  NODES,
  PODS,
  type ResourcePath,
  VOLUMES,
} from '../../../src/core/kube/api/resources.ts'
import type { KubeClient } from '../../../src/core/kube/kube-client.ts'

export interface World {
  readonly nodes: readonly Node[]
  readonly pods: readonly Pod[]
  readonly claims: readonly PersistentVolumeClaim[]
  readonly volumes: readonly PersistentVolume[]
  readonly attachments: readonly VolumeAttachment[]
  readonly drivers: readonly CsiDriver[]
}

/** Each list is of one moment, the lists are of several: as the caches of a controller. */
export async function lookAtWorld(client: KubeClient): Promise<World> {
  const list = async <T>(resource: ResourcePath): Promise<readonly T[]> =>
    (await client.list<T>(listPath(resource))).items
  const [nodes, pods, claims, volumes, attachments, drivers] = await Promise.all([
    list<Node>(NODES),
    list<Pod>(PODS),
    list<PersistentVolumeClaim>(CLAIMS),
    list<PersistentVolume>(VOLUMES),
    list<VolumeAttachment>(ATTACHMENTS),
    list<CsiDriver>(CSI_DRIVERS),
  ])
  return { nodes, pods, claims, volumes, attachments, drivers }
}

/** R007. Made here once more, so that a mistake in volctl's own is seen. */
export function nameOfAttachment(driver: string, handle: string, node: string): string {
  return `csi-${createHash('sha256').update(handle).update(driver).update(node).digest('hex')}`
}

export function uniqueNameOf(driver: string, handle: string): string {
  return `kubernetes.io/csi/${driver}^${handle}`
}

/** What a controller sees: objects of the API as they are in JSON, with the fields alone that its pass reads. */
import { createHash } from 'node:crypto'
import type { KubeClient } from '../../../src/core/api/kube-client.ts'
import {
  ATTACHMENTS,
  CLAIMS,
  CSI_DRIVERS,
  listPath,
  NODES,
  PODS,
  type ResourcePath,
  VOLUMES,
} from '../../../src/core/model/resources.ts'

interface Metadata {
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
  readonly deletionTimestamp?: string | null
  readonly annotations?: Readonly<Record<string, string>>
}

export interface NodeObject {
  readonly metadata: Metadata
  readonly spec?: { readonly taints?: readonly { readonly key: string }[] }
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly volumesInUse?: readonly string[]
    readonly volumesAttached?: readonly { readonly name: string }[]
  }
}

export interface PodObject {
  readonly metadata: Metadata
  readonly spec: {
    readonly nodeName?: string
    readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName: string } }[]
  }
  readonly status?: {
    readonly phase?: string
    readonly containerStatuses?: readonly { readonly state?: { readonly running?: object } }[]
  }
}

export interface ClaimObject {
  readonly metadata: Metadata
  readonly spec: { readonly volumeName?: string }
  readonly status?: { readonly phase?: string }
}

export interface VolumeObject {
  readonly metadata: Metadata
  readonly spec: {
    readonly csi?: { readonly driver: string; readonly volumeHandle: string }
    readonly accessModes?: readonly string[]
    readonly claimRef?: { readonly uid?: string }
  }
}

export interface AttachmentObject {
  readonly metadata: Metadata
  readonly spec: {
    readonly attacher: string
    readonly nodeName: string
    readonly source: { readonly persistentVolumeName?: string }
  }
  readonly status?: { readonly attached?: boolean }
}

export interface DriverObject {
  readonly metadata: Metadata
  readonly spec?: { readonly attachRequired?: boolean }
}

export interface World {
  readonly nodes: readonly NodeObject[]
  readonly pods: readonly PodObject[]
  readonly claims: readonly ClaimObject[]
  readonly volumes: readonly VolumeObject[]
  readonly attachments: readonly AttachmentObject[]
  readonly drivers: readonly DriverObject[]
}

/** Each list is of one moment, the lists are of several: as the caches of a controller. */
export async function lookAtWorld(client: KubeClient): Promise<World> {
  const list = async <T>(resource: ResourcePath): Promise<readonly T[]> =>
    (await client.list<T>(listPath(resource))).items
  const [nodes, pods, claims, volumes, attachments, drivers] = await Promise.all([
    list<NodeObject>(NODES),
    list<PodObject>(PODS),
    list<ClaimObject>(CLAIMS),
    list<VolumeObject>(VOLUMES),
    list<AttachmentObject>(ATTACHMENTS),
    list<DriverObject>(CSI_DRIVERS),
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

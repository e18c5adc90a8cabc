/** What completion offers of a cluster: from its API at this moment, or from a snapshot. Nothing is asked before it is wanted. */
import { statSync } from 'node:fs'
import type { KubeClient } from '../api/kube-client.ts'
import { reduced } from '../api/reduce-object.ts'
import type {
  ApiObject,
  CsiDriver,
  CsiNode,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  VolumeAttachment,
} from '../model/objects.ts'
import {
  ATTACHMENTS,
  CLAIMS,
  CSI_DRIVERS,
  CSI_NODES,
  listPath,
  NODES,
  PODS,
  type ResourcePath,
  VOLUMES,
} from '../model/resources.ts'
import { callerPath } from '../trust/caller.ts'
import { MAX_SNAPSHOT } from './node-names.ts'
import type { TypedFlags } from './typed-flags.ts'

/** In a namespace or without. */
export interface NamedObject {
  readonly namespace?: string | undefined
  readonly name: string
  /** A few words on it. */
  readonly about?: string | undefined
}

/** What can be attached, and what it is attached to. @param namespace the only one that is wanted, if one has been typed */
export interface ClusterNames {
  /** With a volume that may be attached. */
  pods(namespace?: string): Promise<readonly NamedObject[]>
  claims(namespace?: string): Promise<readonly NamedObject[]>
  volumes(): Promise<readonly NamedObject[]>
  attachments(): Promise<readonly (NamedObject & { readonly node: string; readonly attacher: string })[]>
  nodes(): Promise<readonly NamedObject[]>
  drivers(): Promise<readonly NamedObject[]>
}

/** @throws where the snapshot cannot be read at once: a pipe would be emptied, and a large file takes too long */
export async function clusterSnapshotNames(path: string): Promise<ClusterNames> {
  const file = callerPath(path)
  const stats = statSync(file)
  if (!stats.isFile() || stats.size > MAX_SNAPSHOT) throw new Error('not read for a completion')
  const { readClusterSnapshot } = await import('../cluster/snapshot/cluster-snapshot.ts')
  const state = await readClusterSnapshot(file)
  return {
    pods: async () => state.pods.map(({ namespace, name, node }) => ({ namespace, name, about: onNode(node) })),
    claims: async () => state.claims.map(({ namespace, name, volumeName }) => ({ namespace, name, about: volumeName })),
    volumes: async () => state.volumes.map(({ name, claim }) => ({ name, about: claim && claimOf(claim) })),
    attachments: async () =>
      state.attachments.map(({ name, node, attacher }) => ({ name, node, attacher, about: `to node ${node}` })),
    nodes: async () => state.nodes.map(({ name }) => ({ name })),
    drivers: async () => state.drivers.map(({ name }) => ({ name })),
  }
}

function onNode(node: string | undefined): string {
  return node === undefined ? 'without a node' : `on node ${node}`
}

function claimOf({ namespace = 'default', name }: { readonly namespace?: string; readonly name?: string }): string {
  return `claim ${namespace}/${name ?? ''}`
}

/** Of a large cluster the first pages: what is typed narrows it to a namespace. */
const PAGE = 500
const PAGES = 8
const LIMITS = { listBytes: 64 * 1024 * 1024, listPages: PAGES, listMs: 1000 }

/** @param signal ends every request: what has come until then is offered */
export async function liveClusterNames(flags: TypedFlags, signal: AbortSignal): Promise<ClusterNames> {
  const { createKubeClient } = await import('../api/kube-client.ts')
  const { discoverKubeConfig } = await import('../api/kubeconfig/kube-config.ts')
  // A program could ask for a password, open a browser, or take long.
  const client = createKubeClient(discoverKubeConfig({ ...flags, unattended: true }), { pageSize: PAGE })
  return new LiveClusterNames(client, signal)
}

class LiveClusterNames implements ClusterNames {
  readonly #client: KubeClient
  readonly #signal: AbortSignal

  constructor(client: KubeClient, signal: AbortSignal) {
    this.#client = client
    this.#signal = signal
  }

  async #list<T extends ApiObject>(resource: ResourcePath, namespace?: string): Promise<readonly T[]> {
    let items: T[] = []
    const path =
      namespace === undefined
        ? listPath(resource)
        : `${resource.root}/namespaces/${encodeURIComponent(namespace)}/${resource.plural}`
    const visitor = {
      begin: () => {
        items = []
      },
      take: (item: T) => reduced(item),
      page: (page: readonly T[]) => {
        items.push(...page)
      },
    }
    try {
      await this.#client.walk<T, T>(path, visitor, { signal: this.#signal }, LIMITS)
    } catch {
      // What has come is offered: a list may be too long, or not allowed.
    }
    return items
  }

  async pods(namespace?: string): Promise<readonly NamedObject[]> {
    const pods = await this.#list<Pod>(PODS, namespace)
    return pods
      .filter(({ spec }) => spec.volumes?.some((each) => each.persistentVolumeClaim ?? each.ephemeral))
      .map(({ metadata, spec }) => ({ ...metadata, about: onNode(spec.nodeName) }))
  }

  async claims(namespace?: string): Promise<readonly NamedObject[]> {
    const claims = await this.#list<PersistentVolumeClaim>(CLAIMS, namespace)
    return claims.map(({ metadata, spec }) => ({ ...metadata, about: spec.volumeName }))
  }

  async volumes(): Promise<readonly NamedObject[]> {
    const volumes = await this.#list<PersistentVolume>(VOLUMES)
    return volumes.map(({ metadata: { name }, spec }) => ({ name, about: spec.claimRef && claimOf(spec.claimRef) }))
  }

  async attachments() {
    const attachments = await this.#list<VolumeAttachment>(ATTACHMENTS)
    return attachments.map(({ metadata: { name }, spec: { nodeName: node, attacher } }) => ({
      ...{ name, node, attacher, about: `to node ${node}` },
    }))
  }

  /** Each kubelet writes a CSINode of its node's name, which is far smaller than the Node. */
  async nodes(): Promise<readonly NamedObject[]> {
    const small = await this.#list<CsiNode>(CSI_NODES)
    const nodes = small.length > 0 ? small : await this.#list<Node>(NODES)
    return nodes.map(({ metadata: { name } }) => ({ name }))
  }

  async drivers(): Promise<readonly NamedObject[]> {
    return (await this.#list<CsiDriver>(CSI_DRIVERS)).map(({ metadata: { name } }) => ({ name }))
  }
}

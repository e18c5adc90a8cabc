/** What completion offers of a cluster: from its API at this moment, or from a snapshot. Nothing is asked before it is wanted. */
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
import { clientOf, snapshotFile, type TypedFlags } from './typed-flags.ts'
import { claimText, type Names, objectValue, type Value } from './values.ts'

/** What can be attached, and what it is attached to. @param signal ends every request: what has come until then is offered */
export async function clusterNames(flags: TypedFlags, signal: AbortSignal): Promise<Names> {
  if (flags.snapshot !== undefined) return await snapshotNames(flags.snapshot)
  return new LiveNames(await clientOf(flags, { pageSize: PAGE }), signal)
}

async function snapshotNames(path: string): Promise<Names> {
  const { readClusterSnapshot } = await import('../cluster/snapshot/cluster-snapshot.ts')
  const { pods, claims, volumes, attachments, nodes, drivers } = await readClusterSnapshot(snapshotFile(path))
  return {
    pods: async () => pods.map((pod) => objectValue(pod, onNode(pod.node))),
    claims: async () => claims.map((claim) => objectValue(claim, claim.volumeName)),
    podVolumes: async () => [],
    persistentVolumes: async () => volumes.map(({ name, claim }) => objectValue({ name }, claimText(claim))),
    attachments: async () => attachments.map(({ name, node }) => objectValue({ name }, `to node ${node}`)),
    nodes: async () => withGone(nodes, attachments),
    drivers: async () => withAttachers(drivers, attachments),
  }
}

function onNode(node: string | undefined): string {
  return node === undefined ? 'without a node' : `on node ${node}`
}

interface Named {
  readonly name: string
}

/** Nodes that are gone, too: an attachment may keep the name of one. */
function withGone(nodes: readonly Named[], attachments: readonly { readonly node: string }[]): Value[] {
  const listed = new Set(nodes.map(({ name }) => name))
  const gone = new Set(attachments.map(({ node }) => node).filter((node) => !listed.has(node)))
  return [
    ...nodes.map(({ name }) => objectValue({ name })),
    ...[...gone].map((name) => objectValue({ name }, 'named by an attachment')),
  ]
}

function withAttachers(drivers: readonly Named[], attachments: readonly { readonly attacher: string }[]): Value[] {
  const attachers = new Set(attachments.map(({ attacher }) => attacher))
  return [
    ...drivers.map(({ name }) => objectValue({ name })),
    ...[...attachers].map((name) => objectValue({ name }, 'of an attachment')),
  ]
}

/** Of a large cluster the first pages: what is typed narrows it to a namespace. */
const PAGE = 500
const PAGES = 8
const LIMITS = { listBytes: 64 * 1024 * 1024, listPages: PAGES, listMs: 1000 }

class LiveNames implements Names {
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

  /** With a volume that may be attached. */
  async pods(namespace?: string): Promise<readonly Value[]> {
    const pods = await this.#list<Pod>(PODS, namespace)
    return pods
      .filter(({ spec }) => spec.volumes?.some((each) => each.persistentVolumeClaim ?? each.ephemeral))
      .map(({ metadata, spec }) => objectValue(metadata, onNode(spec.nodeName)))
  }

  async claims(namespace?: string): Promise<readonly Value[]> {
    const claims = await this.#list<PersistentVolumeClaim>(CLAIMS, namespace)
    return claims.map(({ metadata, spec }) => objectValue(metadata, spec.volumeName))
  }

  async podVolumes(): Promise<readonly Value[]> {
    return []
  }

  async persistentVolumes(): Promise<readonly Value[]> {
    const volumes = await this.#list<PersistentVolume>(VOLUMES)
    return volumes.map(({ metadata, spec }) => objectValue(metadata, claimText(spec.claimRef)))
  }

  async #attachments() {
    const attachments = await this.#list<VolumeAttachment>(ATTACHMENTS)
    return attachments.map(({ metadata: { name }, spec: { nodeName: node, attacher } }) => ({ name, node, attacher }))
  }

  async attachments(): Promise<readonly Value[]> {
    return (await this.#attachments()).map(({ name, node }) => objectValue({ name }, `to node ${node}`))
  }

  async nodes(): Promise<readonly Value[]> {
    const [nodes, attachments] = await Promise.all([this.#nodes(), this.#attachments()])
    return withGone(
      nodes.map(({ metadata }) => metadata),
      attachments,
    )
  }

  /** Each kubelet writes a CSINode of its node's name, which is far smaller than the Node. */
  async #nodes(): Promise<readonly (CsiNode | Node)[]> {
    const small = await this.#list<CsiNode>(CSI_NODES)
    return small.length > 0 ? small : await this.#list<Node>(NODES)
  }

  async drivers(): Promise<readonly Value[]> {
    const [drivers, attachments] = await Promise.all([this.#list<CsiDriver>(CSI_DRIVERS), this.#attachments()])
    return withAttachers(
      drivers.map(({ metadata }) => metadata),
      attachments,
    )
  }
}

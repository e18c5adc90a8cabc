/** What completion offers of a cluster: from its API at this moment, or from a snapshot. Nothing is asked before it is wanted. */
import type { KubeClient } from '../api/kube-client.ts'
import { reduced } from '../api/reduce-object.ts'
import type { ClusterAttachment } from '../cluster/model/cluster-state.ts'
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
  const of = flags.snapshot === undefined ? await liveObjects(flags, signal) : await snapshotObjects(flags.snapshot)
  return {
    pods: async (namespace) => (await of.pods(namespace)).map((pod) => objectValue(pod, onNode(pod.node))),
    claims: async (namespace) => (await of.claims(namespace)).map((claim) => objectValue(claim, claim.volumeName)),
    podVolumes: async () => [],
    persistentVolumes: async () =>
      (await of.volumes()).map(({ name, claim }) => objectValue({ name }, claimText(claim))),
    attachments: async () => (await of.attachments()).map(({ name, node }) => objectValue({ name }, `to node ${node}`)),
    nodes: async () => withNamed(of.nodes(), of.attachments(), ({ node }) => node, 'named by an attachment'),
    drivers: async () => withNamed(of.drivers(), of.attachments(), ({ attacher }) => attacher, 'of an attachment'),
  }
}

function onNode(node: string | undefined): string {
  return node === undefined ? 'without a node' : `on node ${node}`
}

/** Those that are gone, too: an attachment may keep the name of one. */
async function withNamed<A>(
  there: Promise<readonly Named[]>,
  attachments: Promise<readonly A[]>,
  nameOf: (attachment: A) => string,
  about: string,
): Promise<Value[]> {
  const listed = (await there).map(({ name }) => name)
  const named = new Set((await attachments).map(nameOf))
  return [
    ...listed.map((name) => objectValue({ name })),
    ...[...named].filter((name) => !listed.includes(name)).map((name) => objectValue({ name }, about)),
  ]
}

interface Named {
  readonly namespace?: string | undefined
  readonly name: string
}

/** What of a cluster its values are made of, as a snapshot has it. */
interface ClusterObjects {
  /** With a volume that may be attached. */
  pods(namespace?: string): Promise<readonly (Named & { readonly node?: string | undefined })[]>
  claims(namespace?: string): Promise<readonly (Named & { readonly volumeName?: string | undefined })[]>
  volumes(): Promise<readonly (Named & { readonly claim?: Parameters<typeof claimText>[0] })[]>
  attachments(): Promise<readonly Pick<ClusterAttachment, 'name' | 'node' | 'attacher'>[]>
  nodes(): Promise<readonly Named[]>
  drivers(): Promise<readonly Named[]>
}

async function snapshotObjects(path: string): Promise<ClusterObjects> {
  const { readClusterSnapshot } = await import('../cluster/snapshot/cluster-snapshot.ts')
  const { pods, claims, volumes, attachments, nodes, drivers } = await readClusterSnapshot(snapshotFile(path))
  return {
    pods: async () => pods,
    claims: async () => claims,
    volumes: async () => volumes,
    attachments: async () => attachments,
    nodes: async () => nodes,
    drivers: async () => drivers,
  }
}

/** Of a large cluster the first pages: what is typed narrows it to a namespace. */
const PAGE = 500
const PAGES = 8
const LIMITS = { listBytes: 64 * 1024 * 1024, listPages: PAGES, listMs: 1000 }

async function liveObjects(flags: TypedFlags, signal: AbortSignal): Promise<ClusterObjects> {
  const client = await clientOf(flags, { pageSize: PAGE })
  const list = <T extends ApiObject>(resource: ResourcePath, namespace?: string): Promise<readonly T[]> =>
    firstPages<T>(client, signal, resource, namespace)
  return {
    pods: async (namespace) =>
      (await list<Pod>(PODS, namespace))
        .filter(({ spec }) => spec.volumes?.some((each) => each.persistentVolumeClaim ?? each.ephemeral))
        .map(({ metadata, spec }) => ({ ...metadata, node: spec.nodeName })),
    claims: async (namespace) =>
      (await list<PersistentVolumeClaim>(CLAIMS, namespace)).map(({ metadata, spec }) => ({
        ...metadata,
        volumeName: spec.volumeName,
      })),
    volumes: async () =>
      (await list<PersistentVolume>(VOLUMES)).map(({ metadata, spec }) => ({ ...metadata, claim: spec.claimRef })),
    attachments: async () =>
      (await list<VolumeAttachment>(ATTACHMENTS)).map(({ metadata: { name }, spec: { nodeName: node, attacher } }) => ({
        ...{ name, node, attacher },
      })),
    // Each kubelet writes a CSINode of its node's name, which is far smaller than the Node.
    nodes: async () => {
      const small = await list<CsiNode>(CSI_NODES)
      return (small.length > 0 ? small : await list<Node>(NODES)).map(({ metadata }) => metadata)
    },
    drivers: async () => (await list<CsiDriver>(CSI_DRIVERS)).map(({ metadata }) => metadata),
  }
}

async function firstPages<T extends ApiObject>(
  client: KubeClient,
  signal: AbortSignal,
  resource: ResourcePath,
  namespace: string | undefined,
): Promise<readonly T[]> {
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
    await client.walk<T, T>(path, visitor, { signal }, LIMITS)
  } catch {
    // What has come is offered: a list may be too long, or not allowed.
  }
  return items
}

/** What completion offers of a node: from its API at this moment, or from a snapshot. Nothing is asked before it is wanted. */
import { readdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { KubeClient } from '../api/kube-client.ts'
import { isTerminating, namedUids } from '../desired/pods.ts'
import { onceFor } from '../lang/once-for.ts'
import type { CsiNode, PersistentVolume, Pod, VolumeAttachment } from '../model/objects.ts'
import { ATTACHMENTS, CLAIMS, CSI_NODES, type ObjectKey, VOLUMES } from '../model/resources.ts'
import { namespacedName } from '../plan/pod-name.ts'
import { clientOf, snapshotFile, type TypedFlags } from './typed-flags.ts'
import { claimText, type Names, objectValue, type Value } from './values.ts'

/** What of a node its values are made of. */
interface NodeObjects {
  nodeName(): Promise<string>
  /** Pods of the node that the API lists. */
  pods(): Promise<readonly Pod[]>
  /** UIDs of directories of other pods; none where they cannot be read. */
  orphans(): Promise<readonly string[]>
  persistentVolumes(): Promise<readonly PersistentVolume[]>
  attachments(): Promise<readonly VolumeAttachment[]>
  /** Drivers that are, or were, registered here. */
  drivers(): Promise<readonly string[]>
}

/** @param signal ends every request */
export async function nodeNames(flags: TypedFlags, signal: AbortSignal): Promise<Names> {
  const node = flags.snapshot === undefined ? await liveObjects(flags, signal) : await snapshotObjects(flags.snapshot)
  return {
    pods: async () => [
      ...(await node.pods()).map((pod) => ({ value: namespacedName(pod.metadata), about: stateOf(pod) })),
      ...(await node.orphans()).map((value) => ({ value, about: 'directory of a pod that the API does not list' })),
    ],
    claims: async () => claimsOf(await node.pods()).map((key) => objectValue(key)),
    podVolumes: async () => podVolumes(await node.pods()),
    persistentVolumes: async () =>
      (await node.persistentVolumes()).map(({ metadata, spec }) => objectValue(metadata, claimText(spec.claimRef))),
    attachments: async () =>
      (await node.attachments()).map(({ metadata, spec }) => objectValue(metadata, `by ${spec.attacher}`)),
    nodes: async () => [{ value: await node.nodeName() }],
    drivers: () => driverValues(node),
  }
}

function stateOf(pod: Pod): string {
  return isTerminating(pod) ? 'Terminating' : (pod.status?.phase ?? 'Unknown')
}

function podVolumes(pods: readonly Pod[]): Value[] {
  return pods.flatMap(({ metadata, spec }) =>
    (spec.volumes ?? []).map(({ name }) => ({ value: name, about: `of pod ${namespacedName(metadata)}` })),
  )
}

/** A driver that is gone is in no CSINode, but its volumes still have its name. */
async function driverValues(node: NodeObjects): Promise<Value[]> {
  const [registered, volumes, pods] = await Promise.all([node.drivers(), node.persistentVolumes(), node.pods()])
  const ofVolumes = volumes.map(({ spec }) => spec.csi?.driver ?? spec.flexVolume?.driver)
  const ofPods = pods.flatMap(({ spec }) =>
    (spec.volumes ?? []).map(({ csi, flexVolume }) => (csi ?? flexVolume)?.driver),
  )
  return [
    ...registered.map((value) => ({ value, about: 'registered' })),
    ...[...ofVolumes, ...ofPods].flatMap((value) => (value === undefined ? [] : { value, about: 'of a volume' })),
  ]
}

async function snapshotObjects(path: string): Promise<NodeObjects> {
  const { readSnapshot } = await import('../snapshot/read-snapshot.ts')
  const { nodeName, api, tree = [], csiSockets = [] } = (await readSnapshot(snapshotFile(path))).snapshot
  const pods = api?.pods ?? []
  const directories = tree.flatMap(({ path: each, type }) =>
    type === 'dir' ? (/^pods\/([^/]+)$/.exec(each)?.[1] ?? []) : [],
  )
  return {
    nodeName: async () => nodeName,
    pods: async () => pods,
    orphans: async () => without(directories, pods),
    persistentVolumes: async () => api?.persistentVolumes ?? [],
    attachments: async () => api?.volumeAttachments.filter(({ spec }) => spec.nodeName === nodeName) ?? [],
    drivers: async () => [...csiSockets.flatMap(({ driver }) => driver ?? []), ...driversOf(api?.csiNode ?? undefined)],
  }
}

function without(directories: readonly string[], pods: readonly Pod[]): string[] {
  const listed = new Set(pods.flatMap(namedUids))
  return directories.filter((uid) => !listed.has(uid))
}

function driversOf(csiNode: CsiNode | undefined): string[] {
  return (csiNode?.spec.drivers ?? []).map(({ name }) => name)
}

/** More than a node has; each is a request. */
const MOST_CLAIMS = 100

async function liveObjects(flags: TypedFlags, signal: AbortSignal): Promise<NodeObjects> {
  const { ObjectReader } = await import('../api/object-reader.ts')
  const { listNodePods } = await import('../api/node-objects.ts')
  const client = await clientOf(flags)
  const reader = new ObjectReader(client, { signal })
  const placeOf = onceFor(locate)
  const nodeName = async (): Promise<string> => (await placeOf(flags)).nodeName
  const podsBy = onceFor(async (by: KubeClient) => (await listNodePods(by, await nodeName(), signal)).items)
  const pods = (): Promise<readonly Pod[]> => podsBy(client)
  return {
    nodeName,
    pods,
    orphans: async () => {
      const { rootDir } = await placeOf(flags)
      if (rootDir === undefined) return []
      try {
        return without(readdirSync(join(rootDir, 'pods')), await pods())
      } catch {
        return []
      }
    },
    // Of this node's claims, which its own credential may read as well.
    persistentVolumes: async () => {
      const claims = await reader.getAll(CLAIMS, claimsOf(await pods()).slice(0, MOST_CLAIMS))
      const names = claims.flatMap(({ spec }) => (spec.volumeName ? [{ name: spec.volumeName }] : []))
      const found = await reader.getAll(VOLUMES, names)
      // The name is known where the object may not be read.
      const read = new Set(found.map(({ metadata }) => metadata.name))
      const others = names.filter(({ name }) => !read.has(name))
      return [...found, ...others.map((metadata) => ({ metadata: { ...metadata, uid: '' }, spec: {} }))]
    },
    attachments: async () => {
      const [name, listed] = await Promise.all([nodeName(), reader.list(ATTACHMENTS)])
      return Array.isArray(listed) ? listed.filter(({ spec }) => spec.nodeName === name) : []
    },
    drivers: async () => driversOf(await reader.get(CSI_NODES, { name: await nodeName() })),
  }
}

interface Place {
  readonly nodeName: string
  readonly rootDir?: string
}

/** Claims of the pods' volumes, those of generic ephemeral volumes as well, each once. */
function claimsOf(pods: readonly Pod[]): ObjectKey[] {
  const found = new Map<string, ObjectKey>()
  for (const { metadata, spec } of pods) {
    const { namespace = 'default' } = metadata
    for (const { name, persistentVolumeClaim, ephemeral } of spec.volumes ?? []) {
      const claim =
        persistentVolumeClaim?.claimName ?? (ephemeral === undefined ? undefined : `${metadata.name}-${name}`)
      if (claim !== undefined) found.set(`${namespace}/${claim}`, { namespace, name: claim })
    }
  }
  return [...found.values()]
}

/** Without root, or in a container, less is known, and the host's name has to do. */
async function locate({ node, rootDir }: TypedFlags): Promise<Place> {
  try {
    const { locateNode } = await import('../node/locate-node.ts')
    const found = await locateNode({ nodeName: node, rootDir })
    return { nodeName: found.nodeName, rootDir: found.rootDir }
  } catch {
    return { nodeName: node ?? hostname(), ...(rootDir !== undefined && { rootDir }) }
  }
}

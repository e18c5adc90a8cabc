/** What completion offers of a node: from its API at this moment, or from a snapshot. Nothing is asked before it is wanted. */
import { readdirSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { KubeClient } from '../api/kube-client.ts'
import type { ObjectReader } from '../api/object-reader.ts'
import { namedUids } from '../desired/pods.ts'
import { onceFor } from '../lang/once-for.ts'
import type { CsiNode, PersistentVolume, Pod, VolumeAttachment } from '../model/objects.ts'
import { ATTACHMENTS, CLAIMS, CSI_NODES, type ObjectKey, VOLUMES } from '../model/resources.ts'
import { callerPath } from '../trust/caller.ts'
import type { TypedFlags } from './typed-flags.ts'

export interface NodeNames {
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

/** A file of this size is parsed in a fraction of the time that an answer may take. */
export const MAX_SNAPSHOT = 16 * 1024 * 1024

/** @throws where the snapshot cannot be read at once: a pipe would be emptied, and a large file takes too long */
export async function snapshotNames(path: string): Promise<NodeNames> {
  const file = callerPath(path)
  const stats = statSync(file)
  if (!stats.isFile() || stats.size > MAX_SNAPSHOT) throw new Error('not read for a completion')
  const { readSnapshot } = await import('../snapshot/read-snapshot.ts')
  const { nodeName, api, tree = [], csiSockets = [] } = (await readSnapshot(file)).snapshot
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

/** @param signal ends every request */
export async function liveNames(flags: TypedFlags, signal: AbortSignal): Promise<NodeNames> {
  const { createKubeClient } = await import('../api/kube-client.ts')
  const { discoverKubeConfig } = await import('../api/kubeconfig/kube-config.ts')
  const { ObjectReader: Reader } = await import('../api/object-reader.ts')
  // A program could ask for a password, open a browser, or take long.
  const credentials = discoverKubeConfig({ ...flags, unattended: true })
  return new LiveNames(flags, createKubeClient(credentials), (client) => new Reader(client, { signal }), signal)
}

interface Place {
  readonly nodeName: string
  readonly rootDir?: string
}

class LiveNames implements NodeNames {
  readonly #flags: TypedFlags
  readonly #client: KubeClient
  readonly #reader: ObjectReader
  readonly #signal: AbortSignal

  constructor(
    flags: TypedFlags,
    client: KubeClient,
    reader: (client: KubeClient) => ObjectReader,
    signal: AbortSignal,
  ) {
    this.#flags = flags
    this.#client = client
    this.#reader = reader(client)
    this.#signal = signal
  }

  readonly #place = onceFor((flags: TypedFlags) => locate(flags))
  readonly #listed = onceFor((client: KubeClient) => this.#listPods(client))

  async #listPods(client: KubeClient): Promise<readonly Pod[]> {
    const { listNodePods } = await import('../api/node-objects.ts')
    return (await listNodePods(client, await this.nodeName(), this.#signal)).items
  }

  async nodeName(): Promise<string> {
    return (await this.#place(this.#flags)).nodeName
  }

  pods(): Promise<readonly Pod[]> {
    return this.#listed(this.#client)
  }

  async orphans(): Promise<readonly string[]> {
    const { rootDir } = await this.#place(this.#flags)
    if (rootDir === undefined) return []
    try {
      return without(readdirSync(join(rootDir, 'pods')), await this.pods())
    } catch {
      return []
    }
  }

  /** Of this node's claims, which its own credential may read as well. */
  async persistentVolumes(): Promise<readonly PersistentVolume[]> {
    const keys = claimsOf(await this.pods()).slice(0, MOST_CLAIMS)
    const claims = await this.#reader.getAll(CLAIMS, keys)
    const names = claims.flatMap(({ spec }) => (spec.volumeName ? [{ name: spec.volumeName }] : []))
    const found = await this.#reader.getAll(VOLUMES, names)
    // The name is known where the object may not be read.
    const read = new Set(found.map(({ metadata }) => metadata.name))
    const others = names.filter(({ name }) => !read.has(name))
    return [...found, ...others.map((metadata) => ({ metadata: { ...metadata, uid: '' }, spec: {} }))]
  }

  async attachments(): Promise<readonly VolumeAttachment[]> {
    const [nodeName, listed] = await Promise.all([this.nodeName(), this.#reader.list(ATTACHMENTS)])
    return Array.isArray(listed) ? listed.filter(({ spec }) => spec.nodeName === nodeName) : []
  }

  async drivers(): Promise<readonly string[]> {
    return driversOf(await this.#reader.get(CSI_NODES, { name: await this.nodeName() }))
  }
}

/** Claims of the pods' volumes, those of generic ephemeral volumes as well, each once. */
export function claimsOf(pods: readonly Pod[]): ObjectKey[] {
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

import { namedUids } from '../desired/pods.ts'
import { SafetyRefusal, VolctlError } from '../errors/errors.ts'
import { defined } from '../lang/defined.ts'
import type { Node, Pod } from '../model/objects.ts'
import { CONFIG_MAPS, CSI_NODES, NODES, SECRETS } from '../model/resources.ts'
import type { ApiSnapshot } from '../model/snapshot.ts'
import { NODE_USER } from '../names/volume-names.ts'
import { credentialWord, mayI, whoAmI } from './access-reviews.ts'
import { type KubeClient, keptBudget, type ObjectList } from './kube-client.ts'
import { nodeLease } from './node-lease.ts'
import { type CheckedPods, checkBy, checkedPods, getNode, listNodePods } from './node-objects.ts'
import { ObjectReader } from './object-reader.ts'
import { readElsewhere } from './read-elsewhere.ts'
import { readVolumes } from './read-volumes.ts'
import { digestedConfigMap, digestedSecret, reduced } from './reduce-object.ts'
import { referencedObjects } from './referenced-objects.ts'

export interface ReadApiOptions {
  readonly client: KubeClient
  readonly nodeName: string
  /** With the kubelet's own credential, where that is readable and not the one in use: a second look (S2). */
  readonly kubeletClient?: KubeClient | undefined
  /** In its place: a kubelet's credential that is there and is not used, and why. */
  readonly kubeletUnused?: { readonly source: string; readonly problem: string } | undefined
  /** Where the pods are asked for before the disk has been read. */
  readonly disk?: DiskRead
  readonly signal?: AbortSignal | undefined
}

/** What is read while the API is asked: the list of pods must not be older where that matters (R804, N48). */
export interface DiskRead {
  /** UIDs that have a directory, a process or a container, as soon as they are known. */
  podUids(): Promise<readonly string[]>
  /** Ends when all has been read that tells which pods are here. */
  read(): Promise<unknown>
}

/**
 * Everything the API has to say about one node, in three rounds of parallel requests: pods, Node and identity; then
 * claims, volumes, attachments, config maps and secrets; then what a list lacked. Only reads (reviews store nothing).
 *
 * Without the pods there is nothing to plan from, so their failure is thrown; so is a Node that does not exist (S1) and
 * a pod list that the kubelet's credential contradicts (S2). Any other failure becomes an entry of `errors`.
 */
export async function readApi(options: ReadApiOptions): Promise<ApiSnapshot> {
  const { client, nodeName, signal } = options
  const kept = keptBudget()
  const reader = new ObjectReader(client, { signal, kept })
  const first = [
    listNodePods(client, nodeName, signal, kept),
    options.kubeletClient ? listNodePods(options.kubeletClient, nodeName, signal, kept) : undefined,
    getNode(client, nodeName, signal),
    whoAmI(client, signal),
    mayI(client, { verb: 'delete', group: 'storage.k8s.io', resource: 'volumeattachments' }, signal),
    reader.get(CSI_NODES, { name: nodeName }),
    nodeLease(client, options.kubeletClient, nodeName, signal),
  ] as const
  // All of them end before anything is thrown: no request of ours is left behind.
  await Promise.allSettled(first)
  const node = await noted(reader, first[2])
  const user = await first[3]
  const { list, check } = await secondLook(options, user, ...(await newEnough(options, await first[0], first[1])))

  const wanted = referencedObjects(list.items)
  const [volumes, configMaps, secrets] = await Promise.all([
    readVolumes(reader, { nodeName, node, claims: wanted.claims, inlineDrivers: wanted.csiDrivers }),
    reader.getAll(CONFIG_MAPS, wanted.configMaps),
    reader.getAll(SECRETS, wanted.secrets),
  ])
  const mayDelete = await first[4]
  const lease = await first[6]
  const renewTime = lease?.spec?.renewTime
  const api: ApiSnapshot = {
    server: client.server,
    ...(client.insecure && { insecure: client.insecure }),
    credential: credentialWord(client, user),
    ...defined({ user, resourceVersion: list.resourceVersion }),
    node: node ?? null,
    pods: list.items,
    persistentVolumeClaims: volumes.claims,
    persistentVolumes: volumes.volumes,
    volumeAttachments: volumes.attachments,
    csiDrivers: volumes.drivers,
    csiNode: (await first[5]) ?? null,
    configMaps: configMaps.map(digestedConfigMap),
    secrets: secrets.map(digestedSecret),
    errors: reader.sortedErrors(),
    ...defined({ lease: lease === undefined ? undefined : reduced(lease) }),
    ...(renewTime && { leaseRenewTime: renewTime }),
    ...defined({ clockSkewMs: client.clockSkewMs }),
    ...(check && { podListCheck: check }),
    ...defined({ mayDeleteVolumeAttachments: mayDelete }),
  }
  const elsewhere = await readElsewhere(client, api, nodeName, { signal, kept })
  return elsewhere === undefined ? api : { ...api, elsewhere }
}

/** A Node that cannot be read is unknown; the refusal of one that does not exist goes on upwards. */
async function noted(reader: ObjectReader, node: Promise<Node>): Promise<Node | undefined> {
  try {
    return await node
  } catch (error) {
    reader.note(error, NODES)
    return undefined
  }
}

/**
 * The lists, or those of a second asking: a pod that is here and not in the list may be younger than the list.
 * Of a pod that is in it, an older list says nothing wrong: its volumes never change, and its end is final.
 */
async function newEnough(
  options: ReadApiOptions,
  pods: ObjectList<Pod>,
  kubeletPods: Promise<ObjectList<Pod>> | undefined,
): Promise<[ObjectList<Pod>, Promise<ObjectList<Pod>> | undefined]> {
  const { client, kubeletClient, nodeName, disk, signal } = options
  if (disk === undefined) return [pods, kubeletPods]
  const named = new Set(pods.items.flatMap(namedUids))
  if ((await disk.podUids()).every((uid) => named.has(uid))) return [pods, kubeletPods]
  await disk.read()
  const again = [
    listNodePods(client, nodeName, signal),
    kubeletClient ? listNodePods(kubeletClient, nodeName, signal) : undefined,
  ] as const
  await Promise.allSettled(again)
  return [await again[0], again[1]]
}

async function secondLook(
  options: ReadApiOptions,
  user: string | undefined,
  pods: ObjectList<Pod>,
  kubeletPods: Promise<ObjectList<Pod>> | undefined,
): Promise<CheckedPods> {
  const { client, kubeletClient, kubeletUnused, nodeName, signal } = options
  if (user === `${NODE_USER}${nodeName}`) return { list: pods }
  if (kubeletUnused) return { list: pods, check: kubeletUnused }
  if (!kubeletClient || !kubeletPods) return { list: pods }
  try {
    return await checkedPods(client, kubeletClient, nodeName, [pods, await kubeletPods], signal)
  } catch (error) {
    // Also where its files are no longer what they were.
    if (!(error instanceof VolctlError) || error instanceof SafetyRefusal) throw error
    return { list: pods, check: { ...checkBy(kubeletClient), problem: error.message } }
  }
}

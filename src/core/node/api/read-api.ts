import { setTimeout as sleep } from 'node:timers/promises'
import { credentialWord, mayI, whoAmI } from '../../kube/access-reviews.ts'
import { NODE_USER } from '../../kube/api/names.ts'
import { CONFIG_MAPS, CSI_NODES, NODES, type Pod, SECRETS } from '../../kube/api/objects.ts'
import { digestedConfigMap, digestedSecret } from '../../kube/api/resources.ts'
import { orInstead, unlessRefused } from '../../kube/api-error.ts'
import { keptBudget } from '../../kube/kube-client.ts'
import { objectReader } from '../../kube/object-reader.ts'
import { SafetyRefusal, said, VolctlError } from '../../messages/findings.ts'
import { namedUids } from '../../volumes/pods.ts'
import { controllerWantedVolumes } from '../../volumes/populate.ts'
import type { ApiSnapshot } from '../../volumes/snapshot.ts'
import { getNode, listNodePods, type NodeCredentials, nodeLease, type PodLists, podLists } from './node-objects.ts'
import { readElsewhere } from './read-elsewhere.ts'
import { readVolumes, referencedObjects } from './read-volumes.ts'

interface ReadApiOptions extends NodeCredentials {
  /** Given instead: a kubelet's credential that exists but is not used, and why. */
  readonly kubeletUnused?: { readonly source: string; readonly problem: string }
  /** Given if the pods are asked for before the disk has been read. */
  readonly disk?: DiskRead
  readonly signal?: AbortSignal
}

/** The disk, which is read while the API is asked: if a pod is missing in the list, the list must be newer (R804, N48). */
export interface DiskRead {
  /** UIDs that have a directory, a process or a container, as soon as they are known. */
  podUids(): Promise<readonly string[]>
  /** Ends when everything has been read that shows which pods are on this node. */
  read(): Promise<unknown>
}

/** On a node where pods come and go, one may be deleted in each of them. */
const LOOKS = 3

/**
 * Reads everything about one node from the API, in three rounds of parallel requests: pods, Node and identity; then claims,
 * volumes, attachments, config maps and secrets; then what a list lacked. Only reads (reviews store nothing).
 *
 * Without the pods there is nothing to plan from, so their failure is thrown; so is a missing Node (S1), and a pod list that
 * the kubelet's credential contradicts (S2). Any other failure becomes an entry of `errors`.
 */
export async function readApi(options: ReadApiOptions): Promise<ApiSnapshot> {
  for (let looks = 1; ; looks++) {
    const api = await readOnce(options)
    if (looks === LOOKS || !(await wasForPodsNowGone(options, api))) return api
  }
}

/**
 * Has a pod with an unresolved volume left the list? Then its claim may have gone with it, or the Node authorizer no longer
 * shows the claim (N32), and what was read is from two moments. One fresh list answers for all pods (S3).
 */
async function wasForPodsNowGone({ client, nodeName, signal }: ReadApiOptions, api: ApiSnapshot): Promise<boolean> {
  const { unresolved } = controllerWantedVolumes(api.pods, api, nodeName)
  const doubtful = unresolved.filter(({ cause }) => cause !== 'Unbound')
  if (doubtful.length === 0) return false
  const { items } = await listNodePods(client, nodeName, { signal })
  const now = new Set(items.map(({ metadata }) => metadata.uid))
  return doubtful.some(({ pod }) => !now.has(pod.metadata.uid))
}

async function readOnce(options: ReadApiOptions): Promise<ApiSnapshot> {
  const { client, nodeName, signal } = options
  const kept = keptBudget()
  const reader = objectReader(client, { signal, kept })
  const lists = podLists(options, kept)
  const first = [
    // A Node that cannot be read is unknown; the refusal because it does not exist is thrown.
    orInstead(getNode(client, nodeName, signal), (error) => void reader.note(error, NODES)),
    unlessRefused(whoAmI(client, signal)),
    mayI(client, 'delete', signal),
    reader.get(CSI_NODES, { name: nodeName }),
    nodeLease(options),
  ] as const
  // All requests end before anything is thrown: none is left behind.
  await Promise.allSettled([...lists, ...first])
  const [node, user, mayDelete, csiNode, lease] = await Promise.all(first)
  const { list, check } = await secondLook(options, user, await newEnough(options, lists))

  const wanted = referencedObjects(list.items)
  const [volumes, configMaps, secrets] = await Promise.all([
    readVolumes(reader, { nodeName, node, claims: wanted.claims, inlineDrivers: wanted.csiDrivers }),
    reader.getAll(CONFIG_MAPS, wanted.configMaps),
    reader.getAll(SECRETS, wanted.secrets),
  ])
  const api: ApiSnapshot = {
    server: client.server,
    insecure: client.insecure,
    credential: credentialWord(client, user),
    user,
    resourceVersion: list.resourceVersion,
    node: node ?? null,
    pods: list.items,
    persistentVolumeClaims: volumes.claims,
    persistentVolumes: volumes.volumes,
    volumeAttachments: volumes.attachments,
    csiDrivers: volumes.drivers,
    csiNode: csiNode ?? null,
    configMaps: configMaps.map(digestedConfigMap),
    secrets: secrets.map(digestedSecret),
    errors: reader.sortedErrors(),
    lease,
    leaseRenewTime: lease?.spec?.renewTime || undefined,
    clockSkewMs: client.clockSkewMs,
    podListCheck: check,
    mayDeleteVolumeAttachments: mayDelete,
  }
  return { ...api, elsewhere: await readElsewhere(client, api, nodeName, { signal, kept }) }
}

/**
 * The lists, read again if a pod on this node is not in them, since it may be younger than the list. For pods that are in it,
 * an older list is fine: their volumes never change, and their end is final.
 */
async function newEnough(options: ReadApiOptions, lists: PodLists): Promise<PodLists> {
  const { disk } = options
  const { items } = await lists[0]
  const named = new Set(items.flatMap(namedUids))
  if (disk === undefined || (await disk.podUids()).every((uid) => named.has(uid))) return lists
  await disk.read()
  const again = podLists(options)
  await Promise.allSettled(again)
  return again
}

const TRIES = 3
const PAUSE_MS = 300

/**
 * Compares the pod list with the one that the kubelet's own credential gets: a proxy or a narrowed role can hide pods with
 * HTTP 200 (S2). Pods come and go between two reads, so both lists are read again before a difference counts.
 *
 * @returns as `check` the credential of the second look, and whether anyone on the network path could have answered it
 */
async function secondLook(options: ReadApiOptions, user: string | undefined, lists: PodLists) {
  const { client, kubeletClient, kubeletUnused, nodeName, signal } = options
  const list = await lists[0]
  if (user === `${NODE_USER}${nodeName}`) return { list }
  if (kubeletUnused) return { list, check: kubeletUnused }
  if (!kubeletClient) return { list }
  const { source, insecure } = kubeletClient
  const check = { source, insecure }
  try {
    for (let [tries, read] = [1, lists]; ; tries++, read = podLists(options)) {
      const [mine, its] = await Promise.all(read)
      const difference = differingUids(mine.items, its?.items ?? [])
      if (difference.length === 0) return { list: mine, check }
      if (tries === TRIES) {
        // One of them does not see all, or asks another cluster.
        throw new SafetyRefusal(
          'S2',
          said('PodListIncomplete.differs', {
            source: client.source,
            count: mine.items.length,
            nodeName,
            kubeletCount: its?.items.length,
            pods: difference.slice(0, 5).join(', '),
          }),
          {
            hint: "Both must show all pods of the same cluster. Use the kubelet's kubeconfig, or a credential that may list every pod.",
          },
        )
      }
      await sleep(PAUSE_MS, undefined, { signal })
    }
  } catch (error) {
    // Also if the kubelet's files have changed meanwhile.
    if (!(error instanceof VolctlError) || error instanceof SafetyRefusal) throw error
    return { list, check: { ...check, problem: error.message } }
  }
}

function differingUids(a: readonly Pod[], b: readonly Pod[]): string[] {
  const uids = (pods: readonly Pod[]): Set<string> => new Set(pods.map((pod) => pod.metadata.uid))
  const [left, right] = [uids(a), uids(b)]
  return [...left, ...right].filter((uid) => !left.has(uid) || !right.has(uid)).sort()
}

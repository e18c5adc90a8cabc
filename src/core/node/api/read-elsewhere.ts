/**
 * Use, on other nodes, of volumes that pods here want or have and that only one node may have (S30, R742, R743).
 *
 * Read only if needed: if there is a VolumeAttachment to another node, or a volume of a plugin whose attachments are only in
 * the status of Nodes. Only those pods of other nodes that use such a volume are kept.
 */

import { compareText } from '../../base/text.ts'
import { NODES, type PersistentVolume, type Pod } from '../../kube/api/objects.ts'
import { orInstead } from '../../kube/api-error.ts'
import type { KubeClient, RequestSettings } from '../../kube/kube-client.ts'
import { apiObjects } from '../../volumes/api-objects.ts'
import { translate } from '../../volumes/in-tree-volumes.ts'
import { allowsSeveralNodes, volumesInStatus } from '../../volumes/node-affinity.ts'
import { isTerminalPhase, podNamespace } from '../../volumes/pods.ts'
import { desiredStateOfPods, statusVolumes } from '../../volumes/populate.ts'
import { claimReferenceOf } from '../../volumes/resolve-claim.ts'
import type { ApiSnapshot, Elsewhere, NodeElsewhere, PodElsewhere } from '../../volumes/snapshot.ts'
import { uniqueVolumeName } from '../../volumes/volume-names.ts'
import { listNodePods } from './node-objects.ts'

/** Nodes whose pods are read: a volume is on one, seldom two; hundreds at once would mean an outage. */
const MOST_NODES = 5

/**
 * @param api what was read of this node
 * @returns undefined if there is nothing to ask; failures are part of the answer, and never thrown
 */
export async function readElsewhere(
  client: KubeClient,
  api: ApiSnapshot,
  nodeName: string,
  settings: RequestSettings,
): Promise<Elsewhere | undefined> {
  const { nodes, names, claims } = questions(api, nodeName)
  if (nodes.length === 0 && names.length === 0) return undefined
  const { attached, problem } = await attachedByStatus(client, names, nodeName, settings)
  const all = [...new Set([...nodes, ...attached.keys()])].toSorted(compareText)
  const found = await Promise.all(
    all.map(async (name, index): Promise<NodeElsewhere> => {
      const own = attached.get(name)
      const users =
        index < MOST_NODES
          ? await podsWith(client, name, claims, settings)
          : { problem: `only the pods of ${MOST_NODES} nodes were read` }
      return { name, attached: own, ...users }
    }),
  )
  return { nodes: found, problem }
}

/** What to ask about the volumes in question. */
function questions(api: ApiSnapshot, nodeName: string) {
  const objects = apiObjects({ api, nodeName })
  const pods = api.pods.filter((pod) => !isTerminalPhase(pod) && mayHavePersistentVolume(pod))
  /** Names of other nodes that have an attachment. */
  const nodes = new Set<string>()
  /** Unique names that may be in another Node's status. */
  const names = new Set<string>()
  /** "namespace/name" of the volumes' claims. */
  const claims = new Set<string>()
  const note = (volume: PersistentVolume | undefined): void => {
    const { namespace = 'default', name } = volume?.spec.claimRef ?? {}
    if (name !== undefined) claims.add(`${namespace}/${name}`)
  }
  for (const volume of desiredStateOfPods(pods, api).volumes) {
    const { persistentVolume, attachability, driver, handle, uniqueName, plugin, specName } = volume
    if (persistentVolume === undefined || attachability === 'notAttachable' || allowsSeveralNodes(persistentVolume))
      continue
    if (driver === undefined || handle === undefined) {
      names.add(uniqueName)
      // A flexVolume has another unique name until it is attached here.
      if (attachability === 'unknown') names.add(uniqueVolumeName(plugin, specName))
      note(persistentVolume)
      continue
    }
    const others = objects.attachedElsewhere({ driver, handle })
    if (others.length > 0) note(persistentVolume)
    for (const name of others) nodes.add(name)
  }
  // Volumes of pods that are gone, which are still in this node's status.
  const own = new Set(volumesInStatus(api.node))
  for (const { uniqueName, persistentVolume } of statusVolumes(api)) {
    if (!own.has(uniqueName) || allowsSeveralNodes(persistentVolume)) continue
    names.add(uniqueName)
    note(persistentVolume)
  }
  return { nodes: [...nodes], names: [...names], claims }
}

/** Through a claim, or an inline volume that counts as one of CSI. */
function mayHavePersistentVolume(pod: Pod): boolean {
  return (pod.spec.volumes ?? []).some(
    (volume) =>
      claimReferenceOf(pod, volume, 'controller') !== undefined ||
      translate({ source: volume }, podNamespace(pod)) !== undefined,
  )
}

/** Of other nodes, those of these names that their status has as attached. */
async function attachedByStatus(
  client: KubeClient,
  names: readonly string[],
  nodeName: string,
  settings: RequestSettings,
): Promise<{ readonly attached: ReadonlyMap<string, readonly string[]>; readonly problem?: string }> {
  const attached = new Map<string, readonly string[]>()
  if (names.length === 0) return { attached }
  const list = await unlessFailed(client.list(NODES, settings), 'other nodes could not be listed')
  if ('problem' in list) return { attached, ...list }
  for (const { metadata, status } of list.items) {
    const its = (status?.volumesAttached ?? []).map(({ name }) => name).filter((name) => names.includes(name))
    if (metadata.name !== nodeName && its.length > 0) attached.set(metadata.name, its)
  }
  return { attached }
}

async function podsWith(
  client: KubeClient,
  nodeName: string,
  claims: ReadonlySet<string>,
  settings: RequestSettings,
): Promise<Pick<NodeElsewhere, 'pods' | 'problem'>> {
  const list = await unlessFailed(listNodePods(client, nodeName, settings), 'its pods could not be listed')
  return 'problem' in list ? list : { pods: list.items.flatMap((pod) => userOf(pod, claims) ?? []) }
}

/** Undefined: the pod uses none of these claims, or has ended. */
function userOf(pod: Pod, claims: ReadonlySet<string>): PodElsewhere | undefined {
  const namespace = podNamespace(pod)
  const used = (pod.spec.volumes ?? [])
    .map((volume) => claimReferenceOf(pod, volume, 'controller')?.name)
    .filter((name) => name !== undefined && claims.has(`${namespace}/${name}`)) as string[]
  if (used.length === 0 || isTerminalPhase(pod)) return undefined
  const { name, uid, deletionTimestamp } = pod.metadata
  return { namespace, name, uid, phase: pod.status?.phase, deletionTimestamp, claims: [...new Set(used)] }
}

/** The list, or why there is none. */
function unlessFailed<T>(list: Promise<T>, what: string): Promise<T | { readonly problem: string }> {
  return orInstead(list, ({ message }) => ({ problem: `${what}: ${message}` }))
}

/**
 * Reads claims, volumes, attachments and drivers: as lists if the identity may list them, otherwise one by one (N30, N68).
 *
 * They are read after the pods (N48). What a list lacks, or shows in an unfinished state, is read again by name: a claim that
 * is younger than the list must not look absent (S3, S4).
 */

import { compareText } from '../../base/text.ts'
import {
  type ApiObject,
  ATTACHMENTS,
  CLAIMS,
  CSI_DRIVERS,
  type CsiDriver,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type PodVolumeSource,
  type Resource,
  VOLUMES,
} from '../../kube/api/objects.ts'
import { keyText, type ObjectKey } from '../../kube/api/resources.ts'
import type { KubeClient } from '../../kube/kube-client.ts'
import { aboutText, type ObjectReader, objectReader } from '../../kube/object-reader.ts'
import { csiSourceOf } from '../../volumes/in-tree-volumes.ts'
import { volumesInStatus } from '../../volumes/node-affinity.ts'
import { projections } from '../../volumes/payload-entries.ts'
import { controllerWantedVolumes } from '../../volumes/populate.ts'
import { claimReferenceOf } from '../../volumes/resolve-claim.ts'
import type { ApiSnapshot } from '../../volumes/snapshot.ts'
import { attachmentName, parseCsiUniqueName } from '../../volumes/volume-names.ts'

interface VolumeQuery {
  readonly nodeName: string
  readonly node: Node | undefined
  readonly claims: readonly ObjectKey[]
  /** Drivers of inline volumes. */
  readonly inlineDrivers: readonly string[]
}

export async function readVolumes(reader: ObjectReader, query: VolumeQuery) {
  const [listedClaims, listedVolumes, listedAttachments, listedDrivers] = await Promise.all([
    reader.list(CLAIMS),
    reader.list(VOLUMES),
    reader.list(ATTACHMENTS),
    reader.list(CSI_DRIVERS),
  ])
  const claims = await completed(reader, CLAIMS, listedClaims, query.claims, (claim) => Boolean(claim.spec.volumeName))
  const volumes = await completed(reader, VOLUMES, listedVolumes, volumeNames(claims, query.claims))
  const csi = csiVolumes(volumes, query.node)
  const driverKeys = keysOf([...csi.map(({ driver }) => driver), ...query.inlineDrivers])
  const drivers = await completed(reader, CSI_DRIVERS, listedDrivers, driverKeys)
  const attachments =
    listedAttachments === undefined
      ? await reader.getAll(ATTACHMENTS, attachmentKeys(csi, drivers, query.nodeName))
      : sorted(listedAttachments)
  return { claims, volumes, attachments, drivers }
}

/** The listed objects, and those of `wanted` that are not listed or not `settled`, read by name, so that their absence is known. */
async function completed<T extends ApiObject>(
  reader: ObjectReader,
  resource: Resource<T>,
  listed: readonly T[] = [],
  wanted: readonly ObjectKey[],
  settled: (object: T) => boolean = () => true,
): Promise<T[]> {
  const found = new Map(listed.map((object) => [keyText(object.metadata), object]))
  const asked = wanted.filter((key) => {
    const object = found.get(keyText(key))
    return object === undefined || !settled(object)
  })
  for (const key of asked) found.delete(keyText(key))
  for (const object of await reader.getAll(resource, asked)) found.set(keyText(object.metadata), object)
  return sorted([...found.values()])
}

function sorted<T extends ApiObject>(objects: readonly T[]): T[] {
  return objects.toSorted((a, b) => compareText(keyText(a.metadata), keyText(b.metadata)))
}

function volumeNames(claims: readonly PersistentVolumeClaim[], wanted: readonly ObjectKey[]): ObjectKey[] {
  const keys = new Set(wanted.map(keyText))
  const asked = claims.filter((claim) => keys.has(keyText(claim.metadata)))
  return keysOf(asked.map((claim) => claim.spec.volumeName))
}

type CsiVolume = NonNullable<ReturnType<typeof parseCsiUniqueName>>

/** The volumes of CSI among these, and those that the Node object names as attached or in use: also those whose pods are gone (N64). */
function csiVolumes(volumes: readonly PersistentVolume[], node: Node | undefined): CsiVolume[] {
  const sources = volumes.flatMap((volume) => csiSourceOf(volume) ?? [])
  return [
    ...sources.map(({ driver, volumeHandle: handle }) => ({ driver, handle })),
    ...volumesInStatus(node).flatMap((name) => parseCsiUniqueName(name) ?? []),
  ]
}

/** Names of attachments are computed (R007), so that even a credential that may not list them can read those of this node. */
function attachmentKeys(csi: readonly CsiVolume[], drivers: readonly CsiDriver[], nodeName: string): ObjectKey[] {
  const isAttached = ({ driver }: CsiVolume): boolean =>
    drivers.find(({ metadata }) => metadata.name === driver)?.spec.attachRequired !== false
  return keysOf(csi.filter(isAttached).map(({ driver, handle }) => attachmentName(handle, driver, nodeName)))
}

function keysOf(names: readonly (string | undefined)[]): ObjectKey[] {
  return uniqueKeys(names.map((name) => ({ name })))
}

/** Each once, sorted; without those that have no name. */
function uniqueKeys(keys: readonly Partial<ObjectKey>[]): ObjectKey[] {
  const named = keys.flatMap(({ name, ...rest }) => (name ? [{ ...rest, name }] : []))
  const unique = new Map(named.map((key) => [keyText(key), key]))
  return [...unique].sort(([a], [b]) => compareText(a, b)).map(([, key]) => key)
}

/** What must be read besides the pods: claims (generated ones too, N56), config maps and secrets, also projected ones; and drivers. */
export function referencedObjects(pods: readonly Pod[]) {
  const named = (namesOf: (volume: PodVolumeSource, pod: Pod) => readonly (string | undefined)[]): ObjectKey[] =>
    uniqueKeys(
      pods.flatMap((pod) => {
        const { metadata, spec } = pod
        const names = (spec.volumes ?? []).flatMap((volume) => namesOf(volume, pod))
        return names.map((name) => ({ namespace: metadata.namespace ?? '', name }))
      }),
    )
  return {
    claims: named((volume, pod) => [claimReferenceOf(pod, volume, 'controller')?.name]),
    configMaps: named((volume) => (projections(volume) ?? []).map(({ configMap }) => configMap?.name)),
    secrets: named((volume) => (projections(volume) ?? []).map(({ secret }) => secret?.name)),
    /** Of inline volumes. */
    csiDrivers: pods.flatMap(({ spec }) => (spec.volumes ?? []).flatMap(({ csi }) => csi?.driver ?? [])),
  }
}

// Reads again the claims and volumes behind pods: a new list of pods may name objects that the last look did not read, and
// those are unknown, not absent (S21, S3).

/** For all reads together. */
const DEADLINE_MS = 30_000

/**
 * Reads by name the claims of pods, and the volumes behind them, if the last look did not have the pod or could not resolve one
 * of its volumes. The others need not be read again: a bound claim's volume never changes, nor do a pod's volumes.
 *
 * @param api the last look
 * @param pods just read
 * @returns the last look with these objects added; what could not be read is among its errors
 */
export async function withFreshVolumes(
  client: KubeClient,
  api: ApiSnapshot,
  pods: readonly Pod[],
  nodeName: string,
): Promise<ApiSnapshot> {
  const known = new Set(api.pods.map(({ metadata }) => metadata.uid))
  const unresolved = new Set(controllerWantedVolumes(pods, api, nodeName).unresolved.map(({ pod }) => pod))
  const doubtful = pods.filter((pod) => !known.has(pod.metadata.uid) || unresolved.has(pod))
  const { claims: claimKeys } = referencedObjects(doubtful)
  if (claimKeys.length === 0) return api
  const reader = objectReader(client, { deadlineMs: DEADLINE_MS })
  const again = (): boolean => false
  const persistentVolumeClaims = await completed(reader, CLAIMS, api.persistentVolumeClaims, claimKeys, again)
  const volumeKeys = volumeNames(persistentVolumeClaims, claimKeys)
  const persistentVolumes = await completed(reader, VOLUMES, api.persistentVolumes, volumeKeys, again)
  const asked = new Set([
    ...claimKeys.map((key) => aboutText(CLAIMS.plural, key)),
    ...volumeKeys.map((key) => aboutText(VOLUMES.plural, key)),
  ])
  const others = api.errors.filter((error) => !asked.has(aboutText(error.resource, error)))
  return { ...api, persistentVolumeClaims, persistentVolumes, errors: [...others, ...reader.sortedErrors()] }
}

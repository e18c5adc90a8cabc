/**
 * Reads claims, volumes, attachments and drivers: as lists if the identity may list them, otherwise one by one (N30, N68).
 *
 * They are read after the pods (N48). What a list lacks, or shows in an unfinished state, is read again by name: a claim that
 * is younger than the list must not look absent (S3, S4).
 */

import { csiSourceOf } from '../desired/in-tree-volumes.ts'
import { volumesInStatus } from '../desired/node-status.ts'
import { compareText } from '../lang/compare-text.ts'
import type {
  ApiObject,
  CsiDriver,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeAttachment,
} from '../model/objects.ts'
import {
  ATTACHMENTS,
  CLAIMS,
  CSI_DRIVERS,
  keyText,
  type ObjectKey,
  type Resource,
  VOLUMES,
} from '../model/resources.ts'
import { attachmentName, parseCsiUniqueName } from '../names/volume-names.ts'
import { ApiError } from './api-error.ts'
import type { ObjectReader } from './object-reader.ts'

export interface VolumeObjects {
  readonly claims: readonly PersistentVolumeClaim[]
  readonly volumes: readonly PersistentVolume[]
  readonly attachments: readonly VolumeAttachment[]
  readonly drivers: readonly CsiDriver[]
}

export interface VolumeQuery {
  readonly nodeName: string
  readonly node: Node | undefined
  readonly claims: readonly ObjectKey[]
  /** Drivers of inline volumes. */
  readonly inlineDrivers: readonly string[]
}

export async function readVolumes(reader: ObjectReader, query: VolumeQuery): Promise<VolumeObjects> {
  const [listedClaims, listedVolumes, listedAttachments, listedDrivers] = await Promise.all([
    reader.list(CLAIMS),
    reader.list(VOLUMES),
    reader.list(ATTACHMENTS),
    reader.list(CSI_DRIVERS),
  ])
  noteFailures(reader, listedClaims, listedVolumes, listedAttachments, listedDrivers)

  const claims = await completed(reader, CLAIMS, listedClaims, query.claims, (claim) => Boolean(claim.spec.volumeName))
  const volumes = await completed(reader, VOLUMES, listedVolumes, volumeNames(claims, query.claims))
  const drivers = await completed(reader, CSI_DRIVERS, listedDrivers, driverNames(volumes, query))
  const attachments =
    listedAttachments instanceof ApiError
      ? await reader.getAll(ATTACHMENTS, attachmentNames(volumes, drivers, query))
      : sorted(listedAttachments)
  return { claims, volumes, attachments, drivers }
}

/**
 * If a list is refused, the objects in question are read by name, so that their absence is known. An error entry without a
 * name shows that the view is incomplete (S3; S21: a second PV; S30: other nodes).
 */
function noteFailures(
  reader: ObjectReader,
  claims: unknown,
  volumes: unknown,
  attachments: unknown,
  drivers: unknown,
): void {
  if (claims instanceof ApiError) reader.note(claims, CLAIMS)
  if (drivers instanceof ApiError) reader.note(drivers, CSI_DRIVERS)
  if (volumes instanceof ApiError) reader.note(volumes, VOLUMES)
  if (attachments instanceof ApiError) reader.note(attachments, ATTACHMENTS)
}

/** The listed objects, and those of `wanted` that are not listed or not `settled`, read by name. */
async function completed<T extends ApiObject>(
  reader: ObjectReader,
  resource: Resource<T>,
  listed: readonly T[] | ApiError,
  wanted: readonly ObjectKey[],
  settled: (object: T) => boolean = () => true,
): Promise<T[]> {
  const found = new Map((listed instanceof ApiError ? [] : listed).map((object) => [keyText(object.metadata), object]))
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
  const names = claims.filter((claim) => keys.has(keyText(claim.metadata))).map((claim) => claim.spec.volumeName)
  return uniqueNames(names)
}

function driverNames(volumes: readonly PersistentVolume[], query: VolumeQuery): ObjectKey[] {
  const attached = attachedVolumes(query.node).map(({ driver }) => driver)
  return uniqueNames([...volumes.map((volume) => csiSourceOf(volume)?.driver), ...query.inlineDrivers, ...attached])
}

/** Names of attachments are computed (R007), so that even a credential that may not list them can read those of this node. */
function attachmentNames(
  volumes: readonly PersistentVolume[],
  drivers: readonly CsiDriver[],
  query: VolumeQuery,
): ObjectKey[] {
  const unattached = new Set(
    drivers.filter(({ spec }) => spec.attachRequired === false).map(({ metadata }) => metadata.name),
  )
  const handles = [
    ...volumes.flatMap((volume) => {
      const csi = csiSourceOf(volume)
      return csi === undefined ? [] : [{ driver: csi.driver, handle: csi.volumeHandle }]
    }),
    ...attachedVolumes(query.node),
  ]
  const names = handles.filter(({ driver }) => !unattached.has(driver))
  return uniqueNames(names.map(({ driver, handle }) => attachmentName(handle, driver, query.nodeName)))
}

/** CSI volumes that the Node object names as attached or in use: also those whose pods are gone (N64). */
function attachedVolumes(node: Node | undefined): { driver: string; handle: string }[] {
  return volumesInStatus(node).flatMap((name) => parseCsiUniqueName(name) ?? [])
}

function uniqueNames(names: readonly (string | undefined)[]): ObjectKey[] {
  const present = names.filter((name) => name !== undefined && name !== '')
  return [...new Set(present)].sort().map((name) => ({ name: String(name) }))
}

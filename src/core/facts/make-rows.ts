/** Every volume of a node, once: what pods want, what the disk and the mount table show, and what is attached, put together by key. */

import { once } from '../base/memoize.ts'
import type { PersistentVolume, VolumeAttachment } from '../kube/api/objects.ts'
import type { RowKey } from '../plan/subject.ts'
import type { VolumeToMount } from '../volumes/desired-state.ts'
import { volumesInStatus } from '../volumes/node-affinity.ts'
import { podNamespace } from '../volumes/pods.ts'
import { attachmentName, parseCsiUniqueName } from './actual/volume-names.ts'
import { GrowingRow, type VolumeRow } from './row.ts'
import { type Keyed, type NodeThings, named } from './row-keys.ts'

interface Rows {
  readonly all: readonly VolumeRow[]
  readonly byKey: ReadonlyMap<RowKey, VolumeRow>
  readonly byPersistentVolume: ReadonlyMap<string, VolumeRow>
  readonly byAttachment: ReadonlyMap<string, VolumeRow>
  /** By NAMESPACE/NAME. */
  readonly byClaim: ReadonlyMap<string, VolumeRow>
}

/** In the order in which they are found: what pods want first, then what is there, then what only the API has. */
export function makeRows({ sources, ended, globals, podVolumes, leakedSubPaths, keyOf }: NodeThings): Rows {
  const { desired, staged, blocks, podUids, inputs } = sources
  const { api, nodeName } = inputs.snapshot
  const byKey = new Map<RowKey, GrowingRow>()
  const byPersistentVolume = new Map<string, GrowingRow>()
  const byAttachment = new Map<string, GrowingRow>()

  function rowOf({ key, uniqueName, identity, unidentified }: Keyed): GrowingRow {
    const row = once(byKey, key, () => new GrowingRow(key, uniqueName))
    row.identity ??= identity
    row.unidentified ??= unidentified
    return row
  }

  function noteObject(object: PersistentVolume, row: GrowingRow): void {
    row.persistentVolume ??= object
    byPersistentVolume.set(object.metadata.name, row)
  }

  function wantedRow({ uniqueName, driver, handle, persistentVolume }: VolumeToMount): GrowingRow {
    const from = persistentVolume === undefined ? 'the pod' : `PersistentVolume ${persistentVolume.metadata.name}`
    const isCsi = driver !== undefined && handle !== undefined
    const row = rowOf({ ...named(uniqueName), ...(isCsi && { identity: { driver, handle, from } }) })
    if (persistentVolume !== undefined) noteObject(persistentVolume, row)
    return row
  }

  for (const volume of desired.volumes) wantedRow(volume).wanted.push(volume)
  for (const volume of ended()) wantedRow(volume).ended.push(volume)
  for (const unresolved of desired.unresolved) {
    const row = rowOf(keyOf.unresolved(unresolved))
    row.unresolved.push(unresolved)
    const { persistentVolumeName: name } = unresolved
    if (name !== undefined) once(byPersistentVolume, name, () => row)
  }
  // Global mounts before the pods' directories, which may be on their devices.
  for (const global of globals()) rowOf(keyOf.global(global)).globals.push(global)
  for (const each of staged) rowOf(keyOf.staged(each)).staged.push(each)
  for (const podUid of podUids) {
    for (const volume of podVolumes(podUid)) rowOf(keyOf.podVolume(volume)).onDisk.push(volume)
    for (const subPaths of leakedSubPaths(podUid))
      rowOf(keyOf.leaked(podUid, subPaths)).leaked.push({ podUid, subPaths })
  }
  for (const block of blocks) rowOf(keyOf.block(block)).maps.push({ block, mappings: block.mappings })
  // Objects last: most are of volumes that are known by then.
  for (const object of api?.persistentVolumes ?? []) {
    if (byPersistentVolume.get(object.metadata.name)?.persistentVolume === undefined)
      noteObject(object, rowOf(keyOf.persistentVolume(object)))
  }
  for (const attachment of api?.volumeAttachments ?? []) {
    const isHere = attachment.spec.nodeName === nodeName
    const row = isHere ? rowOf(keyOf.attachment(attachment)) : ofElsewhere(attachment, byPersistentVolume)
    if (row === undefined) continue
    if (isHere) row.attachment ??= attachment
    byAttachment.set(attachment.metadata.name, row)
  }
  // Also those that nothing else has.
  for (const name of volumesInStatus(api?.node)) {
    const csi = parseCsiUniqueName(name)
    rowOf({ ...named(name), ...(csi !== undefined && { identity: { ...csi, from: "the node's status" } }) })
  }
  const all = [...byKey.values()]
  // A PersistentVolume that was deleted is still named by its attachment.
  for (const row of all) {
    const name = row.attachment?.spec.source.persistentVolumeName
    if (name) once(byPersistentVolume, name, () => row)
  }
  return { all, byKey, byPersistentVolume, byAttachment, byClaim: claimsOf(all) }
}

/** Another node's attachment of a volume that pods here want or have is asked about for that volume's sake (S30). */
function ofElsewhere(
  { metadata, spec: { attacher, nodeName, source } }: VolumeAttachment,
  byPersistentVolume: ReadonlyMap<string, GrowingRow>,
): GrowingRow | undefined {
  const row = byPersistentVolume.get(source.persistentVolumeName ?? '')
  if (row?.identity === undefined) return undefined
  const { wanted, onDisk, staged, maps } = row
  if (wanted.length + onDisk.length + staged.length + maps.length === 0) return undefined
  // Only the hash in its name says which volume it is of (R007).
  return attachmentName(row.identity.handle, attacher, nodeName) === metadata.name ? row : undefined
}

/** Bound ones before those that only a pod names: one that was not bound has a volume later. */
function claimsOf(rows: readonly VolumeRow[]): ReadonlyMap<string, VolumeRow> {
  const bound = rows.flatMap((row) => {
    const { namespace = 'default', name } = { ...row.persistentVolume?.spec.claimRef }
    return name === undefined ? [] : [{ claim: `${namespace}/${name}`, row }]
  })
  const asked = rows.flatMap((row) =>
    row.unresolved.flatMap(({ pod, claimName }) =>
      claimName === undefined ? [] : [{ claim: `${podNamespace(pod)}/${claimName}`, row }],
    ),
  )
  // The first of each counts.
  return new Map([...bound, ...asked].toReversed().map(({ claim, row }) => [claim, row]))
}

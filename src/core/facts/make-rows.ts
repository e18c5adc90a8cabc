/** Every volume of a node, once: what pods want, what the disk and the mount table show, and what is attached, put together by key. */

import { once } from '../base/memoize.ts'
import type { PersistentVolume, VolumeAttachment } from '../kube/api/objects.ts'
import type { RowKey } from '../plan/subject.ts'
import type { VolumeToMount } from '../volumes/desired-state.ts'
import { volumesInStatus } from '../volumes/node-affinity.ts'
import { podNamespace } from '../volumes/pods.ts'
import { statusVolumesAt } from '../volumes/populate.ts'
import { attachmentName } from './actual/volume-names.ts'
import { completeRow, GrowingRow, type VolumeRow } from './row.ts'
import { identified, type Keyed, type NodeThings, named } from './row-keys.ts'
import { identitiesInStatus, identityOfObject } from './sources.ts'

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

  function ofThisNode(attachment: VolumeAttachment): GrowingRow {
    const key = keyOf.attachment(attachment)
    if (key !== undefined) return rowOf(key)
    const named = byPersistentVolume.get(attachment.spec.source.persistentVolumeName ?? '')
    return named ?? rowOf({ key: `volumeattachments/${attachment.metadata.name}` })
  }

  for (const volume of desired.volumes) wantedRow(volume).wanted.push(volume)
  for (const volume of ended()) wantedRow(volume).ended.push(volume)
  for (const unresolved of desired.unresolved) {
    const row = rowOf(keyOf.unresolved(unresolved))
    row.unresolved.push(unresolved)
    const { persistentVolumeName: name } = unresolved
    if (name) once(byPersistentVolume, name, () => row)
  }
  /** By the one PersistentVolume of another plugin than CSI that its directory's name fits. */
  const mounted = new Map<string, GrowingRow>()
  // Global mounts before the pods' directories, which may be on their devices.
  for (const global of globals()) {
    const row = rowOf(keyOf.global(global))
    row.globals.push(global)
    const [one, other] = api === undefined ? [] : statusVolumesAt(api, global.plugin, global.name)
    if (one !== undefined && other === undefined) mounted.set(one.persistentVolume.metadata.name, row)
  }
  for (const each of staged) rowOf(keyOf.staged(each)).staged.push(each)
  for (const podUid of podUids) {
    for (const volume of podVolumes(podUid)) rowOf(keyOf.podVolume(volume)).onDisk.push(volume)
    for (const subPaths of leakedSubPaths(podUid)) rowOf(keyOf.leaked(subPaths)).leaked.push(subPaths)
  }
  for (const block of blocks) rowOf(keyOf.block(block)).maps.push(block)
  // Objects last: most are of volumes that are known by then.
  for (const object of api?.persistentVolumes ?? []) {
    const { name } = object.metadata
    const known = byPersistentVolume.get(name)
    if (known?.persistentVolume !== undefined) continue
    const identity = identityOfObject(object)
    const own = identity && rowOf(identified(identity))
    noteObject(object, own ?? known ?? mounted.get(name) ?? rowOf({ key: `persistentvolumes/${name}` }))
  }
  for (const attachment of api?.volumeAttachments ?? []) {
    const { name } = attachment.metadata
    const isHere = attachment.spec.nodeName === nodeName
    const row = isHere ? ofThisNode(attachment) : ofElsewhere(attachment, byPersistentVolume)
    if (row === undefined) continue
    if (isHere) row.attachment ??= attachment
    byAttachment.set(name, row)
  }
  // Also those that nothing else has.
  for (const identity of identitiesInStatus(api?.node)) rowOf(identified(identity))
  for (const name of volumesInStatus(api?.node)) rowOf(named(name))
  const all = [...byKey.values()]
  for (const row of all) {
    completeRow(row)
    // A PersistentVolume that was deleted is still named by its attachment.
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

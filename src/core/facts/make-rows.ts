/**
 * Every volume of a node, once: what pods want, what the disk and the mount table show, and what is attached, put together by key, as the
 * planner names volumes (R815): by what pods want, by identity, by device; what nothing identifies stands alone.
 */

import { once } from '../base/collections.ts'
import type { PersistentVolume, VolumeAttachment } from '../kube/api/objects.ts'
import { podDirOf, type VolumeToMount } from '../volumes/desired-state.ts'
import type { PodUid, RowKey } from '../volumes/finding.ts'
import { volumesInStatus } from '../volumes/node-affinity.ts'
import type { BlockVolume } from '../volumes/on-disk/block-volume.ts'
import { inlineNameOf, type PodParts, type PodVolume } from '../volumes/on-disk/pod-volumes.ts'
import { podNamespace } from '../volumes/pods.ts'
import { desiredStateOfPods, statusVolumesAt } from '../volumes/populate.ts'
import {
  attachmentName,
  CSI_PLUGIN,
  escapeQualifiedName,
  uniquePodVolumeName,
  uniqueVolumeName,
} from '../volumes/volume-names.ts'
import { type GlobalMount, globalUniqueName } from './global-mounts.ts'
import {
  type CsiIdentity,
  GrowingRow,
  type Identified,
  identitiesInStatus,
  identityOfObject,
  identityOnRecord,
  type LedgerSources,
  uniqueNameOf,
  type VolumeRow,
} from './row.ts'

/**
 * In the order in which they are found: what pods want first, then what is there, then what only the API has.
 *
 * @param globals sorted by path
 */
export function makeRows(
  { desired, staged, blocks, podUids, endedPods, inputs, objects, identify }: LedgerSources,
  globals: readonly GlobalMount[],
  partsOf: (uid: PodUid) => PodParts,
) {
  const { api, nodeName } = inputs.snapshot
  const byKey = new Map<RowKey, GrowingRow>()
  const byPersistentVolume = new Map<string, GrowingRow>()
  const byAttachment = new Map<string, GrowingRow>()
  /** Volumes of pods that have ended. */
  const ended = api === undefined ? [] : desiredStateOfPods(endedPods, api).volumes
  const asked = [...desired.volumes, ...ended]
  const byPod = Map.groupBy(asked, ({ podUid }) => podUid)
  const byDirectory = new Map(asked.map((each) => [podDirOf(each), each]))
  // The first of each counts.
  const onDevice = new Map(
    globals
      .flatMap(({ plugin, path, layers }) => layers.map(({ dev }) => [`${plugin} ${dev}`, path] as const))
      .toReversed(),
  )

  function rowOf(key: RowKey, uniqueName?: string): GrowingRow {
    return once(byKey, key, () => new GrowingRow(key, uniqueName))
  }

  /** The name is this volume's alone. */
  function named(uniqueName: string, identity?: CsiIdentity): GrowingRow {
    const row = rowOf(uniqueName, uniqueName)
    row.identity ??= identity
    return row
  }

  /** A CSI volume. */
  function identified(identity: CsiIdentity): GrowingRow {
    return named(uniqueNameOf(identity), identity)
  }

  /** A CSI volume by its identity; alone where that is not known. */
  function identifiedOr(found: Identified, otherwise: RowKey): GrowingRow {
    if (found.identity !== undefined) return identified(found.identity)
    const row = rowOf(otherwise)
    row.unidentified ??= found.unconfirmed.message
    return row
  }

  function ofPersistentVolumeName(name: string, dir: string): GrowingRow {
    const identity = identityOfObject(objects.persistentVolume(name))
    return identity === undefined ? rowOf(inputs.absolute(dir)) : named(uniqueNameOf(identity))
  }

  function noteObject(object: PersistentVolume, row: GrowingRow): void {
    row.persistentVolume ??= object
    byPersistentVolume.set(object.metadata.name, row)
  }

  function wantedRow({ uniqueName, driver, handle, persistentVolume }: VolumeToMount): GrowingRow {
    const from = persistentVolume === undefined ? 'the pod' : `PersistentVolume ${persistentVolume.metadata.name}`
    const isCsi = driver !== undefined && handle !== undefined
    const row = named(uniqueName, isCsi ? { driver, handle, from } : undefined)
    if (persistentVolume !== undefined) noteObject(persistentVolume, row)
    return row
  }

  function rowOnDisk(volume: PodVolume): GrowingRow {
    const { plugin, podUid, name, dir, layers, stateFile, subPaths } = volume
    const wanted = byDirectory.get(dir)
    if (wanted !== undefined) return named(wanted.uniqueName)
    const own = uniquePodVolumeName(plugin, podUid, name)
    if (plugin === CSI_PLUGIN) {
      // Only sub-paths are left (O17): as of one whose directory is missing.
      if (stateFile === undefined && layers.length === 0 && subPaths?.leaves.some((leaf) => leaf.layers.length > 0))
        return ofPersistentVolumeName(name, dir)
      const inline = inlineNameOf(volume)
      return inline === undefined
        ? identifiedOr(identify.podVolume(volume), own)
        : named(inline, identityOnRecord(stateFile))
    }
    const path = onDevice.get(`${plugin} ${layers.at(-1)?.dev}`)
    const isLocal = plugin === 'kubernetes.io/local-volume'
    const row = named(
      isLocal ? uniqueVolumeName(plugin, name) : path === undefined ? own : globalUniqueName(plugin, path),
    )
    const { local, nfs } = { ...objects.persistentVolume(name)?.spec }
    if (isLocal ? local : plugin === 'kubernetes.io/nfs' && nfs) once(mounted, name, () => row)
    return row
  }

  function rowOfBlock(block: BlockVolume): GrowingRow {
    const { plugin, dir, mappings } = block
    for (const { symlink = '' } of mappings) {
      const linked = byDirectory.get(symlink)
      if (linked !== undefined) return named(linked.uniqueName)
    }
    return plugin === CSI_PLUGIN
      ? identifiedOr(identify.block(block), inputs.absolute(dir))
      : named(globalUniqueName(plugin, dir))
  }

  function ofThisNode(attachment: VolumeAttachment): GrowingRow {
    const identity = identify.attachment(attachment)
    if (identity !== undefined) return identified(identity)
    const known = byPersistentVolume.get(attachment.spec.source.persistentVolumeName ?? '')
    return known ?? rowOf(`volumeattachments/${attachment.metadata.name}`)
  }

  /** Another node's attachment of a volume that pods here want or have is asked about for that volume's sake (S30). */
  function ofElsewhere({
    metadata,
    spec: { attacher, nodeName: node, source },
  }: VolumeAttachment): GrowingRow | undefined {
    const row = byPersistentVolume.get(source.persistentVolumeName ?? '')
    if (row?.identity === undefined) return undefined
    const { wanted, onDisk, staged, maps } = row
    if (wanted.length + onDisk.length + staged.length + maps.length === 0) return undefined
    // Only the hash in its name says which volume it is of (R007).
    return attachmentName(row.identity.handle, attacher, node) === metadata.name ? row : undefined
  }

  for (const volume of desired.volumes) wantedRow(volume).wanted.push(volume)
  for (const volume of ended) wantedRow(volume).ended.push(volume)
  for (const unresolved of desired.unresolved) {
    const { volume, podUid, podVolumeName, persistentVolumeName: name } = unresolved
    const row =
      volume === undefined ? rowOf(uniquePodVolumeName('unresolved', podUid, podVolumeName)) : named(volume.uniqueName)
    row.unresolved.push(unresolved)
    if (name) once(byPersistentVolume, name, () => row)
  }
  /** By the one PersistentVolume of another plugin than CSI that its directory's name fits. */
  const mounted = new Map<string, GrowingRow>()
  // Global mounts before the pods' directories, which may be on their devices.
  for (const global of globals) {
    const row = named(globalUniqueName(global.plugin, global.path))
    row.globals.push(global)
    const [one, other] = api === undefined ? [] : statusVolumesAt(api, global.plugin, global.name)
    if (one !== undefined && other === undefined) mounted.set(one.persistentVolume.metadata.name, row)
  }
  for (const each of staged) identifiedOr(identify.staged(each), inputs.absolute(each.dir)).staged.push(each)
  for (const uid of podUids) {
    const { volumes, leaked } = partsOf(uid)
    for (const volume of volumes) rowOnDisk(volume).onDisk.push(volume)
    for (const subPaths of leaked) {
      const { volumeName, dir } = subPaths
      const wanted = byPod.get(uid)?.find(({ specName }) => escapeQualifiedName(specName) === volumeName)
      const row = wanted === undefined ? ofPersistentVolumeName(volumeName, dir) : named(wanted.uniqueName)
      row.leaked.push(subPaths)
    }
  }
  for (const block of blocks) rowOfBlock(block).maps.push(block)
  // Objects last: most are of volumes that are known by then.
  for (const object of api?.persistentVolumes ?? []) {
    const { name } = object.metadata
    const known = byPersistentVolume.get(name)
    if (known?.persistentVolume !== undefined) continue
    const identity = identityOfObject(object)
    const own = identity && identified(identity)
    noteObject(object, own ?? known ?? mounted.get(name) ?? rowOf(`persistentvolumes/${name}`))
  }
  for (const attachment of api?.volumeAttachments ?? []) {
    const { name } = attachment.metadata
    const isHere = attachment.spec.nodeName === nodeName
    const row = isHere ? ofThisNode(attachment) : ofElsewhere(attachment)
    if (row === undefined) continue
    if (isHere) row.attachment ??= attachment
    byAttachment.set(name, row)
  }
  // Also those that nothing else has.
  for (const identity of identitiesInStatus(api?.node)) identified(identity)
  for (const name of volumesInStatus(api?.node)) named(name)
  const all = [...byKey.values()]
  for (const row of all) {
    // A PersistentVolume that was deleted is still named by its attachment.
    const name = row.attachment?.spec.source.persistentVolumeName
    if (name) once(byPersistentVolume, name, () => row)
  }
  /** By what cannot be used as a pod asks, and by what is there. */
  const keys = new Map<object, RowKey>()
  for (const { key, unresolved, onDisk, leaked, staged, globals, maps } of all)
    for (const things of [unresolved, onDisk, leaked, staged, globals, maps])
      for (const thing of things) keys.set(thing, key)
  return { all, byKey, byPersistentVolume, byAttachment, keys }
}

/** By NAMESPACE/NAME. Bound ones before those that only a pod names: one that was not bound has a volume later. */
export function rowsByClaim(rows: readonly VolumeRow[]): ReadonlyMap<string, VolumeRow> {
  const bound = rows.flatMap((row) => {
    const { namespace = 'default', name } = { ...row.persistentVolume?.spec.claimRef }
    return name === undefined ? [] : [[`${namespace}/${name}`, row] as const]
  })
  const asked = rows.flatMap((row) =>
    row.unresolved.flatMap(({ pod, claimName }) =>
      claimName === undefined ? [] : [[`${podNamespace(pod)}/${claimName}`, row] as const],
    ),
  )
  // The first of each counts.
  return new Map([...bound, ...asked].toReversed())
}

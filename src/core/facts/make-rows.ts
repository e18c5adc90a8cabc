/** Every volume of a node, once: what pods want, what the disk and the mount table show, and what is attached, put together by key. */

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
export function makeRows(things: NodeThings): Rows {
  const rows = new RowMaker(things)
  rows.noteDesired()
  rows.noteFound()
  rows.noteObjects()
  const { byKey, byPersistentVolume, byAttachment } = rows
  const all = [...byKey.values()]
  noteAttachedObjects(all, byPersistentVolume)
  return { all, byKey, byPersistentVolume, byAttachment, byClaim: claimsOf(all) }
}

class RowMaker {
  readonly byKey = new Map<RowKey, GrowingRow>()
  readonly byPersistentVolume = new Map<string, GrowingRow>()
  readonly byAttachment = new Map<string, GrowingRow>()
  readonly #things: NodeThings

  constructor(things: NodeThings) {
    this.#things = things
  }

  noteDesired(): void {
    const { desired } = this.#things.sources
    for (const volume of desired.volumes) this.#wantedRow(volume).wanted.push(volume)
    for (const volume of this.#things.ended()) this.#wantedRow(volume).ended.push(volume)
    for (const unresolved of desired.unresolved) {
      const row = this.#row(this.#things.keyOfUnresolved(unresolved))
      row.unresolved.push(unresolved)
      const { persistentVolumeName: name } = unresolved
      if (name !== undefined && !this.byPersistentVolume.has(name)) this.byPersistentVolume.set(name, row)
    }
  }

  /** Global mounts before the pods' directories, which may be on their devices. */
  noteFound(): void {
    const things = this.#things
    const { staged, blocks, podUids } = this.#things.sources
    for (const global of things.globals) this.#row(things.keyOfGlobal(global)).globals.push(global)
    for (const each of staged) this.#row(things.keyOfStaged(each)).staged.push(each)
    for (const uid of podUids) {
      for (const volume of things.podVolumes(uid)) this.#row(things.keyOfPodVolume(volume)).onDisk.push(volume)
      for (const subPaths of things.leakedSubPaths(uid))
        this.#row(things.keyOfLeaked(uid, subPaths)).leaked.push({ podUid: uid, subPaths })
    }
    for (const block of blocks) this.#row(things.keyOfBlock(block)).maps.push({ block, mappings: block.mappings })
  }

  /** Last: most PersistentVolumes and attachments are of volumes that are known by then. */
  noteObjects(): void {
    const { api, nodeName } = this.#things.sources.inputs.snapshot
    for (const object of api?.persistentVolumes ?? []) {
      if (this.byPersistentVolume.get(object.metadata.name)?.persistentVolume === undefined)
        this.#notePersistentVolume(object, this.#row(this.#things.keyOfPersistentVolume(object)))
    }
    for (const attachment of api?.volumeAttachments ?? []) {
      if (attachment.spec.nodeName !== nodeName) this.#noteElsewhere(attachment)
      else {
        const row = this.#row(this.#things.keyOfAttachment(attachment))
        row.attachment ??= attachment
        this.byAttachment.set(attachment.metadata.name, row)
      }
    }
    // Also those that nothing else has.
    for (const name of volumesInStatus(api?.node)) {
      const csi = parseCsiUniqueName(name)
      this.#row({ ...named(name), ...(csi !== undefined && { identity: { ...csi, from: "the node's status" } }) })
    }
  }

  #row({ key, uniqueName, identity, unidentified }: Keyed): GrowingRow {
    const row = this.byKey.get(key) ?? new GrowingRow(key, uniqueName)
    this.byKey.set(key, row)
    row.identity ??= identity
    row.unidentified ??= unidentified
    return row
  }

  #wantedRow({ uniqueName, driver, handle, persistentVolume }: VolumeToMount): GrowingRow {
    const from = persistentVolume === undefined ? 'the pod' : `PersistentVolume ${persistentVolume.metadata.name}`
    const isCsi = driver !== undefined && handle !== undefined
    const row = this.#row({ ...named(uniqueName), ...(isCsi && { identity: { driver, handle, from } }) })
    if (persistentVolume !== undefined) this.#notePersistentVolume(persistentVolume, row)
    return row
  }

  #notePersistentVolume(object: PersistentVolume, row: GrowingRow): void {
    row.persistentVolume ??= object
    this.byPersistentVolume.set(object.metadata.name, row)
  }

  /** Another node's attachment of a volume that pods here want or have is asked about for that volume's sake (S30). */
  #noteElsewhere({ metadata, spec: { attacher, nodeName, source } }: VolumeAttachment): void {
    const row = this.byPersistentVolume.get(source.persistentVolumeName ?? '')
    if (row?.identity === undefined) return
    const { wanted, onDisk, staged, maps } = row
    if (wanted.length + onDisk.length + staged.length + maps.length === 0) return
    // Only the hash in its name says which volume it is of (R007).
    if (attachmentName(row.identity.handle, attacher, nodeName) === metadata.name)
      this.byAttachment.set(metadata.name, row)
  }
}

/** A PersistentVolume that was deleted is still named by its attachment. */
function noteAttachedObjects(rows: readonly GrowingRow[], byPersistentVolume: Map<string, GrowingRow>): void {
  for (const row of rows) {
    const name = row.attachment?.spec.source.persistentVolumeName
    if (name !== undefined && name !== '' && !byPersistentVolume.has(name)) byPersistentVolume.set(name, row)
  }
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

/** Volume to nodes: what is attached, may be, or is in use, by VolumeAttachments and the status of Nodes (R714-R719). */

import { Grouped } from '../../base/append.ts'
import { compareText } from '../../base/compare-text.ts'
import { once } from '../../base/memoize.ts'
import { attachmentName, csiUniqueName, parseCsiUniqueName } from '../../facts/actual/volume-names.ts'
import type { RowKey } from '../../plan/subject.ts'
import type { ClusterObjects } from './cluster-objects.ts'
import type { ClusterAttachment, ClusterState } from './cluster-state.ts'
import type { DesiredAttachments } from './desired-attachments.ts'
import { type KnownVolume, volumeKey } from './volumes.ts'

/** A VolumeAttachment, and what is known of its volume. */
export interface Attached {
  readonly object: ClusterAttachment
  /** Absent: nothing shows which volume it is of. */
  readonly uniqueName?: string
  /** Absent: no PersistentVolume and no pod has it. */
  readonly volume?: KnownVolume
  /** `none`: it is of a volume in the spec of a pod (R718). */
  readonly persistentVolume: 'found' | 'absent' | 'unknown' | 'none'
  /** C33: its name follows from its volume, driver and node. Absent: the handle is not known. */
  readonly isNamedRight?: boolean
  /** Why nobody can say for certain which volume it is of. */
  readonly unclear?: string
}

export class ActualAttachments {
  /** Sorted by name. */
  readonly all: readonly Attached[]
  readonly #byNode = new Grouped<string, Attached>()
  readonly #byVolume = new Grouped<string, Attached>()
  readonly #byRow = new Grouped<RowKey, Attached>()
  /** Of an unknown volume, by driver. */
  readonly #unidentified = new Grouped<string, Attached>()
  /** Nodes that list a volume in volumesAttached, or in volumesInUse without only waiting for it. */
  readonly #reporting = new Grouped<string, string>()
  readonly #nodesWith = new Map<string, readonly string[]>()
  readonly #inUse: ReadonlyMap<string, ReadonlySet<string>>
  readonly #confirmed: ReadonlyMap<string, ReadonlySet<string>>
  readonly #desired: DesiredAttachments

  constructor(
    { nodes, attachments }: ClusterState,
    objects: ClusterObjects,
    known: ReadonlyMap<string, KnownVolume>,
    desired: DesiredAttachments,
  ) {
    this.all = attachments
      .map(identities(objects, known, desired))
      .toSorted((a, b) => compareText(a.object.name, b.object.name))
    this.#desired = desired
    this.#inUse = new Map(nodes.map(({ name, volumesInUse }) => [name, new Set(volumesInUse)]))
    this.#confirmed = new Map(nodes.map(({ name, volumesAttached }) => [name, new Set(volumesAttached)]))
    for (const { name } of nodes) {
      const confirmed = this.confirmedOn(name)
      for (const volume of confirmed.union(this.inUseOn(name)))
        if (confirmed.has(volume) || this.isUsing(name, volume)) this.#reporting.add(volume, name)
    }
    for (const each of this.all) {
      const { node, attacher } = each.object
      this.#byNode.add(node, each)
      if (each.uniqueName === undefined) this.#unidentified.add(attacher, each)
      else {
        this.#byRow.add(volumeKey(node, each.uniqueName), each)
        this.#byVolume.add(each.uniqueName, each)
      }
    }
  }

  onNode(node: string): readonly Attached[] {
    return this.#byNode.of(node)
  }

  ofVolume(uniqueName: string): readonly Attached[] {
    return this.#byVolume.of(uniqueName)
  }

  on(node: string, uniqueName: string): readonly Attached[] {
    return this.#byRow.of(volumeKey(node, uniqueName))
  }

  /** Attachments by this driver of volumes that nobody knows. */
  unidentifiedOf(driver: string): readonly Attached[] {
    return this.#unidentified.of(driver)
  }

  /** R714: volumesAttached of the Node lists it. */
  isConfirmed(node: string, uniqueName: string): boolean {
    return this.confirmedOn(node).has(uniqueName)
  }

  /** R716: volumesInUse of the Node lists it. */
  isInUse(node: string, uniqueName: string): boolean {
    return this.inUseOn(node).has(uniqueName)
  }

  inUseOn(node: string): ReadonlySet<string> {
    return this.#inUse.get(node) ?? NOTHING
  }

  confirmedOn(node: string): ReadonlySet<string> {
    return this.#confirmed.get(node) ?? NOTHING
  }

  /** Nodes whose volumesInUse lists the volume, and that do not only wait for it. */
  nodesUsing(uniqueName: string): readonly string[] {
    return this.#reporting.of(uniqueName).filter((node) => this.isUsing(node, uniqueName))
  }

  /**
   * One of `nodesUsing`. R330: a kubelet lists a volume in volumesInUse as soon as a pod of its node wants the volume, before it is
   * attached. Until such a pod has started, the list shows nothing more than the wish.
   */
  isUsing(node: string, uniqueName: string): boolean {
    if (!this.isInUse(node, uniqueName)) return false
    const want = this.#desired.on(node, uniqueName)
    if (want === undefined || this.#desired.endedOn(node, uniqueName).length > 0) return true
    return [...want.pods, ...want.others.map(({ pod }) => pod)].some(({ started }) => started)
  }

  /** Every node that has the volume or may: attached in whatever state, confirmed, or in use by more than a pod that waits. Sorted. */
  nodesWith(uniqueName: string): readonly string[] {
    return once(this.#nodesWith, uniqueName, () => {
      const attached = this.ofVolume(uniqueName).map(({ object }) => object.node)
      return [...new Set([...attached, ...this.#reporting.of(uniqueName)])].toSorted(compareText)
    })
  }
}

const NOTHING: ReadonlySet<string> = new Set()

/** Which volume an attachment is of: by its PersistentVolume, its source, or the hash in its name. */
function identities(
  objects: ClusterObjects,
  known: ReadonlyMap<string, KnownVolume>,
  desired: DesiredAttachments,
): (object: ClusterAttachment) => Attached {
  /** Of each node the CSI volumes that its status or its pods name, by the name of their attachment; made when first asked. */
  const names = new Map<string, ReadonlyMap<string, string>>()

  function nameOf({ name, node }: ClusterAttachment): string | undefined {
    return once(names, node, () => namesOn(node)).get(name)
  }

  function namesOn(node: string): ReadonlyMap<string, string> {
    const found = objects.node(node)
    const { volumesAttached = [], volumesInUse = [] } = found.state === 'Found' ? found.object : {}
    const wanted = desired.onNode(node).map(({ volume }) => volume.uniqueName)
    return new Map(
      [...volumesAttached, ...volumesInUse, ...wanted].flatMap((uniqueName) => {
        const csi = parseCsiUniqueName(uniqueName)
        return csi === undefined ? [] : [[attachmentName(csi.handle, csi.driver, node), uniqueName] as const]
      }),
    )
  }

  function identified(object: ClusterAttachment, uniqueName: string, isNamedRight: boolean) {
    const volume = known.get(uniqueName) ?? desired.on(object.node, uniqueName)?.volume
    return { object, uniqueName, isNamedRight, ...(volume && { volume }) }
  }

  /** Only the hash in its name identifies the volume: compared with everything that the node or its pods name (R007). */
  function byName(object: ClusterAttachment) {
    const uniqueName = nameOf(object)
    return uniqueName === undefined ? { object } : identified(object, uniqueName, true)
  }

  function ofVolume(object: ClusterAttachment, name: string): Attached {
    const found = objects.volume(name)
    if (found.state !== 'Found')
      return { ...byName(object), persistentVolume: found.state === 'Absent' ? 'absent' : 'unknown' }
    const { uniqueName = '', driver, handle, problem = 'it is no volume of a CSI driver' } = found.object
    const base = { object, persistentVolume: 'found' } as const
    if (!known.has(uniqueName) || handle === undefined)
      return { ...base, unclear: `PersistentVolume ${name}: ${problem}` }
    const isNamedRight = object.name === attachmentName(handle, object.attacher, object.node)
    const identity = { ...base, ...identified(object, uniqueName, isNamedRight) }
    if (object.attacher !== driver) {
      const unclear = `its attacher is ${object.attacher}, and the driver of its PersistentVolume is ${driver}`
      return { ...identity, unclear }
    }
    // The PersistentVolume may have been created again, with another handle (S17).
    const other = isNamedRight ? undefined : nameOf(object)
    return other === undefined
      ? identity
      : { ...identity, unclear: `its name is that of volume ${other}, and its PersistentVolume is another` }
  }

  function ofInline(object: ClusterAttachment): Attached {
    const { attacher, node, inline } = object
    const { handle, driver = attacher } = inline ?? {}
    if (handle === undefined || handle === '') return { ...byName(object), persistentVolume: 'none' }
    const isNamedRight = object.name === attachmentName(handle, attacher, node)
    return {
      ...identified(object, csiUniqueName(driver, handle), isNamedRight),
      persistentVolume: 'none',
      ...(driver !== attacher && { unclear: `its attacher is ${attacher}, and the driver of its source is ${driver}` }),
    }
  }

  return (object) => {
    const { persistentVolume, inline } = object
    const found = persistentVolume === undefined ? ofInline(object) : ofVolume(object, persistentVolume)
    const hasBoth = persistentVolume !== undefined && inline !== undefined
    return hasBoth ? { ...found, unclear: 'it names a PersistentVolume and has an inline source, too' } : found
  }
}

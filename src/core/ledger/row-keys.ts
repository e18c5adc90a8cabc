/**
 * Which row each thing is of, as the planner names volumes (R815): by what pods want, by identity, by device. What nothing identifies
 * stands alone. A key follows from the thing itself and from what pods want, so that one can be made without all the others.
 */
import type { BlockVolume } from '../actual/block-volume.ts'
import type { PodVolume, SubPaths } from '../actual/pod-volume.ts'
import type { StagedVolume } from '../actual/staged-volumes.ts'
import type { UnresolvedVolume, VolumeToMount } from '../desired/desired-state.ts'
import { csiSourceOf } from '../desired/in-tree-volumes.ts'
import { type GlobalMount, globalMounts, globalUniqueName } from '../devices/global-mounts.ts'
import type { PersistentVolume, VolumeAttachment } from '../model/objects.ts'
import {
  CSI_PLUGIN,
  csiUniqueName,
  escapeQualifiedName,
  uniquePodVolumeName,
  uniqueVolumeName,
} from '../names/volume-names.ts'
import type { RowKey } from '../plan/subject.ts'
import { desiredStateOfPods } from '../populator/populate.ts'
import { statusVolumesAt } from '../populator/status-volumes.ts'
import type { CsiIdentity, Identified } from './identified.ts'
import { podDirOf } from './row.ts'
import type { LedgerSources } from './sources.ts'

/** A row's key. */
export interface Keyed {
  readonly key: RowKey
  /** Absent: nothing names this volume alone. */
  readonly uniqueName?: string
  /** Found on the way. */
  readonly identity?: CsiIdentity
  /** Why driver and handle are not known, though there is a CSI volume. */
  readonly unidentified?: string
}

export function named(uniqueName: string): Keyed {
  return { key: uniqueName, uniqueName }
}

export class RowKeys {
  readonly #sources: LedgerSources
  readonly #known = new Map<object, Keyed>()
  readonly #identified = new Map<object, Identified>()
  #ended: readonly VolumeToMount[] | undefined
  #globals: readonly GlobalMount[] | undefined
  #byDirectory: ReadonlyMap<string, VolumeToMount> | undefined
  #bySpecName: ReadonlyMap<string, VolumeToMount> | undefined
  #onDevice: ReadonlyMap<string, string> | undefined
  #wantedByObject: ReadonlyMap<string, Keyed> | undefined
  #askedByObject: ReadonlyMap<string, Keyed> | undefined
  #mountedByObject: ReadonlyMap<string, Keyed> | undefined

  constructor(sources: LedgerSources) {
    this.#sources = sources
  }

  /** Volumes of pods that have ended. */
  get ended(): readonly VolumeToMount[] {
    const { inputs, endedPods } = this.#sources
    const { api } = inputs.snapshot
    this.#ended ??= api === undefined ? [] : desiredStateOfPods(endedPods, api).volumes
    return this.#ended
  }

  get globals(): readonly GlobalMount[] {
    this.#globals ??= globalMounts(this.#sources.inputs)
    return this.#globals
  }

  ofUnresolved(unresolved: UnresolvedVolume): Keyed {
    const { mayBe, podUid, podVolumeName } = unresolved
    return mayBe.of === 'itself'
      ? named(mayBe.volume.uniqueName)
      : { key: uniquePodVolumeName('unresolved', podUid, podVolumeName) }
  }

  ofGlobal({ plugin, path }: GlobalMount): Keyed {
    return named(globalUniqueName(plugin, path))
  }

  ofStaged(staged: StagedVolume): Keyed {
    return this.#once(staged, () => identifiedOr(this.identifiedStaged(staged), this.#absolute(staged.dir)))
  }

  ofPodVolume(volume: PodVolume): Keyed {
    return this.#once(volume, () => {
      const wanted = this.#wantedAt(volume.dir)
      return wanted === undefined ? this.#ofFound(volume) : named(wanted.uniqueName)
    })
  }

  /** Of sub-paths that belong to no directory of a volume. */
  ofLeaked(podUid: string, { volumeName, dir }: SubPaths): Keyed {
    this.#bySpecName ??= firstOfEach([...this.#sources.desired.volumes, ...this.ended], specKey, (each) => each)
    const wanted = this.#bySpecName.get(`${podUid} ${volumeName}`)
    return wanted === undefined
      ? this.#ofPersistentVolumeName(volumeName, this.#absolute(dir))
      : named(wanted.uniqueName)
  }

  ofBlock(block: BlockVolume): Keyed {
    return this.#once(block, () => {
      const { plugin, dir, mappings } = block
      for (const { symlink } of mappings) {
        const linked = symlink === undefined ? undefined : this.#wantedAt(symlink)
        if (linked !== undefined) return named(linked.uniqueName)
      }
      return plugin === CSI_PLUGIN
        ? identifiedOr(this.identifiedBlock(block), this.#absolute(dir))
        : named(globalUniqueName(plugin, dir))
    })
  }

  ofPersistentVolume(volume: PersistentVolume): Keyed {
    const { name } = volume.metadata
    const wanted = this.#wantedPersistentVolumes().get(name)
    if (wanted !== undefined) return wanted
    const csi = csiSourceOf(volume)
    if (csi === undefined)
      return this.#askedFor().get(name) ?? this.#mountedFor().get(name) ?? { key: `persistentvolumes/${name}` }
    const identity = { driver: csi.driver, handle: csi.volumeHandle, from: `PersistentVolume ${name}` }
    return { ...named(csiUniqueName(csi.driver, csi.volumeHandle)), identity }
  }

  /** Of this node's. */
  ofAttachment(attachment: VolumeAttachment): Keyed {
    return this.#once(attachment, () => {
      const identity = this.#sources.identify.attachment(attachment)
      if (identity !== undefined) return { ...named(csiUniqueName(identity.driver, identity.handle)), identity }
      const { persistentVolumeName = '' } = attachment.spec.source
      return this.#ofObject(persistentVolumeName) ?? { key: `volumeattachments/${attachment.metadata.name}` }
    })
  }

  identifiedPodVolume(volume: PodVolume): Identified {
    return this.#identify(volume, () => this.#sources.identify.podVolume(volume))
  }

  identifiedStaged(staged: StagedVolume): Identified {
    return this.#identify(staged, () => this.#sources.identify.staged(staged))
  }

  identifiedBlock(block: BlockVolume): Identified {
    return this.#identify(block, () => this.#sources.identify.block(block))
  }

  #ofFound(volume: PodVolume): Keyed {
    const { plugin, podUid, name, dir, layers, stateFile, subPaths } = volume
    const own = uniquePodVolumeName(plugin, podUid, name)
    if (plugin === CSI_PLUGIN) {
      const data = stateFile?.data
      // Only sub-paths are left (O17): as of one whose directory is missing.
      if (stateFile === undefined && layers.length === 0 && subPaths?.leaves.some((leaf) => leaf.layers.length > 0))
        return this.#ofPersistentVolumeName(name, this.#absolute(dir))
      if (data?.volumeLifecycleMode !== 'Ephemeral') return identifiedOr(this.identifiedPodVolume(volume), own)
      const identity = { driver: data.driverName, handle: data.volumeHandle, from: 'vol_data.json' }
      return { ...named(uniquePodVolumeName(plugin, podUid, data.specVolID ?? name)), identity }
    }
    if (plugin === 'kubernetes.io/local-volume') return named(uniqueVolumeName(plugin, name))
    return named(this.#nameOnDevice(plugin, layers.at(-1)?.dev) ?? own)
  }

  #ofPersistentVolumeName(name: string, otherwise: RowKey): Keyed {
    const csi = this.#sources.objects.csiSourceOf(name)
    return csi === undefined ? { key: otherwise } : named(csiUniqueName(csi.driver, csi.volumeHandle))
  }

  /** A PersistentVolume by its name, whether or not the API has it. */
  #ofObject(name: string): Keyed | undefined {
    const object = this.#sources.objects.persistentVolume(name)
    if (object !== undefined) return this.ofPersistentVolume(object)
    return this.#wantedPersistentVolumes().get(name) ?? this.#askedFor().get(name)
  }

  #wantedAt(directory: string): VolumeToMount | undefined {
    this.#byDirectory ??= new Map(
      [...this.#sources.desired.volumes, ...this.ended].map((each) => [podDirOf(each), each]),
    )
    return this.#byDirectory.get(directory)
  }

  /** The first volume that is mounted for the whole node on a device stays the one of it. */
  #nameOnDevice(plugin: string, dev: string | undefined): string | undefined {
    this.#onDevice ??= firstOfEach(
      this.globals.flatMap((global) => global.layers.map((layer) => ({ global, dev: layer.dev }))),
      ({ global, dev: on }) => `${global.plugin} ${on}`,
      ({ global }) => globalUniqueName(global.plugin, global.path),
    )
    return this.#onDevice.get(`${plugin} ${dev}`)
  }

  #wantedPersistentVolumes(): ReadonlyMap<string, Keyed> {
    this.#wantedByObject ??= new Map(
      [...this.#sources.desired.volumes, ...this.ended].flatMap(({ persistentVolume, uniqueName }) =>
        persistentVolume === undefined ? [] : [[persistentVolume.metadata.name, named(uniqueName)]],
      ),
    )
    return this.#wantedByObject
  }

  /** PersistentVolumes that a pod's claim names although it cannot be used. */
  #askedFor(): ReadonlyMap<string, Keyed> {
    this.#askedByObject ??= firstOfEach(
      this.#sources.desired.unresolved.filter(({ persistentVolumeName }) => persistentVolumeName !== undefined),
      ({ persistentVolumeName = '' }) => persistentVolumeName,
      (each) => this.ofUnresolved(each),
    )
    return this.#askedByObject
  }

  /** PersistentVolumes of plugins other than CSI that a global mount is of, by its directory's name, if it is of one alone. */
  #mountedFor(): ReadonlyMap<string, Keyed> {
    const { api } = this.#sources.inputs.snapshot
    this.#mountedByObject ??= new Map(
      this.globals.flatMap((global) => {
        const [one, other] = api === undefined ? [] : statusVolumesAt(api, global.plugin, global.name)
        return one === undefined || other !== undefined
          ? []
          : [[one.persistentVolume.metadata.name, this.ofGlobal(global)]]
      }),
    )
    return this.#mountedByObject
  }

  #once(thing: object, work: () => Keyed): Keyed {
    const known = this.#known.get(thing)
    if (known !== undefined) return known
    const made = work()
    this.#known.set(thing, made)
    return made
  }

  #identify(thing: object, work: () => Identified): Identified {
    const known = this.#identified.get(thing)
    if (known !== undefined) return known
    const made = work()
    this.#identified.set(thing, made)
    return made
  }

  #absolute(path: string): string {
    return this.#sources.inputs.absolute(path)
  }
}

/** A CSI volume by its identity; alone where that is not known. */
function identifiedOr(identified: Identified, otherwise: RowKey): Keyed {
  if (!('identity' in identified)) return { key: otherwise, unidentified: identified.unconfirmed }
  const { identity } = identified
  return { ...named(csiUniqueName(identity.driver, identity.handle)), identity }
}

function specKey({ podUid, specName }: VolumeToMount): string {
  return `${podUid} ${escapeQualifiedName(specName)}`
}

/** The first of each key, as `valueFor` gives it. */
function firstOfEach<T, V>(list: readonly T[], keyOf: (each: T) => string, valueFor: (each: T) => V): Map<string, V> {
  const found = new Map<string, V>()
  for (const each of list) if (!found.has(keyOf(each))) found.set(keyOf(each), valueFor(each))
  return found
}

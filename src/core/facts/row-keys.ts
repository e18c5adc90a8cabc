/**
 * What there is on a node, and which row each thing is of, as the planner names volumes (R815): by what pods want, by identity, by
 * device; what nothing identifies stands alone. A thing is the same object whoever asks, and is found once for each pod that is asked
 * about. Its key follows from itself and from what pods want, so that one can be made without all the others.
 */

import { lazy, once } from '../base/memoize.ts'
import type { PersistentVolume, VolumeAttachment } from '../kube/api/objects.ts'
import type { RowKey } from '../plan/subject.ts'
import type { UnresolvedVolume, VolumeToMount } from '../volumes/desired-state.ts'
import { csiSourceOf } from '../volumes/in-tree-volumes.ts'
import { desiredStateOfPods, statusVolumesAt } from '../volumes/populate.ts'
import type { BlockVolume } from './actual/block-volume.ts'
import { type PodVolume, podSubPaths, podVolumes, type SubPaths } from './actual/pod-volumes.ts'
import type { StagedVolume } from './actual/staged-volumes.ts'
import {
  CSI_PLUGIN,
  csiUniqueName,
  escapeQualifiedName,
  uniquePodVolumeName,
  uniqueVolumeName,
} from './actual/volume-names.ts'
import { type GlobalMount, globalMounts, globalUniqueName } from './global-mounts.ts'
import { podDirOf } from './row.ts'
import type { CsiIdentity, Identified, LedgerSources } from './sources.ts'

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

export class NodeThings {
  readonly sources: LedgerSources
  readonly #volumes = new Map<string, readonly PodVolume[]>()
  readonly #leaked = new Map<string, readonly SubPaths[]>()
  readonly #known = new Map<object, Keyed>()
  /** Volumes of pods that have ended. */
  readonly ended = lazy((): readonly VolumeToMount[] => {
    const { inputs, endedPods } = this.sources
    const { api } = inputs.snapshot
    return api === undefined ? [] : desiredStateOfPods(endedPods, api).volumes
  })
  readonly #globals = lazy(() => globalMounts(this.sources.inputs))
  /** What pods want, and what pods that have ended wanted. */
  readonly #asked = lazy((): readonly VolumeToMount[] => [...this.sources.desired.volumes, ...this.ended()])
  readonly #byDirectory = lazy(() => new Map(this.#asked().map((each) => [podDirOf(each), each])))
  readonly #bySpecName = lazy(() => firstOfEach(this.#asked(), specKey, (each) => each))
  /** The first volume that is mounted for the whole node on a device stays the one of it. */
  readonly #onDevice = lazy(() =>
    firstOfEach(
      this.globals.flatMap((global) => global.layers.map((layer) => ({ global, dev: layer.dev }))),
      ({ global, dev: on }) => `${global.plugin} ${on}`,
      ({ global }) => globalUniqueName(global.plugin, global.path),
    ),
  )
  readonly #wantedByObject = lazy(
    () =>
      new Map(
        this.#asked().flatMap(({ persistentVolume, uniqueName }): [string, Keyed][] =>
          persistentVolume === undefined ? [] : [[persistentVolume.metadata.name, named(uniqueName)]],
        ),
      ),
  )
  /** PersistentVolumes that a pod's claim names although it cannot be used. */
  readonly #askedByObject = lazy(() =>
    firstOfEach(
      this.sources.desired.unresolved.filter(({ persistentVolumeName }) => persistentVolumeName !== undefined),
      ({ persistentVolumeName = '' }) => persistentVolumeName,
      (each) => this.keyOfUnresolved(each),
    ),
  )
  /** PersistentVolumes of plugins other than CSI that a global mount is of, by its directory's name, if it is of one alone. */
  readonly #mountedByObject = lazy(() => {
    const { api } = this.sources.inputs.snapshot
    return new Map(
      this.globals.flatMap((global): [string, Keyed][] => {
        const [one, other] = api === undefined ? [] : statusVolumesAt(api, global.plugin, global.name)
        return one === undefined || other !== undefined
          ? []
          : [[one.persistentVolume.metadata.name, this.keyOfGlobal(global)]]
      }),
    )
  })

  constructor(sources: LedgerSources) {
    this.sources = sources
  }

  podVolumes(uid: string): readonly PodVolume[] {
    return once(this.#volumes, uid, () => podVolumes(this.sources.inputs, uid))
  }

  /** Mounted sub-paths whose volume has no directory any more: the kubelet never finds them (O17, O18, P142). */
  leakedSubPaths(uid: string): readonly SubPaths[] {
    return once(this.#leaked, uid, () => {
      const owned = new Set(this.podVolumes(uid).map(({ name }) => name))
      return [...podSubPaths(this.sources.inputs, uid).values()].filter(
        ({ volumeName, leaves, foreign }) =>
          !owned.has(volumeName) && (foreign.length > 0 || leaves.some(({ layers }) => layers.length > 0)),
      )
    })
  }

  /** Sorted by path. */
  get globals(): readonly GlobalMount[] {
    return this.#globals()
  }

  keyOfUnresolved(unresolved: UnresolvedVolume): Keyed {
    const { mayBe, podUid, podVolumeName } = unresolved
    return mayBe.of === 'itself'
      ? named(mayBe.volume.uniqueName)
      : { key: uniquePodVolumeName('unresolved', podUid, podVolumeName) }
  }

  keyOfGlobal({ plugin, path }: GlobalMount): Keyed {
    return named(globalUniqueName(plugin, path))
  }

  keyOfStaged(staged: StagedVolume): Keyed {
    return once(this.#known, staged, () =>
      identifiedOr(this.sources.identify.staged(staged), this.#absolute(staged.dir)),
    )
  }

  keyOfPodVolume(volume: PodVolume): Keyed {
    return once(this.#known, volume, () => {
      const wanted = this.#wantedAt(volume.dir)
      return wanted === undefined ? this.#ofFound(volume) : named(wanted.uniqueName)
    })
  }

  /** Of sub-paths that belong to no directory of a volume. */
  keyOfLeaked(podUid: string, { volumeName, dir }: SubPaths): Keyed {
    const wanted = this.#bySpecName().get(`${podUid} ${volumeName}`)
    return wanted === undefined ? this.#ofPersistentVolumeName(volumeName, dir) : named(wanted.uniqueName)
  }

  keyOfBlock(block: BlockVolume): Keyed {
    return once(this.#known, block, () => {
      const { plugin, dir, mappings } = block
      for (const { symlink } of mappings) {
        const linked = symlink === undefined ? undefined : this.#wantedAt(symlink)
        if (linked !== undefined) return named(linked.uniqueName)
      }
      return plugin === CSI_PLUGIN
        ? identifiedOr(this.sources.identify.block(block), this.#absolute(dir))
        : named(globalUniqueName(plugin, dir))
    })
  }

  keyOfPersistentVolume(volume: PersistentVolume): Keyed {
    const { name } = volume.metadata
    const wanted = this.#wantedByObject().get(name)
    if (wanted !== undefined) return wanted
    const csi = csiSourceOf(volume)
    if (csi === undefined)
      return (
        this.#askedByObject().get(name) ?? this.#mountedByObject().get(name) ?? { key: `persistentvolumes/${name}` }
      )
    const identity = { driver: csi.driver, handle: csi.volumeHandle, from: `PersistentVolume ${name}` }
    return { ...named(csiUniqueName(csi.driver, csi.volumeHandle)), identity }
  }

  /** Of this node's. */
  keyOfAttachment(attachment: VolumeAttachment): Keyed {
    return once(this.#known, attachment, () => {
      const identity = this.sources.identify.attachment(attachment)
      if (identity !== undefined) return { ...named(csiUniqueName(identity.driver, identity.handle)), identity }
      const { persistentVolumeName = '' } = attachment.spec.source
      return this.#ofObject(persistentVolumeName) ?? { key: `volumeattachments/${attachment.metadata.name}` }
    })
  }

  #ofFound(volume: PodVolume): Keyed {
    const { plugin, podUid, name, dir, layers, stateFile, subPaths } = volume
    const own = uniquePodVolumeName(plugin, podUid, name)
    if (plugin === CSI_PLUGIN) {
      const data = stateFile?.data
      // Only sub-paths are left (O17): as of one whose directory is missing.
      if (stateFile === undefined && layers.length === 0 && subPaths?.leaves.some((leaf) => leaf.layers.length > 0))
        return this.#ofPersistentVolumeName(name, dir)
      if (data?.volumeLifecycleMode !== 'Ephemeral') return identifiedOr(this.sources.identify.podVolume(volume), own)
      const identity = { driver: data.driverName, handle: data.volumeHandle, from: 'vol_data.json' }
      return { ...named(uniquePodVolumeName(plugin, podUid, data.specVolID ?? name)), identity }
    }
    if (plugin === 'kubernetes.io/local-volume') return named(uniqueVolumeName(plugin, name))
    return named(this.#onDevice().get(`${plugin} ${layers.at(-1)?.dev}`) ?? own)
  }

  #ofPersistentVolumeName(name: string, dir: string): Keyed {
    const csi = this.sources.objects.csiSourceOf(name)
    return csi === undefined ? { key: this.#absolute(dir) } : named(csiUniqueName(csi.driver, csi.volumeHandle))
  }

  /** A PersistentVolume by its name, whether or not the API has it. */
  #ofObject(name: string): Keyed | undefined {
    const object = this.sources.objects.persistentVolume(name)
    if (object !== undefined) return this.keyOfPersistentVolume(object)
    return this.#wantedByObject().get(name) ?? this.#askedByObject().get(name)
  }

  #wantedAt(directory: string): VolumeToMount | undefined {
    return this.#byDirectory().get(directory)
  }

  #absolute(path: string): string {
    return this.sources.inputs.absolute(path)
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

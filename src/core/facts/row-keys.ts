/**
 * What there is on a node, and which row each thing is of, as the planner names volumes (R815): by what pods want, by identity, by
 * device; what nothing identifies stands alone. A thing is the same object whoever asks, and is found once for each pod that is asked
 * about. Its key follows from itself and from what pods want, so that one can be made without all the others.
 */

import { lazy, once } from '../base/memoize.ts'
import type { VolumeAttachment } from '../kube/api/objects.ts'
import type { RowKey } from '../plan/subject.ts'
import type { UnresolvedVolume, VolumeToMount } from '../volumes/desired-state.ts'
import { desiredStateOfPods } from '../volumes/populate.ts'
import type { BlockVolume } from './actual/block-volume.ts'
import { type PodVolume, podSubPaths, podVolumes, type SubPaths } from './actual/pod-volumes.ts'
import type { StagedVolume } from './actual/staged-volumes.ts'
import { CSI_PLUGIN, escapeQualifiedName, uniquePodVolumeName, uniqueVolumeName } from './actual/volume-names.ts'
import { type GlobalMount, globalMounts, globalUniqueName } from './global-mounts.ts'
import { podDirOf } from './row.ts'
import {
  type CsiIdentity,
  type Identified,
  identityOfObject,
  identityOnRecord,
  type LedgerSources,
  uniqueNameOf,
} from './sources.ts'

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

/** A CSI volume. */
export function identified(identity: CsiIdentity): Keyed {
  return { ...named(uniqueNameOf(identity)), identity }
}

export type NodeThings = ReturnType<typeof nodeThings>

export function nodeThings(sources: LedgerSources) {
  const { inputs, objects, desired, identify, endedPods } = sources
  const { api } = inputs.snapshot
  /** Volumes of pods that have ended. */
  const ended = lazy((): readonly VolumeToMount[] =>
    api === undefined ? [] : desiredStateOfPods(endedPods, api).volumes,
  )
  /** Sorted by path. */
  const globals = lazy(() => globalMounts(inputs))
  /** What pods want, and what pods that have ended wanted. */
  const asked = lazy((): readonly VolumeToMount[] => [...desired.volumes, ...ended()])
  const byDirectory = lazy(() => new Map(asked().map((each) => [podDirOf(each), each])))
  const bySpecName = lazy(() => firstOfEach(asked(), specKey, (each) => each))
  /** The first volume that is mounted for the whole node on a device stays the one of it. */
  const onDevice = lazy(() =>
    firstOfEach(
      globals().flatMap((global) => global.layers.map((layer) => ({ global, dev: layer.dev }))),
      ({ global, dev: on }) => `${global.plugin} ${on}`,
      ({ global }) => globalUniqueName(global.plugin, global.path),
    ),
  )
  const ofPods = new Map<string, { volumes: readonly PodVolume[]; leaked: readonly SubPaths[] }>()
  const ofPod = (uid: string) =>
    once(ofPods, uid, () => {
      const volumes = podVolumes(inputs, uid)
      const owned = new Set(volumes.map(({ name }) => name))
      const leaked = [...podSubPaths(inputs, uid).values()].filter(
        ({ volumeName, leaves, foreign }) =>
          !owned.has(volumeName) && (foreign.length > 0 || leaves.some(({ layers }) => layers.length > 0)),
      )
      return { volumes, leaked }
    })

  function ofFound(volume: PodVolume): Keyed {
    const { plugin, podUid, name, dir, layers, stateFile, subPaths } = volume
    const own = uniquePodVolumeName(plugin, podUid, name)
    if (plugin === CSI_PLUGIN) {
      const data = stateFile?.data
      // Only sub-paths are left (O17): as of one whose directory is missing.
      if (stateFile === undefined && layers.length === 0 && subPaths?.leaves.some((leaf) => leaf.layers.length > 0))
        return ofPersistentVolumeName(name, dir)
      const identity = identityOnRecord(stateFile)
      if (identity === undefined || data?.volumeLifecycleMode !== 'Ephemeral')
        return identifiedOr(identify.podVolume(volume), own)
      return { ...named(uniquePodVolumeName(plugin, podUid, data.specVolID ?? name)), identity }
    }
    if (plugin === 'kubernetes.io/local-volume') return named(uniqueVolumeName(plugin, name))
    return named(onDevice().get(`${plugin} ${layers.at(-1)?.dev}`) ?? own)
  }

  function ofPersistentVolumeName(name: string, dir: string): Keyed {
    const identity = identityOfObject(objects.persistentVolume(name))
    return identity === undefined ? { key: inputs.absolute(dir) } : named(uniqueNameOf(identity))
  }

  const keyOf = {
    unresolved: ({ mayBe, podUid, podVolumeName }: UnresolvedVolume): Keyed =>
      mayBe.of === 'itself'
        ? named(mayBe.volume.uniqueName)
        : { key: uniquePodVolumeName('unresolved', podUid, podVolumeName) },
    global: ({ plugin, path }: GlobalMount): Keyed => named(globalUniqueName(plugin, path)),
    staged: (staged: StagedVolume): Keyed => identifiedOr(identify.staged(staged), inputs.absolute(staged.dir)),
    podVolume: (volume: PodVolume): Keyed => {
      const wanted = byDirectory().get(volume.dir)
      return wanted === undefined ? ofFound(volume) : named(wanted.uniqueName)
    },
    /** Of sub-paths that belong to no directory of a volume. */
    leaked: ({ podUid, volumeName, dir }: SubPaths): Keyed => {
      const wanted = bySpecName().get(`${podUid} ${volumeName}`)
      return wanted === undefined ? ofPersistentVolumeName(volumeName, dir) : named(wanted.uniqueName)
    },
    block: (block: BlockVolume): Keyed => {
      const { plugin, dir, mappings } = block
      for (const { symlink = '' } of mappings) {
        const linked = byDirectory().get(symlink)
        if (linked !== undefined) return named(linked.uniqueName)
      }
      return plugin === CSI_PLUGIN
        ? identifiedOr(identify.block(block), inputs.absolute(dir))
        : named(globalUniqueName(plugin, dir))
    },
    /** Of this node's; undefined: driver and handle are not known. */
    attachment: (attachment: VolumeAttachment): Keyed | undefined => {
      const identity = identify.attachment(attachment)
      return identity && identified(identity)
    },
  }
  return {
    ...{ sources, ended, globals, keyOf },
    podVolumes: (uid: string) => ofPod(uid).volumes,
    /** Mounted sub-paths whose volume has no directory any more: the kubelet never finds them (O17, O18, P142). */
    leakedSubPaths: (uid: string) => ofPod(uid).leaked,
  }
}

/** A CSI volume by its identity; alone where that is not known. */
function identifiedOr(found: Identified, otherwise: RowKey): Keyed {
  return 'identity' in found ? identified(found.identity) : { key: otherwise, unidentified: found.unconfirmed }
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

/**
 * Every volume of a node, made once between desired and actual state and the pass: a row each. Findings are made with its keys, and
 * whoever shows a finding asks here whose it is. A thing is the same object whoever asks. Nothing is made before it is asked for.
 */

import { append, lazy, once } from '../base/collections.ts'
import type { VolumeAttachment } from '../kube/api/objects.ts'
import type { MountInfo } from '../linux/mount-table.ts'
import { isWithin } from '../linux/paths.ts'
import type { DesiredState, UnresolvedVolume, VolumeSpec, VolumeToMount } from '../volumes/desired-state.ts'
import type { PodUid, RowKey, Subject } from '../volumes/finding.ts'
import type { BlockVolume } from '../volumes/on-disk/block-volume.ts'
import { type PodParts, type PodVolume, podParts, type SubPaths } from '../volumes/on-disk/pod-volumes.ts'
import type { StagedVolume } from '../volumes/on-disk/staged-volumes.ts'
import { globalPathOf } from '../volumes/registry.ts'
import { csiGlobalDir } from '../volumes/volume-names.ts'
import { type GlobalMount, globalMounts } from './global-mounts.ts'
import { makeRows, rowsByClaim } from './make-rows.ts'
import {
  type CsiIdentity,
  identitiesInStatus,
  identityOfObject,
  type LedgerSources,
  type Part,
  partsByPath,
  type VolumeRow,
} from './row.ts'

export type Ledger = ReturnType<typeof ledgerOf>

export function ledgerOf(sources: LedgerSources) {
  const { inputs, desired } = sources
  const globals = lazy(() => globalMounts(inputs))
  const ofEachPod = new Map<PodUid, PodParts>()
  const onDisk = (uid: PodUid): PodParts => once(ofEachPod, uid, () => podParts(inputs, uid))
  const rows = lazy(() => makeRows(sources, globals(), onDisk))
  const parts = lazy(() => partsByPath(inputs, rows().all))
  const claims = lazy(() => rowsByClaim(rows().all))
  /** Of a path outside the root directory one at which nothing is. */
  const absolute = (path: string): string => inputs.absolute(inputs.relative(path))
  const ofPods = lazy(() => {
    const found = new Map<PodUid, VolumeRow[]>()
    for (const row of rows().all) for (const uid of row.podUids) append(found, uid, row)
    return found
  })
  const staged = lazy(() => byStagingDirectory(sources))

  /** Of the nearest directory above the path that is a volume's own. @param path absolute, or relative to the root directory */
  function partsAt(path: string): readonly Part[] {
    return parts().at(absolute(path))[0] ?? parts().above(absolute(path), inputs.rootDir)[0] ?? []
  }

  /** Of all that lies at or below the path. */
  function partsBelow(path: string): readonly Part[] {
    return parts().within(absolute(path)).flat()
  }

  return {
    // The subject of a finding about a thing.

    /** Of what is here, or cannot be used as a pod asks: the very one. @param pod of a raw block volume: one pod's part of it */
    of: (
      thing: UnresolvedVolume | PodVolume | SubPaths | StagedVolume | GlobalMount | BlockVolume,
      pod = 'podUid' in thing ? thing.podUid : undefined,
    ): Subject => ({ row: rows().keys.get(thing) ?? '', pod }),
    wanted: ({ uniqueName, podUid }: VolumeToMount): Subject => ({
      row: uniqueName,
      pod: podUid,
    }),
    /** Of this node's. */
    attachment: ({ metadata: { name } }: VolumeAttachment): Subject => ({
      row: rows().byAttachment.get(name)?.key ?? '',
    }),
    /** A path's volume, else its pod, else the path itself. @param path absolute, or relative to the root directory */
    path: (path: string): Subject => {
      const [part] = partsAt(path)
      if (part !== undefined) return part
      const relative = inputs.relative(path)
      const [top, uid, below] = relative.split('/', 3)
      if (top === 'pods' && uid !== undefined && below === undefined) return { pod: uid }
      return relative === '.' ? { path: inputs.rootDir } : { path: path.startsWith('/') ? path : inputs.absolute(path) }
    },

    sources,
    /** What pods want of a plugin or a staging directory. */
    wants: wantedIn(desired),
    podVolumes: (uid: PodUid): readonly PodVolume[] => onDisk(uid).volumes,
    leakedSubPaths: (uid: PodUid): readonly SubPaths[] => onDisk(uid).leaked,
    /** Sorted by path. */
    get globals() {
      return globals()
    },
    /** The pod in whose directory a path is. @param path absolute, or relative to the root directory */
    podAt: (path: string): PodUid | undefined => {
      const [top, uid] = inputs.relative(path).split('/', 2)
      return top === 'pods' ? uid : undefined
    },
    get all(): readonly VolumeRow[] {
      return rows().all
    },
    row: (key: RowKey): VolumeRow | undefined => rows().byKey.get(key),
    ofPod: (uid: PodUid): readonly VolumeRow[] => ofPods().get(uid) ?? [],
    /** The volume behind a PersistentVolume, on this node or not; undefined: neither the API nor this node has it. */
    ofPersistentVolume: (name: string): VolumeRow | undefined => rows().byPersistentVolume.get(name),
    /** @param claim NAMESPACE/NAME */
    ofClaim: (claim: string): VolumeRow | undefined => claims().get(claim),
    ofAttachment: (name: string): VolumeRow | undefined => rows().byAttachment.get(name),
    ofDriver: (name: string): readonly VolumeRow[] => rows().all.filter(({ identity }) => identity?.driver === name),
    /** Also of what is not identified, and is staged in the driver's directory, or attached by the driver. */
    concerningDriver: (name: string): readonly VolumeRow[] =>
      rows().all.filter(
        ({ identity, staged, attachment }) =>
          (identity?.driver ?? staged[0]?.driverDir ?? attachment?.spec.attacher) === name,
      ),
    /** The volume whose driver and handle give a staging directory its name. */
    stagedIn: (directory: string): CsiIdentity | undefined => staged().get(directory),
    /**
     * What is mounted from a device, is a link to it, or has the file behind it.
     *
     * @param names of device files; none is empty
     */
    onDevice: (
      mounts: readonly MountInfo[],
      names: ReadonlySet<string>,
      files: readonly string[],
    ): readonly VolumeRow[] => {
      const ids = new Set(mounts.map(({ id }) => id))
      const isLink = (path = ''): boolean => names.has(inputs.tree.get(path)?.target ?? '')
      return rows().all.filter(
        (row) =>
          row.mounts.some(({ id }) => ids.has(id)) ||
          row.maps.some(({ mappings }) => mappings.some(({ symlink }) => isLink(symlink))) ||
          files.some((file) => row.directories.some((directory) => isWithin(file, inputs.absolute(directory)))),
      )
    },
    partsAt,
    partsBelow,
    /** Volumes that pods want staged at or below a path, whether or not anything is there. */
    wantedBelow: (path: string): readonly Part[] => {
      const directory = inputs.relative(path)
      const isBelow = (at: string): boolean => directory === '.' || isWithin(at, directory)
      return desired.volumes.flatMap((volume) => {
        const at = globalPathOf(volume)
        return at !== undefined && isBelow(at) ? [{ row: volume.uniqueName, pod: volume.podUid }] : []
      })
    },
    /** By a path below the root directory: the volume that it lies in, or those that lie below it. */
    at: (path: string): readonly VolumeRow[] => {
      const above = partsAt(path)
      const keys = new Set((above.length > 0 ? above : partsBelow(path)).map(({ row }) => row))
      return keys.size === 0 ? [] : rows().all.filter(({ key }) => keys.has(key))
    },
  }
}

/** Handles from state files, PersistentVolumes and the node's status, by the staging directory of each (C10, C95): every handle is hashed once. */
function byStagingDirectory({ inputs, onDisk }: LedgerSources): ReadonlyMap<string, CsiIdentity> {
  const { api } = inputs.snapshot
  const ofObjects = (api?.persistentVolumes ?? []).flatMap((volume) => identityOfObject(volume) ?? [])
  const all = [...onDisk.all.map(({ volume }) => volume), ...ofObjects, ...identitiesInStatus(api?.node)]
  // The first of each counts.
  return new Map(all.toReversed().map((identity) => [csiGlobalDir(identity.driver, identity.handle), identity]))
}

/** What pods want, by what it is looked up by: each index is made with the first question. */
function wantedIn({ volumes, unresolved }: DesiredState) {
  const byPlugin = lazy(() => {
    const unusable = unresolved.flatMap(({ podUid, volume }) => (volume === undefined ? [] : { ...volume, podUid }))
    return Map.groupBy<string, VolumeSpec & { readonly podUid: PodUid }>(
      [...volumes, ...unusable],
      ({ plugin }) => plugin,
    )
  })
  const staged = lazy(
    () => new Set(volumes.map(({ driver, handle }) => driver && handle && csiGlobalDir(driver, handle))),
  )
  return {
    /** Of one plugin, including volumes that cannot be used as their pods ask (S4). */
    ofPlugin: (plugin: string) => byPlugin().get(plugin) ?? [],
    /** Is this the staging directory of a wanted CSI volume; relative to the root directory. */
    stagesIn: (directory: string): boolean => staged().has(directory),
  }
}

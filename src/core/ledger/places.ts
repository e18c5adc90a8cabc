/** Which volume's a path is, by the nearest one above it that is a volume's own. */
import type { ActualInputs } from '../actual/actual-inputs.ts'
import type { BlockVolume } from '../actual/block-volume.ts'
import { parentOf } from '../actual/tree.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
import { append } from '../lang/append.ts'
import type { PodUid, RowKey } from '../plan/subject.ts'
import { pluginNamed } from '../plugins/registry.ts'
import type { NodeThings } from './node-things.ts'
import { pathsOfBlock, pathsOnDisk, podDirOf } from './row.ts'
import type { RowKeys } from './row-keys.ts'
import type { LedgerSources } from './sources.ts'

/** A volume, or one pod's part of it. */
export interface Part {
  readonly row: RowKey
  readonly pod?: PodUid
}

/** A pod's link to the device of a raw block volume. */
interface Link {
  readonly block: BlockVolume
  readonly podUid: PodUid
  readonly symlink: string
}

type Index = ReadonlyMap<string, readonly Part[]>

/** Made part by part: of a pod when a path in its directory is asked about, of plugins/ with the first path there. */
export class Places {
  readonly #sources: LedgerSources
  readonly #things: NodeThings
  readonly #keys: RowKeys
  readonly #ofPod = new Map<string, Index>()
  #ofPlugins: Index | undefined
  #wanted: ReadonlyMap<string, readonly VolumeToMount[]> | undefined
  #links: ReadonlyMap<string, readonly Link[]> | undefined

  constructor(sources: LedgerSources, things: NodeThings, keys: RowKeys) {
    this.#sources = sources
    this.#things = things
    this.#keys = keys
  }

  /** @param path absolute, or relative to the root directory */
  at(path: string): readonly Part[] {
    const relative = this.#inputs.relative(path)
    const index = this.#indexFor(relative)
    for (let each = relative; each !== '.' && each !== ''; each = parentOf(each)) {
      const found = index?.get(each)
      if (found !== undefined) return found
    }
    return []
  }

  /** The paths of volumes at or below this one, with whose they are. @param path absolute */
  below(path: string): Part[] {
    const relative = this.#inputs.relative(path)
    const uids = this.#sources.podUids.filter((uid) => meets(`pods/${uid}`, relative))
    const indexes = [
      ...uids.map((uid) => this.#podIndex(uid)),
      ...(meets('plugins', relative) ? [this.#pluginIndex] : []),
    ]
    return indexes.flatMap((index) => [...index].flatMap(([each, parts]) => (liesIn(each, relative) ? parts : [])))
  }

  /** Volumes that pods want staged at or below a path, whether or not anything is there. @param path absolute */
  wantedBelow(path: string): Part[] {
    const relative = this.#inputs.relative(path)
    return this.#sources.desired.volumes.flatMap((volume) => {
      const staged = pluginNamed(volume.plugin).globalPath(volume)
      return staged !== undefined && liesIn(staged, relative) ? [{ row: volume.uniqueName, pod: volume.podUid }] : []
    })
  }

  get #inputs(): ActualInputs {
    return this.#sources.inputs
  }

  #indexFor(relative: string): Index | undefined {
    const [top, uid] = relative.split('/', 2)
    if (top !== 'pods') return this.#pluginIndex
    return uid === undefined ? undefined : this.#podIndex(uid)
  }

  #podIndex(uid: string): Index {
    const known = this.#ofPod.get(uid)
    if (known !== undefined) return known
    const index = new Map<string, Part[]>()
    this.#wanted ??= Map.groupBy([...this.#sources.desired.volumes, ...this.#keys.ended], ({ podUid }) => podUid)
    for (const volume of this.#wanted.get(uid) ?? [])
      note(index, [podDirOf(volume)], { row: volume.uniqueName, pod: uid })
    for (const volume of this.#things.podVolumes(uid))
      note(index, pathsOnDisk(volume), { row: this.#keys.ofPodVolume(volume).key, pod: uid })
    for (const subPaths of this.#things.leakedSubPaths(uid))
      note(index, [subPaths.dir], { row: this.#keys.ofLeaked(uid, subPaths).key, pod: uid })
    for (const { block, symlink } of this.#linksOf(uid))
      note(index, [symlink], { row: this.#keys.ofBlock(block).key, pod: uid })
    this.#ofPod.set(uid, index)
    return index
  }

  #linksOf(uid: string): readonly Link[] {
    this.#links ??= Map.groupBy(
      this.#sources.blocks.flatMap((block) =>
        block.mappings.flatMap(({ podUid, symlink }) => (symlink === undefined ? [] : { block, podUid, symlink })),
      ),
      ({ podUid }) => podUid,
    )
    return this.#links.get(uid) ?? []
  }

  get #pluginIndex(): Index {
    if (this.#ofPlugins !== undefined) return this.#ofPlugins
    const index = new Map<string, Part[]>()
    for (const staged of this.#sources.staged) note(index, [staged.dir], { row: this.#keys.ofStaged(staged).key })
    for (const global of this.#keys.globals) note(index, [global.path], { row: this.#keys.ofGlobal(global).key })
    for (const block of this.#sources.blocks) {
      const { key: row } = this.#keys.ofBlock(block)
      note(index, pathsOfBlock(block), { row })
      for (const { podUid: pod, mapFile, publishPath } of block.mappings)
        note(
          index,
          [mapFile, publishPath].filter((path) => path !== undefined),
          { row, pod },
        )
    }
    this.#ofPlugins = index
    return index
  }
}

function note(index: Map<string, Part[]>, paths: readonly string[], part: Part): void {
  for (const path of new Set(paths)) {
    const isKnown = index.get(path)?.some(({ row, pod }) => row === part.row && pod === part.pod)
    if (isKnown !== true) append(index, path, part)
  }
}

/** Of paths that are plain already: each is compared with each. */
export function liesIn(path: string, directory: string): boolean {
  if (directory === '.') return true
  return path.startsWith(directory) && (path.length === directory.length || path[directory.length] === '/')
}

export function meets(a: string, b: string): boolean {
  return liesIn(a, b) || liesIn(b, a)
}

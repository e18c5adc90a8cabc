/** Which volume's a path is, by the nearest one above it that is a volume's own. */

import { append } from '../base/append.ts'
import { lazy, once } from '../base/memoize.ts'
import type { PodUid, RowKey } from '../plan/subject.ts'
import { pluginNamed } from '../volumes/registry.ts'
import type { ActualInputs } from './actual/actual-inputs.ts'
import { parentOf } from './actual/tree.ts'
import { pathsOfBlock, pathsOnDisk, podDirOf } from './row.ts'
import type { NodeThings } from './row-keys.ts'

/** A volume, or one pod's part of it. */
export interface Part {
  readonly row: RowKey
  readonly pod?: PodUid
}

type Index = ReadonlyMap<string, readonly Part[]>

/** Made part by part: of a pod when a path in its directory is asked about, of plugins/ with the first path there. */
export class Places {
  readonly #things: NodeThings
  readonly #ofPod = new Map<string, Index>()
  readonly #pluginIndex = lazy(() => this.#indexOfPlugins())
  readonly #wanted = lazy(() =>
    Map.groupBy([...this.#things.sources.desired.volumes, ...this.#things.ended()], ({ podUid }) => podUid),
  )
  readonly #links = lazy(() =>
    Map.groupBy(
      this.#things.sources.blocks.flatMap((block) =>
        block.mappings.flatMap(({ podUid, symlink }) => (symlink === undefined ? [] : { block, podUid, symlink })),
      ),
      ({ podUid }) => podUid,
    ),
  )

  constructor(things: NodeThings) {
    this.#things = things
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
    const uids = this.#things.sources.podUids.filter((uid) => meets(`pods/${uid}`, relative))
    const indexes = [
      ...uids.map((uid) => this.#podIndex(uid)),
      ...(meets('plugins', relative) ? [this.#pluginIndex()] : []),
    ]
    return indexes.flatMap((index) => [...index].flatMap(([each, parts]) => (liesIn(each, relative) ? parts : [])))
  }

  /** Volumes that pods want staged at or below a path, whether or not anything is there. @param path absolute */
  wantedBelow(path: string): Part[] {
    const relative = this.#inputs.relative(path)
    return this.#things.sources.desired.volumes.flatMap((volume) => {
      const staged = pluginNamed(volume.plugin).globalPath(volume)
      return staged !== undefined && liesIn(staged, relative) ? [{ row: volume.uniqueName, pod: volume.podUid }] : []
    })
  }

  get #inputs(): ActualInputs {
    return this.#things.sources.inputs
  }

  #indexFor(relative: string): Index | undefined {
    const [top, uid] = relative.split('/', 2)
    if (top !== 'pods') return this.#pluginIndex()
    return uid === undefined ? undefined : this.#podIndex(uid)
  }

  #podIndex(uid: string): Index {
    return once(this.#ofPod, uid, () => this.#indexOfPod(uid))
  }

  #indexOfPod(uid: string): Index {
    const index = new Map<string, Part[]>()
    for (const volume of this.#wanted().get(uid) ?? [])
      note(index, [podDirOf(volume)], { row: volume.uniqueName, pod: uid })
    for (const volume of this.#things.podVolumes(uid))
      note(index, pathsOnDisk(volume), { row: this.#things.keyOfPodVolume(volume).key, pod: uid })
    for (const subPaths of this.#things.leakedSubPaths(uid))
      note(index, [subPaths.dir], { row: this.#things.keyOfLeaked(uid, subPaths).key, pod: uid })
    for (const { block, symlink } of this.#links().get(uid) ?? [])
      note(index, [symlink], { row: this.#things.keyOfBlock(block).key, pod: uid })
    return index
  }

  #indexOfPlugins(): Index {
    const index = new Map<string, Part[]>()
    for (const staged of this.#things.sources.staged)
      note(index, [staged.dir], { row: this.#things.keyOfStaged(staged).key })
    for (const global of this.#things.globals) note(index, [global.path], { row: this.#things.keyOfGlobal(global).key })
    for (const block of this.#things.sources.blocks) {
      const { key: row } = this.#things.keyOfBlock(block)
      note(index, pathsOfBlock(block), { row })
      for (const { podUid: pod, mapFile, publishPath } of block.mappings)
        note(
          index,
          [mapFile, publishPath].filter((path) => path !== undefined),
          { row, pod },
        )
    }
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
function liesIn(path: string, directory: string): boolean {
  if (directory === '.') return true
  return path.startsWith(directory) && (path.length === directory.length || path[directory.length] === '/')
}

export function meets(a: string, b: string): boolean {
  return liesIn(a, b) || liesIn(b, a)
}

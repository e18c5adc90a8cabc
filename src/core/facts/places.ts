/** Which volume's a path is, by the nearest one above it that is a volume's own. */

import { append } from '../base/append.ts'
import { lazy } from '../base/memoize.ts'
import type { PodUid, RowKey } from '../plan/subject.ts'
import { pluginNamed } from '../volumes/registry.ts'
import { parentOf } from './actual/tree.ts'
import { pathsOfBlock, pathsOnDisk, podDirOf } from './row.ts'
import type { Keyed, NodeThings } from './row-keys.ts'

/** A volume, or one pod's part of it. */
export interface Part {
  readonly row: RowKey
  readonly pod?: PodUid
}

export class Places {
  readonly #things: NodeThings
  readonly #index = lazy(() => indexOf(this.#things))

  constructor(things: NodeThings) {
    this.#things = things
  }

  /** @param path absolute, or relative to the root directory */
  at(path: string): readonly Part[] {
    const index = this.#index()
    for (let each = this.#relative(path); each !== '.' && each !== ''; each = parentOf(each)) {
      const found = index.get(each)
      if (found !== undefined) return found
    }
    return []
  }

  /** The paths of volumes at or below this one, with whose they are. @param path absolute */
  below(path: string): Part[] {
    const directory = this.#relative(path)
    return [...this.#index()].flatMap(([each, parts]) => (liesIn(each, directory) ? parts : []))
  }

  /** Volumes that pods want staged at or below a path, whether or not anything is there. @param path absolute */
  wantedBelow(path: string): Part[] {
    const directory = this.#relative(path)
    return this.#things.sources.desired.volumes.flatMap((volume) => {
      const staged = pluginNamed(volume.plugin).globalPath(volume)
      return staged !== undefined && liesIn(staged, directory) ? [{ row: volume.uniqueName, pod: volume.podUid }] : []
    })
  }

  #relative(path: string): string {
    return this.#things.sources.inputs.relative(path)
  }
}

function indexOf(things: NodeThings): ReadonlyMap<string, readonly Part[]> {
  const { desired, staged, blocks, podUids } = things.sources
  const index = new Map<string, Part[]>()
  const note = (paths: readonly (string | undefined)[], { key: row }: Pick<Keyed, 'key'>, pod?: PodUid): void => {
    for (const path of new Set(paths)) {
      if (path === undefined || index.get(path)?.some((each) => each.row === row && each.pod === pod)) continue
      append(index, path, pod === undefined ? { row } : { row, pod })
    }
  }
  for (const volume of [...desired.volumes, ...things.ended()])
    note([podDirOf(volume)], { key: volume.uniqueName }, volume.podUid)
  for (const uid of podUids) {
    for (const volume of things.podVolumes(uid)) note(pathsOnDisk(volume), things.keyOfPodVolume(volume), uid)
    for (const subPaths of things.leakedSubPaths(uid)) note([subPaths.dir], things.keyOfLeaked(uid, subPaths), uid)
  }
  for (const each of staged) note([each.dir], things.keyOfStaged(each))
  for (const global of things.globals) note([global.path], things.keyOfGlobal(global))
  for (const block of blocks) {
    const keyed = things.keyOfBlock(block)
    note(pathsOfBlock(block), keyed)
    for (const { podUid, symlink, mapFile, publishPath } of block.mappings)
      note([symlink, mapFile, publishPath], keyed, podUid)
  }
  return index
}

/** Of paths that are plain already: each is compared with each. */
function liesIn(path: string, directory: string): boolean {
  if (directory === '.') return true
  return path.startsWith(directory) && (path.length === directory.length || path[directory.length] === '/')
}

export function meets(a: string, b: string): boolean {
  return liesIn(a, b) || liesIn(b, a)
}

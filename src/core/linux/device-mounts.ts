import { once } from '../base/memoize.ts'
import { PathIndex } from '../base/path-index.ts'
import { undeletedRoot } from './deleted.ts'
import type { MountInfo, MountTable } from './mount-table.ts'
import { goesWith, propagationKey } from './propagation.ts'

/** Mounts of a file system, indexed by the directory that they show: thousands of volumes may share a file system. */
export class DeviceMounts {
  readonly #table: MountTable
  readonly #indexes = new Map<string, Index>()

  constructor(table: MountTable) {
    this.#table = table
  }

  /** Every mount that shows the same directory or a part of it, the mount itself included (R031, P132). */
  showing(mount: MountInfo): readonly MountInfo[] {
    const root = undeletedRoot(mount.root)
    const { all, byRoot } = this.#index(mount.dev)
    return root === '/' ? all : byRoot.within(root).toSorted((a, b) => a.index - b.index)
  }

  /** Every other mount whose unmount would unmount this one as well. */
  leadersOf(mount: MountInfo): readonly MountInfo[] {
    const key = propagationKey(this.#table, mount)
    const alike = key === undefined ? [] : (this.#index(mount.dev).byKey.get(key) ?? [])
    return alike.filter((each) => each.id !== mount.id && goesWith(this.#table, each, mount))
  }

  #index(dev: string): Index {
    return once(this.#indexes, dev, () => {
      const all = this.#table.ofDevice(dev)
      const byRoot = new PathIndex(all.map((each) => [undeletedRoot(each.root), each]))
      // A mount that is the only one has no leader.
      const byKey = all.length < 2 ? NONE : Map.groupBy(all, (each) => propagationKey(this.#table, each) ?? '')
      return { all, byRoot, byKey }
    })
  }
}

const NONE: Index['byKey'] = new Map()

interface Index {
  readonly all: readonly MountInfo[]
  readonly byRoot: PathIndex<MountInfo>
  readonly byKey: ReadonlyMap<string, readonly MountInfo[]>
}

/** The node's disk and mount table, indexed for reconstruction; and by what other names the root directory is reached (S8). */
import { append, lazy } from '../../base/collections.ts'
import { PathIndex } from '../../base/path-index.ts'
import { locate } from '../../linux/location.ts'
import { type MountInfo, type MountTable, ownPathOf, type PlaceLink } from '../../linux/mount-table.ts'
import { isWithin, plainPath, undeletedPath } from '../../linux/paths.ts'
import type { CsiSocket } from '../../rpc/endpoints.ts'
import type { NodeSnapshot, NodeState } from '../snapshot.ts'
import { DRIVER_DIRECTORIES, STRUCTURE, Tree } from './tree.ts'

/** The kernel shows a loop device's backing file without links, too. */
function withOwnPaths(snapshot: NodeSnapshot, mounts: MountTable): NodeSnapshot {
  const { blockDevices } = snapshot
  if (blockDevices === undefined || mounts.links.length === 0) return snapshot
  const own = blockDevices.map(({ backingFile, ...device }) =>
    backingFile === undefined ? device : { ...device, backingFile: ownPathOf(mounts, backingFile) },
  )
  return { ...snapshot, blockDevices: own }
}

/** Built once per plan. */
export class ActualInputs {
  readonly snapshot: NodeSnapshot
  readonly mounts: MountTable
  readonly tree: Tree
  readonly rootDir: string
  readonly #below: string
  readonly #dead: ReadonlyMap<string, string>

  constructor(state: NodeState) {
    // Mounts and steps are compared by the text of their paths.
    this.rootDir = plainPath(state.snapshot.rootDir)
    this.tree = new Tree(state.snapshot.tree ?? [])
    this.mounts = state.mounts.withLinks(this.#links())
    this.snapshot = withOwnPaths(state.snapshot, this.mounts)
    this.#below = `${this.rootDir}/`
    this.#dead = new Map((state.snapshot.deadMounts ?? []).map(({ path, error }) => [path, error]))
  }

  /** Links in the kubelet's structure that are followed: the snapshot records where they lead (S8). */
  #links(): PlaceLink[] {
    const directories = [
      ...STRUCTURE.flatMap((path) => this.tree.get(path) ?? []),
      ...this.tree.children(DRIVER_DIRECTORIES),
    ]
    return directories.flatMap(({ path, realPath }) => {
      if (realPath === undefined || !realPath.startsWith('/') || isWithin(this.rootDir, realPath)) return []
      return [{ path: this.absolute(path), place: plainPath(realPath) }]
    })
  }

  /** UIDs of pods at or below whose directory anything is mounted. */
  readonly podsWithMounts = lazy((): readonly string[] => [...this.mounts.below(this.absolute('pods')).keys()])

  /** Mounts below plugins/, in table order. */
  readonly pluginMounts = lazy((): readonly MountInfo[] =>
    this.mountsWithin('plugins').filter((mount) => this.pathOf(mount) !== 'plugins'),
  )

  /** Mounts at or below a directory in a pod's directory or in plugins/, in table order. */
  mountsWithin(relative: string): readonly MountInfo[] {
    const directory = this.absolute(relative)
    const [top, uid] = relative.split('/', 2)
    if (top !== 'pods' || uid === undefined)
      return this.#ofPlugins()
        .within(directory)
        .sort((a, b) => a.index - b.index)
    // A pod has few, and all pods many.
    const ofPod = this.mounts.below(this.absolute(top)).get(uid)
    return ofPod?.filter(({ mountPoint }) => isWithin(this.plain(mountPoint), directory)) ?? []
  }

  /** What is mounted at or below each path so many levels below a directory, oldest first. */
  mountedAt(directory: string, depth: number): ReadonlyMap<string, MountInfo[]> {
    const levels = directory.split('/').length + depth
    const found = new Map<string, MountInfo[]>()
    for (const mount of this.mountsWithin(directory)) {
      const parts = this.pathOf(mount).split('/')
      if (parts.length >= levels) append(found, parts.slice(0, levels).join('/'), mount)
    }
    return found
  }

  readonly #ofPlugins = lazy(
    () =>
      new PathIndex(this.mounts.under(this.absolute('plugins')).map((mount) => [this.plain(mount.mountPoint), mount])),
  )

  /**
   * Of the mounts at or below a directory those on one path, oldest first, and the others; both relative to the root directory.
   *
   * @param mounts all of them, where they are known
   */
  stackedOn(
    target: string,
    directory: string,
    mounts: readonly MountInfo[] = this.mountsWithin(directory),
  ): { readonly layers: MountInfo[]; readonly foreign: MountInfo[] } {
    const on = this.absolute(target)
    const isOn = ({ mountPoint }: MountInfo): boolean => this.plain(mountPoint) === on
    return { layers: mounts.filter(isOn), foreign: mounts.filter((mount) => !isOn(mount)) }
  }

  absolute(relative: string): string {
    return relative === '.' ? this.rootDir : `${this.rootDir}/${relative}`
  }

  /** @param absolute as in mountinfo, or made by `absolute` */
  relative(absolute: string): string {
    if (absolute.startsWith(this.#below)) return absolute.slice(this.#below.length) || '.'
    return isWithin(absolute, this.rootDir) ? absolute.slice(this.rootDir.length + 1) || '.' : absolute
  }

  /** Of a mount, relative to the root directory. */
  pathOf({ mountPoint }: MountInfo): string {
    return this.relative(this.plain(mountPoint))
  }

  /** A mount point without the kernel's " (deleted)" (P115). */
  plain(mountPoint: string): string {
    return undeletedPath(mountPoint)
  }

  /** Mounts stacked on a path relative to the root directory, in table order, hidden ones included. */
  at(relative: string): readonly MountInfo[] {
    return this.mounts.at(this.absolute(relative))
  }

  /** The mount that a pod sees on a path relative to the root directory; undefined if the path is no mount point. */
  top(relative: string): MountInfo | undefined {
    return this.mounts.top(this.absolute(relative))
  }

  /** The socket of a registered CSI driver, if it answered when the snapshot was taken (R045, C26). */
  driver(name = ''): CsiSocket | undefined {
    return this.snapshot.csiSockets?.find(({ driver, registered }) => driver === name && registered)
  }

  /** Does the CSI driver stage volumes? True if its capabilities are not known: skipping an unstage would leak (R806). */
  stages(driver: string | undefined): boolean {
    return this.driver(driver)?.capabilities?.includes('STAGE_UNSTAGE_VOLUME') ?? true
  }

  /** The error of a probe, if the mount on this path is known to be dead. */
  deadError(relative: string): string | undefined {
    if (this.#dead.size === 0) return undefined
    return this.#dead.get(this.absolute(relative)) ?? this.#dead.get(relative)
  }
}

// The root directory may be reached by other names: a link that the kubelet was given, a bind mount of it (S8).

const DEFAULT_ROOT_DIR = '/var/lib/kubelet'

/** The path as mount table and tree have it; as it is, where it is not below the root directory by any name. */
export function rootPathOf(inputs: ActualInputs, path: string): string {
  const { rootDir } = inputs
  // The place behind a link in the structure.
  const own = ownPathOf(inputs.mounts, path)
  if (isWithin(own, rootDir)) return own
  const named = kubeletRoot(inputs)
  if (named !== undefined && isWithin(path, named)) return `${rootDir}${path.slice(named.length)}`
  // By device and path within it: another mount of the same directory.
  const at = locate(inputs.mounts, path)
  const root = locate(inputs.mounts, rootDir)
  if (at === undefined || root === undefined || at.dev !== root.dev || !isWithin(at.path, root.path)) return path
  return `${rootDir}${at.path.slice(root.path === '/' ? 0 : root.path.length)}`.replace(/\/$/, '')
}

/** As the kubelet's flags have it: in the snapshot its links are resolved. */
function kubeletRoot({ snapshot }: ActualInputs): string | undefined {
  const args = snapshot.kubelet?.args
  const [, value = DEFAULT_ROOT_DIR] = /^--root-dir[=\n](.*)$/m.exec(args?.join('\n') ?? '') ?? []
  return args && plainPath(value)
}

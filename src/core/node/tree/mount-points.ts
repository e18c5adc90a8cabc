import type { Dirent } from 'node:fs'
import type { FileType } from '../../facts/actual/snapshot.ts'
import { STRUCTURE } from '../../facts/actual/structure.ts'
import { undeletedRoot } from '../../linux/deleted.ts'
import { placeOf } from '../../linux/linked-mounts.ts'
import type { ChildMounts, MountInfo, MountTable } from '../../linux/mount-table.ts'
import { typeOfDirent } from './tree-entry.ts'

/** Directories with volumes on the kubelet's own tmpfs, which cannot hang (contract, "Snapshot"). */
const OWN_TMPFS = /^pods\/[^/]+\/volumes\/kubernetes\.io~(?:secret|projected|downward-api)$/

/** Directories of the kubelet that an administrator may have mounted a disk on. */
const STRUCTURE_PARENTS = new Set(['', 'plugins', 'plugins/kubernetes.io'])
const LOCAL_DISK = /^(ext[234]|xfs|btrfs|zfs|f2fs|tmpfs|overlay)$/

/** The mounts under the root directory, by relative path; only the newest on each path. */
export class MountPoints {
  readonly #table: MountTable
  readonly #root: string
  readonly #blockDevices: () => ReadonlySet<string>

  /** @param blockDevices names of the kernel's block devices, asked for only when a device file is mounted */
  constructor(table: MountTable, rootDir: string, blockDevices: () => ReadonlySet<string>) {
    this.#table = table
    this.#root = rootDir
    this.#blockDevices = blockDevices
  }

  /** The newest mount on this path. */
  at(path: string): MountInfo | undefined {
    const slash = path.lastIndexOf('/')
    return this.childrenOf(slash === -1 ? '' : path.slice(0, slash))?.get(path.slice(slash + 1))
  }

  /** Where a directory of the kubelet was when its links were followed. @param path absolute */
  placeOf(path: string): string {
    return placeOf(this.#table, path)
  }

  /** The visible mounts in a directory; undefined: nothing in it is mounted. */
  childrenOf(directory: string): ChildMounts | undefined {
    return this.#table.childrenOf(directory === '' ? this.#root : `${this.#root}/${directory}`)
  }

  /** Is anything mounted below this directory. */
  isAbove(directory: string): boolean {
    return this.#table.isAbove(`${this.#root}/${directory}`)
  }

  /**
   * Which mounts directly in this directory may be entered: the kubelet's own tmpfs, or a local disk on one of the kubelet's
   * directories. Undefined: none.
   */
  enterable(directory: string, mounts: ChildMounts): ((name: string) => boolean) | undefined {
    if (OWN_TMPFS.test(directory)) return (name) => mounts.get(name)?.fsType === 'tmpfs'
    if (!STRUCTURE_PARENTS.has(directory)) return undefined
    const prefix = directory === '' ? '' : `${directory}/`
    return (name) => STRUCTURE.includes(prefix + name) && LOCAL_DISK.test(mounts.get(name)?.fsType ?? '')
  }

  /**
   * The type of the file that a mount shows, without a stat. readdir shows the file below the mount, so a device file that is
   * bound onto a plain file looks like a plain file; the mount's root in devtmpfs shows which device it is.
   */
  typeOf(mounts: ChildMounts, dirent: Dirent): FileType {
    const type = typeOfDirent(dirent)
    if (type !== 'file') return type
    const mount = mounts.get(dirent.name)
    if (mount?.fsType !== 'devtmpfs') return type
    const device = undeletedRoot(mount.root).replace(/^\//, '')
    if (device === '') return type
    return this.#blockDevices().has(device.replaceAll('/', '!')) || BLOCK_NAME.test(device) ? 'block' : 'char'
  }
}

/** Names of block devices, for devices that are gone from sysfs. */
const BLOCK_NAME = /^(loop\d|sd[a-z]|vd[a-z]|xvd[a-z]|nvme\d+n\d|dm-\d|md\d|nbd\d|rbd\d|mmcblk\d|zd\d|sr\d|drbd\d)/

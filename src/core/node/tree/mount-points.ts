import type { Dirent } from 'node:fs'
import type { FileType } from '../../model/snapshot.ts'
import type { MountInfo, MountTable } from '../../mountinfo/mount-table.ts'
import { typeOfDirent } from './tree-entry.ts'

const DELETED = ' (deleted)'

/** Volumes that the kubelet itself keeps in a tmpfs of its own: they cannot hang (contract, "Snapshot"). */
const OWN_TMPFS = /^pods\/[^/]+\/volumes\/kubernetes\.io~(?:secret|projected|downward-api)\/[^/]+$/

/** Directories of the kubelet that an administrator may have put on a disk of their own. */
const STRUCTURE = new Set(['pods', 'plugins', 'plugins_registry', 'plugins/kubernetes.io', 'plugins/kubernetes.io/csi'])
const LOCAL_DISK = /^(ext[234]|xfs|btrfs|zfs|f2fs|tmpfs|overlay)$/

/** The mounts under the root directory, by path relative to it; the newest on each path. */
export class MountPoints {
  readonly #top = new Map<string, MountInfo>()
  readonly #blockDevices: () => ReadonlySet<string>

  /** @param blockDevices names of the kernel's block devices, asked for only when a device file is mounted */
  constructor(table: MountTable, rootDir: string, blockDevices: () => ReadonlySet<string>) {
    this.#blockDevices = blockDevices
    const skip = rootDir.length + 1
    for (const mount of table.under(rootDir)) {
      const path = mount.mountPoint.slice(skip)
      this.#top.set(path, mount)
      if (path.endsWith(DELETED)) this.#top.set(path.slice(0, -DELETED.length), mount)
    }
  }

  has(path: string): boolean {
    return this.#top.has(path)
  }

  /** May this mount point be entered: it is the kubelet's own tmpfs, or a local disk in the kubelet's structure. */
  mayEnter(path: string): boolean {
    const fsType = this.#top.get(path)?.fsType
    if (fsType === undefined) return true
    return (fsType === 'tmpfs' && OWN_TMPFS.test(path)) || (STRUCTURE.has(path) && LOCAL_DISK.test(fsType))
  }

  /**
   * What is mounted here, without a stat: readdir shows the file beneath it, so that a device file bound onto a plain
   * file looks like one; the mount's root within devtmpfs says which device it is.
   */
  typeOf(path: string, dirent: Dirent): FileType {
    const type = typeOfDirent(dirent)
    const mount = this.#top.get(path)
    if (type !== 'file' || mount?.fsType !== 'devtmpfs') return type
    const device = mount.root.replace(/\/\/deleted$/, '').replace(/^\//, '')
    if (device === '') return type
    return this.#blockDevices().has(device.replaceAll('/', '!')) || BLOCK_NAME.test(device) ? 'block' : 'char'
  }
}

/** For a device that is gone from sysfs, and for snapshots of sysfs-less places. */
const BLOCK_NAME = /^(loop\d|sd[a-z]|vd[a-z]|xvd[a-z]|nvme\d+n\d|dm-\d|md\d|nbd\d|rbd\d|mmcblk\d|zd\d|sr\d|drbd\d)/

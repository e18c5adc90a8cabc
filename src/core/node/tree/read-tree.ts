/**
 * The kubelet's directories as entries of a snapshot (contract, "Snapshot").
 *
 * Nothing on or below a mount point is touched, but for the kubelet's own tmpfs of secret, projected and downward API
 * volumes: a dead NFS or FUSE mount must not hang volctl. Types come from readdir, whose d_type needs no stat. (File
 * systems without d_type, xfs made without ftype, are not supported: container runtimes refuse them as well.)
 *
 * Reading has two parts, because a pod list that counts must know every directory of the first (R804: one that appears
 * after the list must not look like one of a pod that is gone), and because with the list most of the work can be left
 * out: no decision looks at the attributes of a living pod's directories, nor at the content of its emptyDirs.
 * `scanTree` reads names, types and state files; `complete` the attributes and contents of all but living pods, and of
 * those what can be compared with the API.
 */
import { type Dirent, readdirSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { blockDeviceNames } from '../../block/block-devices.ts'
import { VolctlError } from '../../errors/errors.ts'
import { diskTrouble } from '../../files/disk-trouble.ts'
import { compareText } from '../../lang/compare-text.ts'
import type { TreeEntry } from '../../model/snapshot.ts'
import { withLinks, withoutLinks } from '../../mountinfo/linked-mounts.ts'
import type { MountTable } from '../../mountinfo/mount-table.ts'
import { MountPoints } from './mount-points.ts'
import { completeLivingPod, completePod, type LivingPod, type PodScan, scanPodDirectory } from './pod-directory.ts'
import { readPodVolumes } from './read-pod-volumes.ts'
import { type StructureLinks, structureLinks } from './structure-links.ts'
import { type Draft, errorText, lstatEntry } from './tree-entry.ts'
import { TreeWalk } from './tree-walk.ts'
import { walkContent } from './walk-content.ts'

export interface ReadTreeOptions {
  /** Absolute, its links resolved. */
  readonly rootDir: string
  readonly mounts: MountTable
  /** `all` for a snapshot; `plan` leaves out what no decision looks at. */
  readonly attributes: 'all' | 'plan'
  /** The links of the table; else they are looked for. */
  readonly links?: StructureLinks
  /** For tests: names of block devices; else from /sys/class/block. */
  readonly blockDevices?: ReadonlySet<string>
}

export interface TreeScan {
  /** UIDs with a directory, at the moment of the scan. */
  readonly podUids: readonly string[]
  /** By the mount table of the scan; relative to the root directory. */
  isMountPoint(path: string): boolean
  /** @param livingPods by on-disk UID, pods that the API lists and that have not ended; ignored with `all` */
  complete(livingPods: ReadonlyMap<string, LivingPod>): readonly TreeEntry[]
}

const PODS_AT_ONCE = 16

/** Levels below plugins/kubernetes.io* that the kubelet itself makes: csi/volumeDevices/PV/data/vol_data.json. */
const PLUGIN_LEVELS = 5

/**
 * Reads what must be read of every pod. Other work gets its turn now and then: the API's answer comes meanwhile.
 *
 * @throws VolctlError RootDirMissing, RootDirUnreadable
 */
export async function scanTree(options: ReadTreeOptions): Promise<TreeScan> {
  const { rootDir } = options
  const links = options.links ?? structureLinks(rootDir, withoutLinks(options.mounts))
  const mounts = withLinks(options.mounts, links.links)
  let devices = options.blockDevices
  const mountPoints = new MountPoints(mounts, rootDir, () => (devices ??= blockDeviceNames()))
  const walk = new TreeWalk(rootDir, mountPoints, links)
  const root: Draft = { path: '.', type: 'dir' }
  lstatEntry(root, rootDir)
  walk.emit(root)
  const pods: PodScan[] = []
  for (const entry of walk.entriesOf('', readRoot(rootDir))) {
    walk.attributes(entry)
    if (!walk.isDirectory(entry) || !walk.mayEnter(entry)) continue
    if (entry.path === 'pods') pods.push(...(await scanPods(walk, entry)))
    else if (entry.path === 'plugins') readPlugins(walk, entry)
    else if (entry.path === 'plugins_registry') readLevels(walk, entry, 3)
    else if (options.attributes === 'all') readLevels(walk, entry, 1)
  }
  return {
    podUids: pods.map((pod) => pod.uid),
    isMountPoint: (path) => mountPoints.at(path) !== undefined,
    complete: (livingPods) => {
      const whole = options.attributes === 'all'
      for (const pod of pods) {
        const living = whole ? undefined : livingPods.get(pod.uid)
        if (living === undefined) completePod(walk, pod, whole)
        else completeLivingPod(walk, pod, living)
      }
      const entries = walk.entries()
      return whole ? inDirectoryOrder(entries) : entries
    },
  }
}

/** Both parts at once. */
export async function readTree(
  options: ReadTreeOptions,
  livingPods: ReadonlyMap<string, LivingPod> = new Map(),
): Promise<readonly TreeEntry[]> {
  const scan = await scanTree(options)
  return scan.complete(livingPods)
}

function readRoot(rootDir: string): readonly Dirent[] {
  try {
    return readdirSync(rootDir, { withFileTypes: true })
  } catch (error) {
    const code = errorText(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new VolctlError(
        'RootDirMissing',
        `root directory ${rootDir}: ${code === 'ENOENT' ? 'there is no such directory' : 'it is no directory'}`,
        {
          cause: error,
          hint: "Name the kubelet's root directory with --root-dir.",
        },
      )
    }
    throw unreadable(`root directory ${rootDir}`, code, error)
  }
}

function unreadable(what: string, error: string, cause?: unknown): VolctlError {
  return new VolctlError('RootDirUnreadable', `${what} cannot be read: ${error}`, {
    cause,
    hint: diskTrouble(error)?.hint ?? 'Run volctl as root.',
  })
}

/** @throws VolctlError RootDirUnreadable: without their names any pod may be here, and have anything */
async function scanPods(walk: TreeWalk, pods: Draft): Promise<readonly PodScan[]> {
  const found: PodScan[] = []
  const entries = walk.children(pods)
  if (pods.error !== undefined) throw unreadable(`the pods' directory ${walk.absolute(pods.path)}`, pods.error)
  for (const entry of entries) {
    if (entry.type !== 'dir' || !walk.mayEnter(entry)) {
      walk.attributes(entry)
      continue
    }
    const pod = scanPodDirectory(walk, entry)
    readPodVolumes(walk, pod)
    found.push(pod)
    if (found.length % PODS_AT_ONCE === 0) await nextTurn()
  }
  return found
}

/** plugins/kubernetes.io* whole, of other plugins the two levels in which their sockets are. */
function readPlugins(walk: TreeWalk, plugins: Draft): void {
  for (const entry of walk.children(plugins)) {
    walk.attributes(entry)
    if (!walk.isDirectory(entry) || !walk.mayEnter(entry)) continue
    const own = entry.path.startsWith('plugins/kubernetes.io')
    readLevels(walk, entry, own ? PLUGIN_LEVELS : 1, own)
  }
}

/** @param whole list what lies deeper, too, up to a cap */
function readLevels(walk: TreeWalk, directory: Draft, levels: number, whole = false): void {
  for (const entry of walk.children(directory)) {
    if (walk.isStateFile(entry)) walk.stateFile(entry)
    else walk.attributes(entry)
    if (!walk.isDirectory(entry) || !walk.mayEnter(entry)) continue
    if (levels > 1) readLevels(walk, entry, levels - 1, whole)
    else if (whole) walkContent(walk, walk.absolute(entry.path), entry)
  }
}

/** A directory before what is in it, names in byte order, as the captures have it. */
function inDirectoryOrder(entries: readonly TreeEntry[]): readonly TreeEntry[] {
  return entries
    .map((entry) => ({ entry, key: entry.path === '.' ? '' : entry.path.replaceAll('/', '\0') }))
    .sort((a, b) => compareText(a.key, b.key))
    .map(({ entry }) => entry)
}

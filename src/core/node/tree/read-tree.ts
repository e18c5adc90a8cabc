/**
 * Reads the kubelet's directories as entries of a snapshot (contract, "Snapshot").
 *
 * Nothing on or below a mount point is touched, except the kubelet's own tmpfs of secret, projected and downward API volumes:
 * a dead NFS or FUSE mount must not make volctl hang. Types come from readdir, whose d_type needs no stat. (File systems
 * without d_type, such as xfs made without ftype, are not supported: container runtimes refuse them as well.)
 *
 * Reading has two parts. First, the pod list must name every directory that the first part found (R804: a directory that
 * appears after the list must not look orphaned). Second, with the list most of the work can be skipped: no decision needs
 * the attributes of a living pod's directories, or the content of its emptyDirs. `scanTree` reads names, types and state
 * files. `complete` reads attributes and contents of all pods that are not alive, and of living pods the volumes that atomic
 * writers filled, which can be compared with the API.
 */

import { type Dirent, readdirSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { compareText } from '../../base/text.ts'
import type { MountTable } from '../../linux/mount-table.ts'
import { diskTrouble } from '../../messages/disk-trouble.ts'
import { errorWord, MISSING, said, VolctlError } from '../../messages/findings.ts'
import { ListedEntry } from '../../volumes/on-disk/tree.ts'
import type { TreeEntry } from '../../volumes/snapshot.ts'
import { completeLivingPod, completePod, type LivingPod, type PodScan, readLevels, scanPod } from './pod-directory.ts'
import { type StructureLinks, structureLinks } from './structure-links.ts'
import { lstatEntry } from './tree-entry.ts'
import { TreeWalk } from './tree-walk.ts'

interface ReadTreeOptions {
  /** Absolute, its links resolved. */
  readonly rootDir: string
  readonly mounts: MountTable
  /** `all` for a snapshot; `plan` skips what no decision needs. */
  readonly attributes: 'all' | 'plan'
  /** Links in the kubelet's directories; default: they are searched for. */
  readonly links?: StructureLinks
}

const PODS_AT_ONCE = 16

/** Levels below plugins/kubernetes.io* that the kubelet itself makes: csi/volumeDevices/PV/data/vol_data.json. */
const PLUGIN_LEVELS = 5

/**
 * Reads the part that is needed for every pod. Yields now and then, so that the API's answer can be received meanwhile.
 *
 * @throws VolctlError NodeUnreadable
 */
export async function scanTree(options: ReadTreeOptions) {
  const { rootDir } = options
  const walk = new TreeWalk(rootDir, options.mounts, options.links ?? structureLinks(rootDir, options.mounts.raw))
  const root = new ListedEntry('.', '.', 'dir')
  lstatEntry(root, rootDir)
  walk.emit(root)
  const pods: PodScan[] = []
  for (const entry of walk.entriesOf('', readRoot(rootDir))) {
    walk.attributes([entry])
    if (!walk.isOpen(entry)) continue
    if (entry.path === 'pods') {
      pods.push(...(await scanPods(walk, entry)))
      continue
    }
    const { count } = walk
    if (entry.path === 'plugins') readPlugins(walk, entry)
    else if (entry.path === 'plugins_registry') readLevels(walk, entry, Number.POSITIVE_INFINITY, false)
    else if (options.attributes === 'all') readLevels(walk, entry, 1, false)
    walk.attributes(walk.since(count))
  }
  return {
    /** UIDs with a directory, at the moment of the scan. */
    podUids: pods.map(({ directory }) => directory.name),
    /** What was read up to now. */
    listed: () => walk.entries(),
    /** @param livingPods by on-disk UID, pods that the API lists and that have not ended; ignored with `all` */
    complete: (livingPods: ReadonlyMap<string, LivingPod>): readonly TreeEntry[] => {
      const all = options.attributes === 'all'
      for (const pod of pods) {
        const living = all ? undefined : livingPods.get(pod.directory.name)
        if (living === undefined) completePod(walk, pod, all)
        else completeLivingPod(walk, pod, living)
      }
      const entries = walk.entries()
      return all ? inDirectoryOrder(entries) : entries
    },
  }
}

function readRoot(rootDir: string): readonly Dirent[] {
  try {
    return readdirSync(rootDir, { withFileTypes: true })
  } catch (error) {
    throw unreadable(`root directory ${rootDir}`, errorWord(error), error)
  }
}

function unreadable(what: string, error: string, cause?: unknown): VolctlError {
  return new VolctlError(said('NodeUnreadable.directory', { path: what, error }), {
    cause,
    hint: MISSING.includes(error) ? "Name the kubelet's root directory with --root-dir." : diskTrouble(error)?.hint,
  })
}

/** @throws VolctlError NodeUnreadable: without their names it is unknown which pods have volumes here */
async function scanPods(walk: TreeWalk, pods: ListedEntry): Promise<readonly PodScan[]> {
  const found: PodScan[] = []
  const entries = walk.children(pods)
  if (pods.error !== undefined) throw unreadable(`the pods' directory ${walk.absolute(pods.path)}`, pods.error)
  for (const entry of entries) {
    if (!walk.isOpen(entry)) {
      walk.attributes([entry])
      continue
    }
    found.push(scanPod(walk, entry))
    if (found.length % PODS_AT_ONCE === 0) await nextTurn()
  }
  return found
}

/** plugins/kubernetes.io* completely; for other plugins, the two levels that have their sockets. */
function readPlugins(walk: TreeWalk, plugins: ListedEntry): void {
  for (const entry of walk.children(plugins)) {
    if (!walk.isOpen(entry)) continue
    const own = entry.path.startsWith('plugins/kubernetes.io')
    readLevels(walk, entry, own ? PLUGIN_LEVELS : 1, own)
  }
}

/** Each directory before its content, names in byte order. */
function inDirectoryOrder(entries: readonly TreeEntry[]): readonly TreeEntry[] {
  return entries
    .map((entry) => ({ entry, key: entry.path === '.' ? '' : entry.path.replaceAll('/', '\0') }))
    .sort((a, b) => compareText(a.key, b.key))
    .map(({ entry }) => entry)
}

/** The mount table of the kubelet's mount namespace (S6). */

import { lazy } from '../base/collections.ts'
import type { MountInfo, MountTable, PlaceLink } from '../linux/mount-table.ts'
import { tableAt } from '../linux/stable-table.ts'
import { errorMessage, OperationRefused, SafetyRefusal, said, VolctlError } from '../messages/findings.ts'
import { namespaceOf } from '../trust/kernel.ts'
import { openNamespace, type PinnedProcess, pin } from '../trust/processes.ts'
import { withoutLinks } from '../trust/walk.ts'
import { structureLinks } from './tree/structure-links.ts'

/** volctl runs in another mount namespace than the node's kubelet; `reenter` in reenter.ts runs it again in the right one. */
export class WrongNamespace extends SafetyRefusal {
  /** A descriptor of the right namespace, opened while its process was pinned (S32). */
  readonly namespace: number

  constructor(why: string, namespace: number) {
    super('S6', said('WrongNamespace.another', { owner: why }))
    this.namespace = namespace
  }
}

/**
 * Checks that volctl is in the kubelet's mount namespace. If no kubelet runs, PID 1's namespace counts, and every container
 * runtime of root's must show the same mounts under the root directory: in a namespace where some are missing, an rmdir would
 * detach live data elsewhere.
 *
 * @param kubelet the chosen one, if it runs
 * @throws WrongNamespace, or SafetyRefusal WrongNamespace
 */
export function checkMountNamespace(
  kubelet: PinnedProcess | undefined,
  runtimes: readonly PinnedProcess[],
  rootDir: string,
  proc = '/proc',
): void {
  using first = kubelet === undefined ? pin(1, proc) : undefined
  const reference = kubelet ?? first
  const wanted = reference?.link('ns/mnt')
  const own = namespaceOf('self', 'mnt', proc)
  // Not readable without root. standingObstacles reports that, and reading goes on.
  if (reference === undefined || wanted === undefined || own === undefined) return
  if (wanted !== own) {
    const why = kubelet === undefined ? 'PID 1' : `the kubelet (pid ${kubelet.pid})`
    throw new WrongNamespace(why, openNamespace(reference, wanted))
  }
  if (kubelet !== undefined) return
  const ours = lazy(() => {
    const table = readMountTable(`${proc}/self/mountinfo`)
    // Paths of mount points have no links, so links in the root directory's path, or below it, are resolved first (S8). A missing
    // directory is reported later, by its reader.
    const root = withoutLinks(rootDir)
    return { table, root, links: structureLinks(root, table).links }
  })
  for (const runtime of runtimes) {
    const namespace = runtime.link('ns/mnt')
    if (namespace === undefined || namespace === own) continue
    const { table, root, links } = ours()
    const theirs = readMountTable(runtime.path('mountinfo'))
    const difference = firstDifference(table.withLinks(links), theirs.withLinks(links), root)
    if (difference === undefined) continue
    throw new SafetyRefusal('S6', said('WrongNamespace.runtime', { pid: runtime.pid, rootDir, difference }), {
      hint: 'Start the kubelet, so that its namespace counts.',
    })
  }
}

/** The mount table of a namespace, by default ours: one of the node's own, however long. @throws VolctlError NodeUnreadable */
export function readMountTable(path = '/proc/self/mountinfo'): MountTable {
  try {
    return tableAt(path)
  } catch (error) {
    if (error instanceof VolctlError) throw error
    throw new VolctlError(said('NodeUnreadable.path', { path, error: errorMessage(error) }), { cause: error })
  }
}

/** The first mount under the root directory that only one of two tables has, for messages. */
export function firstDifference(one: MountTable, other: MountTable, rootDir: string): string | undefined {
  const [left = [], right = []] = [one, other].map((table) => table.under(rootDir).map(identity).sort())
  return differing(left, right) ?? (left.length === right.length ? undefined : 'one of them has another mount on top')
}

function identity({ mountPoint, dev, root }: MountInfo): string {
  return `${mountPoint} (${dev} ${root})`
}

const linkText = ({ path, place }: PlaceLink): string => `${path} -> ${place}`

/** The first text that only one of them has. */
function differing(one: readonly string[], other: readonly string[]): string | undefined {
  return [...new Set(one).symmetricDifference(new Set(other))][0]
}

/**
 * Reads the mount table again during an apply, through the same links in the kubelet's directories as the plan (S8, S26).
 *
 * @param before the links that the plan was made with
 * @returns a reader, which throws OperationRefused Changed once a link leads elsewhere or cannot be followed: the table would
 * show nothing on paths that still have mounts
 */
export function mountTableReader(rootDir: string, before: readonly PlaceLink[]): () => MountTable {
  return () => {
    const mounts = readMountTable()
    const { links } = structureLinks(rootDir, mounts)
    const changed = differing(before.map(linkText), links.map(linkText))
    if (changed === undefined) return mounts.withLinks(links)
    throw new OperationRefused(said('Changed.link', { changed }))
  }
}

/** The mount table of the kubelet's mount namespace (S6). */
import { realpathSync } from 'node:fs'
import { release } from 'node:os'
import { errorMessage, SafetyRefusal, VolctlError } from '../errors/errors.ts'
import { withLinks } from '../mountinfo/linked-mounts.ts'
import type { MountInfo, MountTable } from '../mountinfo/mount-table.ts'
import { parseMountinfo } from '../mountinfo/parse-mountinfo.ts'
import { openNamespace } from '../trust/enter-namespace.ts'
import { namespaceOf, readToEnd } from '../trust/kernel.ts'
import { type PinnedProcess, pin } from '../trust/processes.ts'
import { structureLinks } from './tree/structure-links.ts'

/** volctl stands in another mount namespace than the node's kubelet: `reenter` in reenter.ts takes it there. */
export class WrongNamespace extends SafetyRefusal {
  /** A descriptor of the right one, taken while its process was pinned (S32). */
  readonly namespace: number

  constructor(pid: number, why: string, namespace: number) {
    super('S6', 'WrongMountNamespace', `volctl runs in another mount namespace than ${why}`, {
      hint: `Run volctl there: nsenter -t ${pid} -m volctl …`,
    })
    this.namespace = namespace
  }
}

export interface NamespaceProcesses {
  /** The chosen kubelet, if it runs. */
  readonly kubelet?: PinnedProcess | undefined
  readonly runtimes: readonly PinnedProcess[]
  readonly rootDir: string
}

/**
 * Makes sure that we stand where the kubelet stands. While none runs, PID 1 stands for it, and every container runtime
 * of root's must see the same mounts under the root directory: a namespace in which some are missing would make an rmdir
 * detach live data.
 *
 * @throws WrongNamespace, or SafetyRefusal NamespacesDisagree
 */
export function checkMountNamespace(processes: NamespaceProcesses, proc = '/proc'): void {
  const { kubelet, runtimes, rootDir } = processes
  using first = kubelet === undefined ? pin(1, proc) : undefined
  const reference = kubelet ?? first
  const wanted = reference?.link('ns/mnt')
  const own = namespaceOf('self', 'mnt', proc)
  // Not readable: without root. The obstacle is reported by standingObstacles; reading goes on from here.
  if (reference === undefined || wanted === undefined || own === undefined) return
  if (wanted !== own) {
    const why = kubelet === undefined ? 'PID 1' : `the kubelet (pid ${kubelet.pid})`
    throw new WrongNamespace(reference.pid, why, openNamespace(reference, wanted))
  }
  if (kubelet !== undefined) return
  const ours = onlyOnce(() => {
    const table = readMountTable(`${proc}/self/mountinfo`)
    // Mount points have no links, of the root directory's name or in it (S8).
    const root = resolved(rootDir)
    return { table, root, links: structureLinks(root, table).links }
  })
  for (const runtime of runtimes) {
    const namespace = runtime.link('ns/mnt')
    if (namespace === undefined || namespace === own) continue
    const { table, root, links } = ours()
    const theirs = readMountTable(runtime.path('mountinfo'))
    const difference = firstDifference(withLinks(table, links), withLinks(theirs, links), root)
    if (difference === undefined) continue
    throw new SafetyRefusal(
      'S6',
      'NamespacesDisagree',
      `PID 1 and the container runtime (pid ${runtime.pid}) do not see the same mounts under ${rootDir}: ${difference}`,
      {
        hint: "Start the kubelet, whose mount namespace decides, or run volctl in the runtime's: nsenter -t PID -m volctl …",
      },
    )
  }
}

function onlyOnce<T>(read: () => T): () => T {
  let found: { readonly value: T } | undefined
  return () => {
    found ??= { value: read() }
    return found.value
  }
}

/** One that is not there is reported by whoever reads it. */
function resolved(rootDir: string): string {
  try {
    return realpathSync.native(rootDir)
  } catch {
    return rootDir
  }
}

/** Kernels before 5.8 may hand out a table with lines missing while mounts change. */
const FIRST_RELIABLE_KERNEL = [5, 8] as const
const TRIES = 10

/**
 * A namespace's table, ours unless another is named; one read is the floor of every plan. On kernels before 5.8 it is
 * read until two reads in a row agree (S27, P111).
 */
export function readMountTable(path = '/proc/self/mountinfo', kernel = release()): MountTable {
  return parseMountinfo(stableRead(() => readBytes(path), kernel))
}

/** @throws VolctlError MountinfoUnstable */
export function stableRead(read: () => Buffer, kernel: string): Buffer {
  let bytes = read()
  if (isReliable(kernel)) return bytes
  for (let tries = 0; tries < TRIES; tries++) {
    const again = read()
    if (again.equals(bytes)) return bytes
    bytes = again
  }
  throw new VolctlError('MountinfoUnstable', `the mount table changed during each of ${TRIES} reads`, {
    hint: 'Something mounts and unmounts continuously: wait until it has ended, then try again.',
  })
}

/** A version that cannot be read counts as an old one. */
function isReliable(kernel: string): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)\./.exec(kernel) ?? []
  if (major === undefined || minor === undefined) return false
  const [wantedMajor, wantedMinor] = FIRST_RELIABLE_KERNEL
  return Number(major) > wantedMajor || (Number(major) === wantedMajor && Number(minor) >= wantedMinor)
}

/** The first mount under the root directory that only one of two tables has, in words. */
export function firstDifference(one: MountTable, other: MountTable, rootDir: string): string | undefined {
  const [left, right] = [one, other].map((table) => table.under(rootDir).map(identity).sort())
  const lack = firstLacking(left, right) ?? firstLacking(right, left)
  return lack ?? (left?.length === right?.length ? undefined : 'one of them has another mount on top')
}

function firstLacking(these: readonly string[] = [], those: readonly string[] = []): string | undefined {
  const known = new Set(those)
  return these.find((mount) => !known.has(mount))
}

function identity({ mountPoint, dev, root }: MountInfo): string {
  return `${mountPoint} (${dev} ${root})`
}

function readBytes(path: string): Buffer {
  try {
    return readToEnd(path)
  } catch (error) {
    throw new VolctlError('MountinfoUnreadable', `${path}: ${errorMessage(error)}`, {
      cause: error,
      hint: 'Run volctl as root, with /proc mounted.',
    })
  }
}

/** Checks that the mounts are still those that the operation was planned for (S18, S26, S27). */

import { memoize } from '../base/collections.ts'
import type { OtherNamespace } from '../linux/mount-namespaces.ts'
import { isSameMount, type MountInfo, type MountTable } from '../linux/mount-table.ts'
import { said } from '../messages/findings.ts'
import { fileText } from '../plan/differences.ts'
import type { Operation } from '../plan/plan.ts'
import { describeProcess, type NameOf, staying, type UsedBy, usingProcess } from '../users/find-holders.ts'
import type { ExpectedMount, StepOp } from '../volumes/steps.ts'
import type { MachineFacts } from './machine-facts.ts'
import type { MachineJudge } from './rule.ts'
import type { Surroundings } from './surroundings.ts'

export const UNMOUNTING: ReadonlySet<StepOp> = new Set<StepOp>([
  'umount',
  'NodeUnpublishVolume',
  'NodeUnstageVolume',
  'flexUnmount',
  'flexUnmountDevice',
])

/** After these steps the target must not be a mount point any more, and nothing may be mounted below it. */
const UNDOING = UNMOUNTING.union(new Set<StepOp>(['rmdir', 'unlink', 'deleteContent']))

/**
 * Mounts that are already gone are fine: unmounting is idempotent. A mount that was not there when the plan was made, on a
 * path of the operation or below it, refuses the operation.
 */
export const unexpectedMount: MachineJudge = ({ operation, around }) => {
  const { steps, expects = [] } = operation
  const undone = steps.flatMap(({ op, target }) => (UNDOING.has(op) ? target : []))
  for (const path of new Set([...undone, ...expects.map((each) => each.path)])) {
    for (const mounts of [around.table.at(path), around.below(path)]) {
      const mount = mounts.find((each) => !isExpected(each, operation))
      if (mount !== undefined) return said('ForeignMount.unplanned', { mount: describeMount(mount) })
    }
  }
  return undefined
}

/** The mounts that the operation was planned for, by their ids. Cached, since a batch asks ten thousands of times. */
export const expectedIds = memoize(
  ({ expects = [] }: Operation): ReadonlyMap<number, ExpectedMount['layers'][number]> =>
    new Map(expects.flatMap(({ layers }) => layers.map((layer) => [layer.id, layer]))),
)

/** The mounts that the operation was planned for. */
export function layersOf(operation: Operation): ExpectedMount['layers'] {
  return [...expectedIds(operation).values()]
}

/** Those that are still there. */
export function expectedMounts({ operation, around }: MachineFacts): MountInfo[] {
  return [...expectedIds(operation).keys()].flatMap((id) => around.table.byId(id) ?? [])
}

/** A mount id may be reused after an unmount, so device and root are compared as well (S27). */
export function isExpected(mount: MountInfo, operation: Operation): boolean {
  return isSameMount(expectedIds(operation).get(mount.id), mount)
}

/** Which mounts stay once those that the operation was planned for are unmounted: neither these nor what goes with them. */
export function stayingOf({ operation, around }: MachineFacts): ReturnType<typeof staying> {
  return staying(around.table, expectedIds(operation))
}

export function describeMount(mount: MountInfo): string {
  return `${mount.fsType} mount ${mount.id} of ${mount.source || 'no source'} on ${mount.mountPoint}`
}

/** Every mount table, our own first. Those of other namespaces are not read before they are asked for. */
export function* tablesAround(
  around: Surroundings,
): Iterable<{ readonly table: MountTable; readonly other?: OtherNamespace }> {
  yield { table: around.table }
  for (const other of around.others) yield { table: other.table, other }
}

/** The mount, and a process of the namespace that it is in, if that is not ours. */
export function mountIn(mount: MountInfo, other: OtherNamespace | undefined, nameOf?: NameOf): UsedBy {
  const who = describeMount(mount)
  if (other === undefined) return { who }
  return { who: `${who}, in the mount namespace of ${describeProcess(other, nameOf)}`, users: [usingProcess(other)] }
}

/**
 * The first mount that is found, in our own table before others; those that the operation unmounts, and what goes with them, do not
 * count.
 *
 * @param find gives all that there are in a table, ours or another namespace's
 * @returns undefined: there is none
 */
export function firstMount(
  facts: MachineFacts,
  find: (table: MountTable, other?: OtherNamespace) => readonly MountInfo[],
): UsedBy | undefined {
  const stays = stayingOf(facts)
  for (const { table, other } of tablesAround(facts.around)) {
    const mount = find(table, other).find((each) => stays(each, table))
    if (mount !== undefined) return mountIn(mount, other, facts.context.nameOf)
  }
  return undefined
}

/** Of its steps: other targets are names in the API. */
export function pathsOf({ steps }: Operation): string[] {
  return steps.flatMap(({ target }) => (target.startsWith('/') ? target : []))
}

/** Whether the operation takes the loop device off. */
export function isReleased({ device }: { readonly device: string }, { steps }: Operation): boolean {
  return steps.some(({ op, target }) => op === 'losetup -d' && target === device)
}

// Whether this process, and the files that an operation is about, are as its plan has them (S6, S12, S26).

/**
 * A network file system lives in the network namespace of the process that mounts it. If that is a container's, the mount
 * dies with the container, under a pod that goes on: every access hangs then, and so does its unmount.
 */
export const otherNetwork: MachineJudge = ({ operation, host }) => {
  const isOverNetwork = operation.steps.some(({ op, fsType }) => op === 'mount' && fsType?.startsWith('nfs') === true)
  if (!isOverNetwork || host.isInNodesNetwork()) return undefined
  return said('WrongNamespace.network')
}

/**
 * A file that is gone already is fine: removing is idempotent. Another file under its name is refused. Asked once the mounts are
 * known to be the expected ones: no path below a foreign mount may be touched.
 */
export const changedFile: MachineJudge = ({ operation, host }) => {
  for (const file of operation.basis?.files ?? []) {
    const found = host.lstat(file.path)
    if (found?.id === undefined) continue
    const { dev, ino, mtime } = found.id
    // As far as the plan knew it.
    const now = {
      dev,
      ino,
      size: file.size === undefined ? undefined : found.size,
      mtime: file.mtime === undefined ? undefined : mtime,
    }
    if (fileText(now) === fileText(file)) continue
    return said('Changed.path', { path: file.path, before: fileText(file), now: fileText(now) })
  }
  return undefined
}

/** A last look into a pod directory that is about to be removed: all or nothing (R601-R615, O13). */
export const strangerInside: MachineJudge = ({ operation, around, host }) => {
  const directory = operation.steps.at(-1)?.target
  if (directory === undefined) return undefined
  const mount = around.table.at(directory)[0] ?? around.below(directory)[0]
  if (mount !== undefined) return said('ForeignMount.inTheWay', { mount: describeMount(mount) })
  const known = new Set(operation.steps.map((step) => step.target))
  if (host.lstat(directory)?.type !== 'dir') return undefined
  const stranger = host.listTree(directory).find((path) => !known.has(path))
  return stranger === undefined ? undefined : said('UnexpectedFile.nothingRemoved', { path: stranger })
}

/** Who else has a mount that goes: by another mount of it, or by what keeps it busy, or cut off by force (S12, S19, S20, S24). */

import { alsoShowing, isOfServer, locateName } from '../linux/location.ts'
import { mountedOnElsewhere, ofTheNode } from '../linux/mount-namespaces.ts'
import type { MountInfo, MountTable } from '../linux/mount-table.ts'
import { isWithin } from '../linux/paths.ts'
import { goesWith } from '../linux/propagation.ts'
import { advice, said } from '../messages/findings.ts'
import { shownVolume } from '../plan/names.ts'
import type { Operation } from '../plan/plan.ts'
import {
  describeProcess,
  fileSystemsAt,
  heldByKernel,
  type MountIds,
  staying,
  together,
  type UsedBy,
  userAmong,
  usingProcess,
} from '../users/find-holders.ts'
import { podName } from '../volumes/pods.ts'
import type { StepOp } from '../volumes/steps.ts'
import {
  describeMount,
  expectedIds,
  expectedMounts,
  firstMount,
  isReleased,
  pathsOf,
  tablesAround,
  UNMOUNTING,
} from './expected-mounts.ts'
import { isOfAnother } from './find-volume-device.ts'
import type { MachineFacts, Verdict } from './machine-facts.ts'
import type { MachineJudge } from './rule.ts'

/**
 * No other mount of a staged volume may exist in any namespace. A propagated copy goes away with the staged mount and does
 * not count. A bind mount, although in the same peer group, does count. What shows another volume of the same share of a server does
 * not, nor what the pods of that one have in their own namespaces.
 */
export const otherReader: MachineJudge = (facts) => {
  const { operation, around, host } = facts
  const paths = (operation.expects ?? []).map((each) => each.path)
  for (const mount of expectedMounts(facts)) {
    const others = isOfServer(mount.fsType)
      ? around.table.ofDevice(mount.dev).filter(({ mountPoint }) => isOfAnother(mountPoint, facts))
      : []
    const reader = firstMount(facts, (table, other) => {
      const all = alsoShowing(table, mount)
      if (other === undefined) return all.filter((each) => !paths.includes(each.mountPoint) && !others.includes(each))
      const pods = others.length === 0 ? [] : host.podsOf(other.pid)
      return others.some(({ mountPoint }) => pods.some((uid) => mountPoint.includes(`/pods/${uid}/`))) ? [] : all
    })
    if (reader === undefined) continue
    return stillInUse(operation, reader.users ? reader : { who: `${reader.who} is another mount of it` })
  }
  const directory = pathsOf(operation).at(-1)
  if (directory === undefined) return undefined
  const loop = around.kernelFiles.loops.find((each) => isWithin(each.at, directory) && !isReleased(each, operation))
  return loop && stillInUse(operation, { who: `${loop.device} is backed by ${loop.backingFile}` })
}

function stillInUse({ volume }: Operation, { who, users }: UsedBy): Verdict {
  return { ...said('HeldBy.volume', { name: volume?.name ?? '', who }), users }
}

/**
 * Processes, loop devices and swap files that keep what is to be unmounted busy: the kernel refuses while anything has the mount itself,
 * or a copy that goes with it. Whoever uses the same file system through another mount is no holder here. What else keeps a mount (a
 * bound socket), umount(8) finds: it changes nothing that is busy.
 */
export const busyMount: MachineJudge = async (facts) => {
  const layers = layersToUnmount(facts)
  if (layers.length === 0) return undefined
  const { around, context, operation } = facts
  const fileSystems = new Set(layers.map(({ dev }) => dev))
  const uses = await around.uses({ fileSystems })
  const stays = staying(around.table, new Set(layers.map(({ id }) => id)))
  const goes = (mount: MountInfo | undefined, of: MountTable): boolean => mount !== undefined && !stays(mount, of)
  // Ids are the kernel's, one for a mount in whichever namespace.
  const processes = uses.keeping((id) => [...tablesAround(around)].some(({ table }) => goes(table.byId(id), table)))
  const files = around.kernelFiles
  const held = heldByKernel(
    layers.map(({ mountPoint }) => mountPoint),
    { ...files, loops: files.loops.filter((loop) => !isReleased(loop, operation)) },
  )
  const user = userAmong(together([{ processes }, held]), context.nameOf)
  return user && 'who' in user ? isBusy(operation, user) : undefined
}

/** @param who for messages; empty: nobody was found */
export function isBusy(operation: Operation, { who, ...more }: UsedBy & Pick<Verdict, 'hint'>): Verdict {
  const { volume, pod, paths } = operation
  const what = volume === undefined ? (paths[0] ?? '') : shownVolume(operation)
  const name = pod === undefined || volume === undefined ? what : `${what} of ${podName(pod)}`
  return { ...said('HeldBy.path', { name, who: who === '' ? '' : ` by ${who}` }), ...more }
}

/** As the plan expects them. What a forced umount cuts off shows only afterwards who still has it. */
function layersToUnmount({ operation, around }: MachineFacts): MountInfo[] {
  const targets = new Set(
    operation.steps.flatMap(({ op, target, detail }) => (UNMOUNTING.has(op) && detail !== 'force' ? [target] : [])),
  )
  const expected = expectedIds(operation)
  return [...targets].flatMap((path) => around.table.at(path).filter(({ id }) => expected.has(id)))
}

/** Names that are removed by rmdir or unlink; a driver removes its target, too (C123). */
const REMOVING: ReadonlySet<StepOp> = new Set<StepOp>(['rmdir', 'unlink', 'NodeUnpublishVolume', 'NodeUnstageVolume'])

/** R036: removing the mount point of another namespace would silently detach the mount there. */
export const mountPointElsewhere: MachineJudge = (facts) => {
  for (const { op, target } of facts.operation.steps) {
    const verdict = REMOVING.has(op) ? mountedElsewhere(target, facts, expectedIds(facts.operation)) : undefined
    if (verdict !== undefined) return verdict
  }
  return undefined
}

/** The same of one path, right before it is removed. @param going ids of mounts that are unmounted before, and their copies with them */
export function mountedElsewhere(
  path: string,
  { around, context }: MachineFacts,
  going?: MountIds,
): Verdict | undefined {
  const { table, others } = around
  const location = locateName(table, path)
  const other = location && mountedOnElsewhere(location, others, staying(table, going))
  return (
    other && {
      ...said('HeldBy.otherNamespace', { path, process: describeProcess(other, context.nameOf) }),
      users: [usingProcess(other)],
    }
  )
}

// What a forced or a lazy unmount would take from others (S19, S20).

/** S19: a forced umount ends the connection of every mount of this file system, in every namespace. */
export const sharedConnection: MachineJudge = (facts) => {
  const { around, operation, context } = facts
  const own = expectedIds(operation)
  for (const layer of topsOf('force', facts)) {
    const here = around.table
      .ofDevice(layer.dev)
      .find((mount) => !own.has(mount.id) && !goesWith(around.table, layer, mount))
    const elsewhere = ofTheNode(around.others).find(({ table }) => table.ofDevice(layer.dev).length > 0)
    const who =
      (here && describeMount(here)) ??
      (elsewhere && `the mount namespace of ${describeProcess(elsewhere, context.nameOf)}`)
    if (who === undefined) continue
    return said('SharedConnection', { mountPoint: layer.mountPoint, who })
  }
  return undefined
}

/** S20: lazily only if the mount is shown to be dead, and nobody holds it. */
export const aliveOrHeld: MachineJudge = async (facts) => {
  const { host, waiting, around, context } = facts
  for (const layer of topsOf('lazy', facts)) {
    const { mountPoint: path } = layer
    // For a dead mount this check takes its whole limit, which does not count as waiting of the operation.
    if (!(await host.isDead(layer, Math.min(waiting.limitMs, 5000)))) return said('FlagWithoutEffect.answers', { path })
    const { table, others, kernelFiles: files } = around
    const uses = await around.uses({ fileSystems: fileSystemsAt(table, [path]) })
    // A copy in another namespace is a separate mount, and is not touched.
    const holders = { ...host.findHolders({ table, paths: [path], others, files, uses }), namespaces: [] }
    const user = userAmong(holders, context.nameOf)
    if (user === undefined) continue
    if ('who' in user) return { ...said('HeldBy.holder', { path, who: user.who }), users: user.users }
    return {
      ...said('UsersUnknown.holders', { path, why: user.text }),
      hint: advice`volctl unmounts nothing lazily that may be in use. ${user.hint}`,
    }
  }
  return undefined
}

/** The newest on each path that is unmounted in this way. */
function topsOf(how: 'force' | 'lazy', { operation, around }: MachineFacts): MountInfo[] {
  const steps = operation.steps.filter(({ op, detail }) => op === 'umount' && detail === how)
  return [...new Set(steps.map(({ target }) => target))].flatMap((target) => around.table.top(target) ?? [])
}

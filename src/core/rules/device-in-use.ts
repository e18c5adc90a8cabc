/**
 * Before an unmap or an unstage takes a device away, nobody else may use it: no process that has its device file open, no
 * mount of another of its partitions, no device that is built on it (S21, S24). Before a detach nobody may use the whole disk,
 * anything on it, or the volume's directory (S21).
 */

import { memoize } from '../base/collections.ts'
import type { BlockNode } from '../linux/block/sysfs-block-tree.ts'
import { isPassive, nodeOf } from '../linux/block/whole-disk.ts'
import type { Unseen } from '../linux/mount-namespaces.ts'
import { goesWith } from '../linux/propagation.ts'
import { advice, said } from '../messages/findings.ts'
import type { Operation } from '../plan/plan.ts'
import { describeProcesses, type UsedBy, usingProcess } from '../users/find-holders.ts'
import { loopFiles } from '../users/kernel-files.ts'
import { protectedUids } from '../volumes/pods.ts'
import type { StepOp } from '../volumes/steps.ts'
import { escapeQualifiedName } from '../volumes/volume-names.ts'
import { unfinished } from './api-now.ts'
import { type DiskQuestion, loopsOn, userOf } from './disk-users.ts'
import { describeMount, expectedIds, firstMount, isReleased, stayingOf } from './expected-mounts.ts'
import { userOfDirectories, userOfFileSystems } from './file-system-users.ts'
import type { MachineFacts, Verdict } from './machine-facts.ts'
import { devicesOf } from './node-stack.ts'
import type { MachineJudge } from './rule.ts'
import type { Surroundings } from './surroundings.ts'

export const usedDevice: MachineJudge = async (facts) => {
  if (!takesDevice(facts.operation)) return undefined
  const user = await userOf(() => questionFor(facts), facts)
  return user && volumeInUse(facts, user)
}

/** What leaves the device of a staged volume as it is. */
const KEEPING: readonly StepOp[] = ['umount', 'rmdir', 'unlink']

/**
 * True if the operation may take a device away: an unmap, a driver's unstage or the release of a LUN may, a plain umount does not.
 */
export function takesDevice({ kind, steps }: Operation): boolean {
  const isUnmap = kind === 'UnmapVolume' || kind === 'UnmapDevice'
  return isUnmap || (kind === 'UnmountDevice' && steps.some(({ op }) => !KEEPING.includes(op)))
}

/** Which devices nobody else may use, and what is no use of them. */
function questionFor(facts: MachineFacts): DiskQuestion {
  const { operation, host, record } = facts
  const { nodes } = devicesOf(facts)
  const isFound = record.found.size > 0
  const expected = expectedIds(operation)
  const common = {
    nodes,
    // The volume's own device is a holder of the devices below it.
    isNoUse: (holder: BlockNode) =>
      isPassive(holder) ||
      nodes.some(({ name, isBelow }) => isBelow && name === holder.name) ||
      // A mapping that drivers close when they unstage: its own users are searched.
      (isFound && holder.dmUuid?.startsWith('CRYPT-') === true),
  }
  if (operation.kind === 'UnmountDevice') {
    const volumes = new Set([...record.devices.keys(), ...record.layers.values().map(({ dev }) => dev)])
    return {
      ...common,
      // readers.ts checks other mounts of the staged volume. For a device that was only found by name, every mount is
      // somebody else's.
      isOwnMount: ({ id, dev }, pid) =>
        (pid === undefined && expected.has(id)) || (volumes.has(dev) && !record.found.has(dev)),
      // The devices below are held open by the file system itself, or by the mapping that the driver closes when it unstages.
      isToBeFree: ({ isBelow }) => isFound || !isBelow,
      isOwnOpener: ({ pid }, node) => node?.servedBy === pid,
    }
  }
  const pods = operation.kind === 'UnmapVolume' ? podsWith(facts) : new Set<string>()
  const isOfPods = (pid: number): boolean => host.podsOf(pid).some((uid) => pods.has(uid))
  const shape = `/volumeDevices/`
  return {
    ...common,
    isOwnMount: ({ id, fsType, mountPoint }, pid) =>
      expected.has(id) || (fsType === 'devtmpfs' && mountPoint.includes(shape)) || (pid !== undefined && isOfPods(pid)),
    isOwnOpener: ({ pid }, node) => node?.servedBy === pid || isOfPods(pid),
    isToBeFree: () => pods.size === 0,
    // Loop devices on the maps of other pods, which are released with this one.
    isOwnLoop: (device) => host.loopBackingFile(device)?.includes(`${shape}${operation.volume?.name}/`) === true,
  }
}

/** UIDs of pods of this node that want the same raw block volume: their use of it is allowed. */
function podsWith({ operation, witness, context }: MachineFacts): ReadonlySet<string> {
  const name = operation.volume?.uniqueName
  if (name === undefined) return new Set()
  const users = unfinished(witness).filter((pod) => context.wanted(pod, name) !== undefined)
  return new Set(users.flatMap(protectedUids))
}

export const usedDisk: MachineJudge = async (facts) => {
  const { before } = facts
  const stays = stayingOf(facts)
  const isOwnMount: DiskQuestion['isOwnMount'] = (mount, _, table) => !stays(mount, table)
  // While the volume is mounted or mapped, an exclusive open of its device says nothing.
  const isToBeFree = (): boolean => before === undefined
  const question = (): DiskQuestion => ({
    nodes: devicesOf(facts).nodes,
    isNoUse: isPassive,
    isOwnMount,
    isToBeFree,
  })
  const user = (await userOf(question, facts)) ?? (await userWithoutDisk(facts))
  return user && volumeInUse(facts, user)
}

async function userWithoutDisk(facts: MachineFacts): Promise<UsedBy | Unseen | undefined> {
  const { operation, around, record } = facts
  const { fileSystems, directories } = devicesOf(facts)
  const user = (await userOfFileSystems(fileSystems, facts)) ?? (await userOfDirectories(directories, facts))
  if (user !== undefined) return user
  // Of a device that is known, the look has identified what each is made on, below whatever kubelet's root directory.
  const loops = record.devices.size > 0 ? [] : around.kernelFiles.loops
  const { volume } = operation
  const loop = loops.find(
    (each) =>
      !isReleased(each, operation) && volume?.mode === 'Block' && each.at.includes(`/volumeDevices/${volume.name}/`),
  )
  return loop && { who: `${loop.device}, backed by ${loop.backingFile}` }
}

/**
 * After the last unmount the kernel says whether a file system on the disk is still alive, but not for whom. This names
 * those who will keep it alive without a mount that anybody sees.
 */
export const keptAlive: MachineJudge = async (facts) => {
  if (facts.before === undefined) return undefined
  const devices = devicesOf(facts).nodes.map(({ dev }) => dev)
  const uses = await facts.around.uses({ fileSystems: devices })
  const [process] = uses.detached(devices)
  if (process !== undefined)
    return volumeInUse(facts, {
      who: describeProcesses([process], facts.context.nameOf).join(),
      users: [usingProcess(process)],
    })
  const { files } = await loopFilesOf(facts.around)
  const loop = files.find(({ file }) => file !== undefined && devices.includes(file.dev))
  return loop && volumeInUse(facts, { who: `${loop.device}, backed by ${loop.backingFile}` })
}

const loopFilesOf = memoize((_: Surroundings) => loopFiles())

/**
 * S30: what is to be set up, nobody but this volume has. Pods of this node may still have its file system mounted although its global
 * mount is gone (O31): once more is safe then. A mounted file system whose device is also written to directly is destroyed.
 */
export const heldDevice: MachineJudge = async (facts) => {
  const { device, around, host } = facts
  if (device === undefined) return undefined
  const by = (who: string): Verdict => ({
    ...said('HeldBy.device', { path: device.path, who }),
    hint: 'Stop that use, or correct the PersistentVolume; then plan again.',
  })
  const isRaw = facts.operation.kind === 'MapVolume'
  const mounts = around.table.ofDevice(device.number)
  const own = isRaw ? [] : mounts.filter(({ mountPoint }) => isInPods(mountPoint, facts))
  const stranger = mounts.find((mount) => !own.some((each) => each === mount || goesWith(around.table, each, mount)))
  if (stranger !== undefined) return by(describeMount(stranger))
  if (isRaw || mounts.length > 0) return undefined
  const there = firstMount(facts, (table) => table.ofDevice(device.number))
  if (there !== undefined) return by(there.who)
  const [loop] = await loopsOn([{ ...nodeOf(device.number, host.blockTree), on: device.path, isBelow: false }], facts)
  if (loop !== undefined) return by(loop.who)
  const users = host.deviceUsers(device.number)
  return users.length > 0 ? by(users.join(', ')) : undefined
}

/** True for a path of this volume in any pod, sub-paths included. */
function isInPods(path: string, { operation: { volume }, plan }: MachineFacts): boolean {
  const prefix = `${plan.rootDir}/pods/`
  if (volume === undefined || !path.startsWith(prefix)) return false
  const [, kind, ...rest] = path.slice(prefix.length).split('/')
  if (kind === 'volume-subpaths') return rest[0] === volume.name
  return kind === 'volumes' && rest[0] === escapeQualifiedName(volume.plugin) && rest[1] === volume.name
}

function volumeInUse({ operation: { volume } }: MachineFacts, by: UsedBy | Unseen): Verdict {
  const name = `volume ${volume?.name ?? ''}`
  if ('who' in by) return { ...said('HeldBy.node', { name, who: by.who }), users: by.users }
  return {
    ...said('UsersUnknown.volume', { name, why: by.text }),
    hint: advice`${by.hint} Then plan again.`,
  }
}

/**
 * Before an unmap or an unstage takes a device away, nobody else may use it: no process that has its device file open, no
 * mount of another of its partitions, no device that is built on it (S21, S24).
 */

import { OperationRefused, UsersUnknown } from '../../base/operation-error.ts'
import type { BlockNode } from '../../linux/block/block-tree.ts'
import { isPassive, wholeDisk } from '../../linux/block/whole-disk.ts'
import type { Operation } from '../../plan/plan.ts'
import { protectedUids } from '../../volumes/pods.ts'
import { pluginNamed } from '../../volumes/registry.ts'
import { expectedIds } from '../operation/expected-mounts.ts'
import type { Witness } from '../operation/ports.ts'
import { unfinished } from '../operation/preconditions.ts'
import type { StepContext } from '../operation/step-context.ts'
import { volumeInUse } from './detach-devices.ts'
import { type DiskQuestion, usersOf } from './disk-users.ts'
import { devicesOf, ownOf } from './node-stack.ts'

/** @throws OperationRefused HeldBy, UsersUnknown */
export async function requireDeviceUnused(run: StepContext, witness: Witness): Promise<void> {
  const { operation } = run
  if (!takesDevice(operation)) return
  const [user] = await usersOf(() => questionFor(run, witness), run).catch((error: unknown) => {
    throw error instanceof UsersUnknown ? new OperationRefused(error.code, error.message, error) : error
  })
  if (user !== undefined) throw volumeInUse(operation, user)
}

/**
 * True if the operation may take a device away: an unmap or a driver's unstage may, a plain umount does not. iSCSI and FC
 * check themselves (S25).
 */
export function takesDevice({ kind, steps, volume }: Operation): boolean {
  if (kind === 'UnmapVolume') return true
  if (kind !== 'UnmapDevice' && kind !== 'UnmountDevice') return false
  if (pluginNamed(volume?.plugin ?? '').device?.release !== undefined) return false
  return kind === 'UnmapDevice' || steps.some(({ op }) => op === 'NodeUnstageVolume' || op === 'flexUnmountDevice')
}

/** Which devices nobody else may use, and what is no use of them. */
export function questionFor(run: StepContext, witness: Witness): DiskQuestion {
  const { operation, host, record } = run
  const own = ownOf(run)
  const { disks } = devicesOf(record, own, host)
  const nodes = wholeDisk(disks, host.blockTree, { own: own.devices, throughLvm: false })
  const below = new Set(nodes.filter(({ isBelow }) => isBelow).map(({ name }) => name))
  const isFound = record.found.size > 0
  const expected = expectedIds(operation)
  const common = {
    nodes,
    // The volume's own device is a holder of the devices below it.
    isNoUse: (holder: Parameters<DiskQuestion['isNoUse']>[0]) =>
      isPassive(holder) || below.has(holder.name) || (isFound && isOpenedByDriver(holder)),
  }
  if (operation.kind === 'UnmountDevice') {
    const volumes = new Set([...record.devices.keys(), ...record.layers.map(({ dev }) => dev)])
    return {
      ...common,
      // require-nobody.ts checks other mounts of the staged volume. For a device that was only found by name, every mount is
      // somebody else's.
      isOwnMount: ({ id, dev }, pid) =>
        (pid === undefined && expected.has(id)) || (volumes.has(dev) && !record.found.has(dev)),
      // The devices below are held open by the file system itself, or by the mapping that the driver closes when it unstages.
      isToBeFree: ({ isBelow }) => isFound || !isBelow,
      isOwnOpener: ({ pid }, node) => node?.servedBy === pid,
    }
  }
  const pods = operation.kind === 'UnmapVolume' ? podsWith(run, witness) : new Set<string>()
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

/** A mapping that drivers close when they unstage. Its own users are searched; its existence alone is no use. */
const isOpenedByDriver = ({ dmUuid }: BlockNode): boolean => dmUuid?.startsWith('CRYPT-') === true

/** UIDs of pods of this node that want the same raw block volume: their use of it is allowed. */
function podsWith({ operation, context }: StepContext, witness: Witness): ReadonlySet<string> {
  const name = operation.volume?.uniqueName
  if (name === undefined) return new Set()
  const users = unfinished(witness).filter((pod) => context.wanted(pod, name) !== undefined)
  return new Set(users.flatMap(protectedUids))
}

/**
 * Whether a file system without a block device (of a server, of a FUSE program, in memory) is still in use. After a lazy
 * unmount no mount table shows it, but it stays alive as long as somebody has a file of it open (S20, S21).
 */
import { describeProcess, type UsedBy, usingProcess } from '../../holders/describe-holders.ts'
import type { MountInfo, MountTable } from '../../mountinfo/mount-table.ts'
import type { Unseen } from '../../processes/mount-namespaces.ts'
import { isInUserNamespace } from '../../processes/standing.ts'
import { mountIn, stayingOf, tablesAround } from '../operation/expected-mounts.ts'
import type { StepContext } from '../operation/step-context.ts'
import type { SeenLayer } from '../operation/volume-record.ts'
import { processesWith } from './device-processes.ts'

/** One device number of these types may stand for several directories of a server; only the source distinguishes them. */
const OF_SERVERS = new Set(['nfs', 'nfs4', 'cifs', 'smb3', 'ceph'])

/** The first user that is found, as text; undefined: nobody. What cannot be seen counts as use (S3). */
export async function userOfFileSystems(
  layers: readonly SeenLayer[],
  run: StepContext,
): Promise<UsedBy | Unseen | undefined> {
  for (const layer of layers) {
    const mounted = mountOf(layer, run)
    if (mounted !== undefined) return mounted
  }
  const remaining = layers.filter((layer) => !isGone(layer, run))
  for (const { dev, fsType } of remaining) {
    if (run.host.fileSystemLives(dev, fsType) && !isShown(dev, run))
      return {
        who: `its ${fsType === '' ? '' : `${fsType} `}file system (${dev}) is in use, and in no mount table that volctl sees`,
      }
  }
  return remaining.length === 0 ? undefined : detachedUser(remaining, run)
}

function mountOf(layer: SeenLayer, run: StepContext): UsedBy | undefined {
  return firstMount(run, (table) => table.ofDevice(layer.dev).filter((mount) => isOf(layer, mount)))
}

/** True for a mount of the volume, or of a directory in it. */
function isOf({ fsType, source = '' }: SeenLayer, mount: MountInfo): boolean {
  if (!OF_SERVERS.has(fsType) || mount.source === source) return true
  return mount.source.startsWith(source.endsWith('/') ? source : `${source}/`)
}

function isShown(dev: string, { around }: StepContext): boolean {
  return [...tablesAround(around)].some(({ table }) => table.ofDevice(dev).length > 0)
}

/** True if the kernel's list of FUSE connections shows that the file system is gone; false if there is no such list. */
function isGone({ dev, fsType }: SeenLayer, { host }: StepContext): boolean {
  return fsType.startsWith('fuse') && host.superblockGone(dev, fsType)
}

async function detachedUser(layers: readonly SeenLayer[], run: StepContext): Promise<UsedBy | Unseen | undefined> {
  const devices = [...new Set(layers.map(({ dev }) => dev))]
  const uses = await processesWith({ fileSystems: devices }, run)
  const [user] = uses.detached(devices)
  if (user !== undefined)
    return {
      who: `${describeProcess(user, run.context.nameOf)}, which has ${user.path} open through a mount that is in no mount table that volctl sees`,
      users: [usingProcess(user)],
    }
  // From within a user namespace only a test's own node is looked at: apply refuses any other (S7).
  return isInUserNamespace() ? undefined : uses.unseen[0]
}

/**
 * The first mount that is found, in our own table before others; those that the operation unmounts, and what goes with them, do not
 * count.
 *
 * @param find gives all that there are in a table
 * @returns undefined: there is none
 */
export function firstMount(run: StepContext, find: (table: MountTable) => readonly MountInfo[]): UsedBy | undefined {
  const stays = stayingOf(run)
  for (const { table, other } of tablesAround(run.around)) {
    const mount = find(table).find((each) => stays(each, table))
    if (mount !== undefined) return mountIn(mount, other, run.context.nameOf)
  }
  return undefined
}

/**
 * Is a file system without a block device gone: of a server, of a program (FUSE), in memory. Unmounted lazily it is in no
 * mount table and lives on as long as somebody has something of it open (S20, S21).
 */
import { describeProcess } from '../../holders/describe-holders.ts'
import type { MountInfo, MountTable } from '../../mountinfo/mount-table.ts'
import { mapReaderOf } from '../operation/map-reader-of.ts'
import type { StepContext } from '../operation/step-context.ts'
import type { SeenLayer } from '../operation/volume-record.ts'
import { firstMount } from './first-mount.ts'

/** Of these one file system, by number, may be several directories of a server, which the source tells apart. */
const OF_SERVERS = new Set(['nfs', 'nfs4', 'cifs', 'smb3', 'ceph'])

/** Nobody looks longer than this. */
const DEADLINE_MS = 5000

/** In words, the first that is found; undefined: nobody. Where that cannot be told it counts as use (S3). */
export async function userOfFileSystems(layers: readonly SeenLayer[], run: StepContext): Promise<string | undefined> {
  for (const layer of layers) {
    const mounted = mountOf(layer, run)
    if (mounted !== undefined) return mounted
  }
  const left = layers.filter((layer) => !isGone(layer, run))
  for (const { dev, fsType } of left) {
    if (run.host.fileSystemLives(dev, fsType) && !isShown(dev, run))
      return `${article(fsType)} file system (${dev}) that is mounted nowhere and still lives: somebody has a file of it open`
  }
  return left.length === 0 ? undefined : detachedUser(left, run)
}

function mountOf(layer: SeenLayer, run: StepContext): string | undefined {
  return firstMount(run, (table) => table.ofDevice(layer.dev).find((mount) => isOf(layer, mount)))
}

/** The volume, or a directory of it. */
function isOf({ fsType, source = '' }: SeenLayer, mount: MountInfo): boolean {
  if (!OF_SERVERS.has(fsType) || mount.source === source) return true
  return mount.source.startsWith(source.endsWith('/') ? source : `${source}/`)
}

const tablesOf = ({ around }: StepContext): MountTable[] => [around.table, ...around.others.map(({ table }) => table)]

function isShown(dev: string, run: StepContext): boolean {
  return tablesOf(run).some((table) => table.ofDevice(dev).length > 0)
}

/** Shown by the kernel's own list of connections, where that can be seen. */
function isGone({ dev, fsType }: SeenLayer, { host }: StepContext): boolean {
  return fsType.startsWith('fuse') && host.superblockGone(dev, fsType)
}

async function detachedUser(layers: readonly SeenLayer[], run: StepContext): Promise<string | undefined> {
  const devices = [...new Set(layers.map(({ dev }) => dev))]
  const { users, unread } = await run.waiting.spend((ms) =>
    run.host.detachedFiles(
      { devices, tables: tablesOf(run), maps: devices.filter((dev) => !isShown(dev, run)) },
      mapReaderOf(run.context, Math.min(ms, DEADLINE_MS)),
    ),
  )
  const [user] = users
  if (user !== undefined)
    return `${describeProcess(user, run.context.nameOf)}, which has ${user.path} open on a file system that was detached lazily`
  const [why] = unread
  return why === undefined ? undefined : `perhaps somebody: ${why}`
}

function article(fsType: string): string {
  return fsType === '' ? 'a' : `${/^[aeiou]/.test(fsType) ? 'an' : 'a'} ${fsType}`
}

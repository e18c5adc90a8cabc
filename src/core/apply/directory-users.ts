/** Who uses a directory of a file system that is the node's own, where that directory is the volume (O36). */
import { posix } from 'node:path'
import { describeProcess } from '../holders/describe-holders.ts'
import { undeletedRoot } from '../mountinfo/deleted.ts'
import type { MountInfo, MountTable } from '../mountinfo/mount-table.ts'
import { isWithin } from '../path-within.ts'
import { describeMount } from './expected-mounts.ts'
import { heldBy, holdersOn } from './holders-on.ts'
import { locate } from './location.ts'
import type { StepContext } from './step-context.ts'
import type { SeenLayer } from './volume-record.ts'

type Directory = Pick<SeenLayer, 'dev' | 'root'>

/** In words, the first that is found; undefined: nobody. What cannot be seen counts as use (S3). */
export async function userOfDirectories(
  directories: readonly Directory[],
  run: StepContext,
): Promise<string | undefined> {
  for (const directory of directories) {
    const user = mountOf(directory, run) ?? (await holderOf(directory, run))
    if (user !== undefined) return user
  }
  return undefined
}

function mountOf(directory: Directory, { around, context }: StepContext): string | undefined {
  const here = showing(around.table, directory)
  if (here !== undefined) return describeMount(here)
  for (const { table, process, pid } of around.others) {
    const mount = showing(table, directory)
    if (mount === undefined) continue
    return `${describeMount(mount)}, in the namespace of ${describeProcess({ process, pid }, context.nameOf)}`
  }
  return undefined
}

function showing(table: MountTable, { dev, root }: Directory): MountInfo | undefined {
  return table.ofDevice(dev).find((mount) => isWithin(undeletedRoot(mount.root), undeletedRoot(root)))
}

/** Processes and loop devices on what lies in it. */
async function holderOf(directory: Directory, run: StepContext): Promise<string | undefined> {
  const path = pathOf(directory, run.around.table)
  if (path === undefined) return `perhaps somebody: ${directory.root} of file system ${directory.dev} is not to be seen`
  const holders = await holdersOn(path, run, true)
  const [who] = heldBy(holders, run)
  const [unseen] = holders.unseen
  return who ?? (unseen === undefined ? undefined : `perhaps somebody: ${unseen}`)
}

/** Where this namespace shows it. */
function pathOf({ dev, root }: Directory, table: MountTable): string | undefined {
  const inside = undeletedRoot(root)
  return table
    .ofDevice(dev)
    .filter((mount) => isWithin(inside, mount.root))
    .map((mount) => posix.join(mount.mountPoint, posix.relative(mount.root, inside)))
    .find((path) => {
      const place = locate(table, path)
      return place?.dev === dev && place.path === inside
    })
}

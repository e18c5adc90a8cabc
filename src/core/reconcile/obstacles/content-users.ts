/** S12: what this namespace's own table and loop devices show of a directory whose content, or whose memory, is to go. */
import { posix } from 'node:path'
import { type ContentPlace, describeUse, layersByText, mountsOf, placeIn, withTop } from '../../holders/mount-uses.ts'
import { PlaceIndex } from '../../holders/place-index.ts'
import { firstFew } from '../../lang/first-few.ts'
import { onceFor } from '../../lang/once-for.ts'
import type { BlockDevice } from '../../model/snapshot.ts'
import { type Location, locate } from '../../mountinfo/location.ts'
import type { MountInfo } from '../../mountinfo/mount-table.ts'
import type { Obstacle } from '../../plan/draft.ts'
import type { PlanContext } from '../context/context.ts'

export interface Going {
  /** Absolute. */
  readonly dir: string
  /** What is mounted on it, and ends with it. */
  readonly layers: readonly MountInfo[]
  /** Ids of mounts that are taken away before. */
  readonly removes: ReadonlySet<number>
  readonly podUid: string
}

/** Named, each kind; the rest is counted. */
const MOST = 4

/** Other mount namespaces, processes, swap files and exports are asked at apply, right before (S26). */
export function contentObstacle(context: PlanContext, going: Going): Obstacle | undefined {
  const users = [...usersOnDisk(context, going), ...usersOfMemory(context, going)]
  if (users.length === 0) return undefined
  return {
    code: 'HeldBy',
    message: `${going.dir} is in use under another name: ${firstFew(users, MOST).join(', ')}`,
    hint: 'See who needs it (findmnt, losetup -l). End that use: umount, or losetup -d; then plan again.',
  }
}

function usersOnDisk(context: PlanContext, { dir, removes, podUid }: Going): string[] {
  // By the directory above: what lies below a mount on it is meant.
  const parent = locate(context.inputs.mounts, posix.dirname(dir))
  if (parent === undefined) return []
  const place = { dev: parent.dev, path: posix.join(parent.path, posix.basename(dir)) }
  return usersOf(context, withTop(place, dir, podUid), dir, ({ id }) => removes.has(id))
}

/** A mount in the pod's own directories, under whatever prefix, is this pod's. */
function usersOfMemory(context: PlanContext, { dir, layers, removes, podUid }: Going): string[] {
  const isOwn = ({ id, mountPoint }: MountInfo): boolean => removes.has(id) || mountPoint.includes(`/pods/${podUid}/`)
  const places = new Map(layers.map(({ dev, root: path }) => [`${dev} ${path}`, { dev, path }]))
  return [...places.values()].flatMap((place) => usersOf(context, place, dir, isOwn))
}

function usersOf(
  { inputs }: PlanContext,
  place: ContentPlace,
  dir: string,
  isOwn: (mount: MountInfo) => boolean,
): string[] {
  const uses = [...mountsOf(place, inputs.mounts, dir), ...layersByText(inputs.mounts).within(place)].filter(
    ({ mount, how }) => how === 'layer' || !(isOwn(mount) || inputs.devices.leadersOf(mount).some(isOwn)),
  )
  const loops = loopFiles(inputs).within(place)
  return [...uses.map(describeUse), ...loops.map(({ name, backingFile }) => `${name}, backed by ${backingFile}`)]
}

/** Backing files where this namespace has them; which one "/" is nothing tells. */
const loopFiles = onceFor(({ mounts, snapshot }: PlanContext['inputs']) => {
  const loops = (snapshot.blockDevices ?? []).flatMap((loop): (readonly [Location, BlockDevice])[] => {
    const { backingFile = '/' } = loop
    const place = backingFile === '/' ? undefined : placeIn(mounts, undefined, backingFile)
    return place === undefined ? [] : [[place, loop]]
  })
  return new PlaceIndex(loops)
})

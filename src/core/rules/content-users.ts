/** S12: who else uses content that would be deleted, by the mount table and the loop devices of this mount namespace. */
import { posix } from 'node:path'
import { memoize } from '../base/memoize.ts'
import { take } from '../base/take.ts'
import { undeletedPath } from '../linux/deleted.ts'
import { type Location, locate } from '../linux/location.ts'
import type { MountInfo, MountTable } from '../linux/mount-table.ts'
import type { Draft } from '../plan/draft.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { isLiving } from '../reconcile/pods/volume-users.ts'
import {
  type ContentPlace,
  describeUse,
  hostPathsOf,
  layersByText,
  layersIn,
  mountsOf,
  PlaceIndex,
  withTop,
} from '../users/mount-uses.ts'
import type { Facts, Judge } from './rule.ts'

/** How many uses are named; the others are counted. */
const MOST = 4

/** Apply checks other mount namespaces, processes, swap files and exports right before it deletes (S26). */
export const contentUsed: Judge = ({ removes }, { content }, context) => {
  if (content === undefined) return undefined
  const all = { ...content, removes: content.removed ?? removes }
  const users = usersOnDisk(context, all).concat(usersOfMemory(context, all))
  if (users.length === 0) return undefined
  return {
    code: 'HeldBy',
    message: `the content of ${content.dir} is in use under another path: ${take(users, MOST).join(', ')}`,
  }
}

/** With the mounts that go first. */
type Content = NonNullable<Facts['content']> & Pick<Draft, 'removes'>

function usersOnDisk(context: PlanContext, { dir, removes, podUid }: Content): string[] {
  // Located by the parent directory: the content below any mount on the directory is meant.
  const parent = placesOf(context.inputs.mounts)(posix.dirname(dir))
  if (parent === undefined) return []
  const place = { dev: parent.dev, path: posix.join(parent.path, posix.basename(dir)) }
  return usersOf(context, withTop(place, dir, podUid), dir, ({ id }) => removes.has(id))
}

/** Where directories are. A pod may have thousands of volumes, and they share a few. */
const placesOf = memoize((mounts: MountTable) => {
  const known = new Map<string, Location | undefined>()
  return (directory: string): Location | undefined => {
    if (!known.has(directory)) known.set(directory, locate(mounts, directory))
    return known.get(directory)
  }
})

/** A mount in the pod's own directories, under any prefix, belongs to this pod. */
function usersOfMemory(context: PlanContext, { dir, layers, removes, podUid }: Content): string[] {
  if (layers.length === 0) return []
  const isOwn = ({ id, mountPoint }: MountInfo): boolean => removes.has(id) || mountPoint.includes(`/pods/${podUid}/`)
  const places = new Map(layers.map(({ dev, root: path }) => [`${dev} ${path}`, { dev, path }]))
  return [...places.values()].flatMap((place) => usersOf(context, place, dir, isOwn))
}

function usersOf(
  context: PlanContext,
  place: ContentPlace,
  dir: string,
  isOwn: (mount: MountInfo) => boolean,
): string[] {
  const { inputs } = context
  const all = mountsOf(place, inputs.mounts, dir).concat(layersIn(layersByText(inputs.mounts), place))
  const loops = loopFiles(inputs).within(place)
  const named = namedPlaces(context).within(place, place.top)
  // Nearly always.
  if (all.length + loops.length + named.length === 0) return []
  const uses = all.filter(
    ({ mount, how }) => how === 'layer' || !(isOwn(mount) || inputs.devices.leadersOf(mount).some(isOwn)),
  )
  return [
    ...uses.map(describeUse),
    ...loops.map(({ name, backingFile }) => `${name}, backed by ${backingFile}`),
    ...named,
  ]
}

/** Backing files that have a path in this mount namespace; "/" does not say which file it is. */
const loopFiles = memoize(({ mounts, snapshot }: PlanContext['inputs']) => {
  const loops = (snapshot.blockDevices ?? []).filter(({ backingFile = '/' }) => backingFile !== '/')
  return new PlaceIndex(loops.map((loop) => [locate(mounts, undeletedPath(loop.backingFile ?? '')), loop]))
})

/**
 * HostPaths of pods that are meant to run, or must not be touched; an apply follows their links as well. And those of
 * PersistentVolumes.
 */
const namedPlaces = memoize(({ inputs: { mounts, snapshot }, classes }: PlanContext) => {
  const pods = classes.all.filter(isLiving).flatMap(({ pod }) => pod ?? [])
  return new PlaceIndex(
    hostPathsOf(pods, snapshot.api?.persistentVolumes).map(({ path, text }) => [locate(mounts, path), text]),
  )
})

/** S12: who else uses content that would be deleted, by the mount table and the loop devices of this mount namespace. */
import { posix } from 'node:path'
import { memoize } from '../base/memoize.ts'
import { take } from '../base/take.ts'
import { undeletedPath } from '../linux/deleted.ts'
import { locate } from '../linux/location.ts'
import type { MountInfo } from '../linux/mount-table.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { isLiving } from '../reconcile/pods/pod-classes.ts'
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
import type { Judge } from './rule.ts'

/** How many uses are named; the others are counted. */
const MOST = 4

/** Apply checks other mount namespaces, processes, swap files and exports right before it deletes (S26). */
export const contentUsed: Judge = (draft, { content }, context) => {
  if (content === undefined) return undefined
  const { dir, layers, podUid, removed = draft.removes } = content
  const isGoing = ({ id }: MountInfo): boolean => removed.has(id)
  // Located by the parent directory: the content below any mount on the directory is meant.
  const parent = locate(context.inputs.mounts, posix.dirname(dir))
  const onDisk = parent && withTop({ dev: parent.dev, path: posix.join(parent.path, posix.basename(dir)) }, dir, podUid)
  // In memory: a mount in the pod's own directories, under any prefix, belongs to this pod.
  const isOwn = (mount: MountInfo): boolean => isGoing(mount) || mount.mountPoint.includes(`/pods/${podUid}/`)
  const inMemory = new Map(layers.map(({ dev, root: path }) => [`${dev} ${path}`, { dev, path }]))
  const users = [
    ...(onDisk === undefined ? [] : usersOf(context, onDisk, dir, isGoing)),
    ...[...inMemory.values()].flatMap((place) => usersOf(context, place, dir, isOwn)),
  ]
  if (users.length === 0) return undefined
  return {
    code: 'HeldBy',
    message: `the content of ${dir} is in use under another path: ${take(users, MOST).join(', ')}`,
  }
}

function usersOf(
  context: PlanContext,
  place: ContentPlace,
  dir: string,
  goes: (mount: MountInfo) => boolean,
): readonly string[] {
  const { inputs } = context
  const mounts = mountsOf(place, inputs.mounts, dir).filter(
    ({ mount }) => !(goes(mount) || inputs.devices.leadersOf(mount).some(goes)),
  )
  return [
    ...[...mounts, ...layersIn(layersByText(inputs.mounts), place)].map(describeUse),
    ...loopFiles(inputs)
      .within(place)
      .map(({ name, backingFile }) => `${name}, backed by ${backingFile}`),
    ...namedPlaces(context).within(place, place.top),
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

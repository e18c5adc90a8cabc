/** Whether content or directories that go are in use under another name (S12, S13). */

import { memoize } from '../base/collections.ts'
import { take } from '../base/text.ts'
import type { Layer } from '../linux/follow-links.ts'
import { type Location, locate, locateName } from '../linux/location.ts'
import { ofTheNode, type Unseen } from '../linux/mount-namespaces.ts'
import { type MountInfo, type MountTable, placeOf } from '../linux/mount-table.ts'
import { undeletedPath } from '../linux/paths.ts'
import { leadersOf } from '../linux/propagation.ts'
import { advice, said } from '../messages/findings.ts'
import { removedBy } from '../plan/draft.ts'
import type { Operation } from '../plan/plan.ts'
import { usesOf } from '../users/content-holders.ts'
import type { ContentLook } from '../users/content-look.ts'
import { type Holders, namespaceHolders, together, type UsedBy, userAmong } from '../users/find-holders.ts'
import {
  describeOverlay,
  describeUse,
  hostPathsOf,
  layersByText,
  layersIn,
  type MountUse,
  mountsOf,
  mountsShowing,
  PlaceIndex,
} from '../users/mount-uses.ts'
import { allowedFsTypes } from '../volumes/plugin.ts'
import { pluginNamed } from '../volumes/registry.ts'
import type { PlanContext } from './context.ts'
import { expectedIds, expectedMounts, stayingOf } from './expected-mounts.ts'
import type { MachineFacts, Verdict } from './machine-facts.ts'
import { isLiving } from './pods/pod-classes.ts'
import type { Judge, MachineJudge } from './rule.ts'

/**
 * Before the first step, not to leave anything half done: nobody may use the content that the operation deletes, the tmpfs
 * content that is lost with its mounts, or the directory that it removes.
 */
export const usedContent: MachineJudge = async (facts) => {
  const { operation } = facts
  const targets = contentOf(facts)
  for (const target of targets) {
    // A dead mount hides what is below it; that is checked after the unmount, before anything is deleted.
    const isDead = operation.dead?.some(({ path }) => path === target)
    if (isDead || facts.host.lstat(placeOf(facts.around.table, target)) === undefined) continue
    const verdict = await contentVerdict(target, facts)
    if (verdict !== undefined) return verdict
  }
  const where = operation.steps.at(-1)?.target ?? ''
  const places = [...memoryOf(facts), ...(targets.length === 0 ? removedDirectory(facts) : [])]
  for (const place of places) {
    const user = userAmong(mountUsers(place, where, facts), facts.context.nameOf)
    if (user !== undefined && 'who' in user) return usedBy(where, user, 'done')
  }
  return undefined
}

/** Of one directory, once more right before its content is deleted. What a dead mount covered, no look before its unmount has seen. */
export async function contentVerdict(path: string, facts: MachineFacts, since?: number): Promise<Verdict | undefined> {
  const user = await userOfContent(path, await facts.users(since), facts)
  if (user === undefined) return undefined
  if ('who' in user) return usedBy(path, user, 'deleted')
  return {
    ...said('UsersUnknown.nothingDeleted', { path, why: user.text }),
    hint: advice`volctl deletes nothing that may be in use. ${user.hint}`,
  }
}

function usedBy(path: string, { who, users }: UsedBy, what: 'done' | 'deleted'): Verdict {
  return { ...said('HeldBy.nothingDone', { path, who, done: what }), users }
}

/** The first user of what is in the directory, once the operation's mounts are gone; what cannot be seen counts as use (S3). */
export async function userOfContent(
  path: string,
  look: ContentLook,
  { host, plan, operation, context }: MachineFacts,
): Promise<UsedBy | Unseen | undefined> {
  const { pod } = operation
  const content = { path, going: expectedIds(operation), rootDir: plan.rootDir, podUid: pod?.uid }
  return userAmong(await host.contentHolders(look, content), context.nameOf)
}

/** Directories whose content is deleted; an empty one too, since a process that has it open could still write to it. */
function contentOf({ operation, around }: MachineFacts): readonly string[] {
  const emptied = operation.steps.filter(({ op }) => op === 'deleteContent').map(({ target }) => target)
  const last = operation.steps.at(-1)
  if (emptied.length > 0 || last?.op !== 'rmdir' || !isEmptyDir(operation)) return emptied
  return around.table.at(last.target).length > 0 ? [] : [last.target]
}

/** The tmpfs of an emptyDir: its content is lost with its last mount. */
function memoryOf(facts: MachineFacts): Location[] {
  const { operation } = facts
  if (operation.deletes === undefined || operation.steps.every(({ op }) => op !== 'umount')) return []
  return expectedMounts(facts)
    .filter(isMemory)
    .map(({ dev, root }) => ({ dev, path: root }))
}

function isMemory({ fsType }: Pick<MountInfo, 'fsType'>): boolean {
  return allowedFsTypes('emptyDir')?.includes(fsType) === true
}

/** The directory that the operation removes, which somebody may have bind-mounted elsewhere before it was empty. */
function removedDirectory({ operation, around }: MachineFacts): Location[] {
  const last = operation.steps.at(-1)
  if (last?.op !== 'rmdir' || !(operation.kind === 'RemoveOrphanPodDir' || isEmptyDir(operation))) return []
  // Mounts on the directory itself are unmounted first.
  return [locateName(around.table, last.target) ?? []].flat()
}

/** Users of the place by mounts and overlays. */
function mountUsers(place: Location, path: string, facts: MachineFacts): Holders {
  const { operation } = facts
  const { table, others } = facts.around
  const stays = stayingOf(facts)
  // Mounts on something in it count as well; of any other directory each name in it is checked when it is removed (R036).
  const deep = operation.kind === 'RemoveOrphanPodDir'
  const goingPlaces = (deep ? expectedMounts(facts) : []).map(({ dev, root: path }) => ({ dev, path }))
  const isPods = ({ mountPoint }: MountInfo): boolean => mountPoint.includes(`/pods/${operation.pod?.uid}/`)
  const mountsIn = (of: MountTable): MountUse[] =>
    (deep ? mountsOf(place, of, of === table ? path : undefined) : mountsShowing(place, of)).filter(
      ({ mount }) => stays(mount, of) && !(of === table && isPods(mount)),
    )
  // By its text, a layer in a mount that goes lies in the directory afterwards.
  const overlaysIn = (of: MountTable): Layer[] =>
    [place, ...goingPlaces].flatMap((each) => layersIn(layersByText(of), each))
  return together([
    {
      namespaces: namespaceHolders(ofTheNode(others), (of) =>
        [...mountsIn(of), ...overlaysIn(of)].map(({ mount }) => mount),
      ),
      kernel: [...mountsIn(table).map(describeUse), ...overlaysIn(table).map(describeOverlay)],
    },
  ])
}

/** True for an emptyDir, and the volumes built on it: their content is data (S13). */
export function isEmptyDir({ volume }: Pick<Operation, 'volume'>): boolean {
  return volume !== undefined && pluginNamed(volume.plugin).tearDown === 'emptyDir'
}

// The same by the look: by the mount table and the loop devices of this mount namespace (S12).

/** How many uses are named; the others are counted. */
const MOST = 4

/** Apply checks other mount namespaces, processes, swap files and exports right before it deletes (S26). */
export const contentUsed: Judge = ({ operation, content: dir, context }) => {
  if (dir === undefined) return undefined
  const { mounts } = context.inputs
  const podUid = operation.pod?.uid
  const look = { table: mounts, others: [], layers: layersByText(mounts), named: namedPlaces(context) }
  const removed = new Set([operation, ...operation.after].flatMap(removedBy))
  const isGoing = ({ id }: MountInfo): boolean => removed.has(id)
  // In memory: a mount in the pod's own directories, under any prefix, belongs to this pod.
  const isOwn = (mount: MountInfo): boolean => isGoing(mount) || mount.mountPoint.includes(`/pods/${podUid}/`)
  const usersOf = (place: Location, goes: (mount: MountInfo) => boolean): readonly string[] => [
    ...usesOf(look, place, { path: dir, podUid }, (mount) => !goes(mount) && !leadersOf(mounts, mount).some(goes))
      .kernel,
    ...loopFiles(context.inputs)
      .within(place)
      .map(({ name, backingFile }) => `${name}, backed by ${backingFile}`),
  ]
  // The content below any mount on the directory is meant.
  const onDisk = locateName(mounts, dir)
  // A tmpfs that shows a secret is not data of the pod (S13).
  const own = isEmptyDir(operation) ? operation.expects?.find(({ path }) => path === dir) : undefined
  const layers = own?.layers.filter(isMemory) ?? []
  const inMemory = new Map(layers.map(({ dev, root: path }) => [`${dev} ${path}`, { dev, path }]))
  const users = [
    ...(onDisk === undefined ? [] : usersOf(onDisk, isGoing)),
    ...[...inMemory.values()].flatMap((place) => usersOf(place, isOwn)),
  ]
  if (users.length === 0) return undefined
  return said('HeldBy.otherPath', { dir, users: take(users, MOST).join(', ') })
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

/**
 * Refuses to remove content or directories that are in use under another name (S12, S13). Checked before an operation begins,
 * and again before content is deleted.
 */
import { posix } from 'node:path'
import type { UsingProcess } from '../../base/errors.ts'
import { OperationRefused, StepFailed } from '../../base/operation-error.ts'
import { placeOf } from '../../linux/linked-mounts.ts'
import { type Location, locate } from '../../linux/location.ts'
import { ofTheNode, type Unseen } from '../../linux/mount-namespaces.ts'
import type { MountInfo, MountTable } from '../../linux/mount-table.ts'
import type { ContentLook } from '../../users/content-look.ts'
import { type UsedBy, userAmong } from '../../users/describe-holders.ts'
import { type Holders, namespaceHolders, together } from '../../users/find-holders.ts'
import { describeUse, layersByText, layersIn, type MountUse, mountsOf, mountsShowing } from '../../users/mount-uses.ts'
import { allowedFsTypes } from '../../volumes/plugin.ts'
import { isEmptyDir } from '../operation/empty-dir.ts'
import { expectedIds, stayingOf } from '../operation/expected-mounts.ts'
import type { StepContext } from '../operation/step-context.ts'

/**
 * Checked before the first step, not to leave anything half done: nobody may use the content that the operation deletes,
 * the tmpfs content that is lost with its mounts, or the directory that it removes.
 *
 * @throws OperationRefused HeldBy, UsersUnknown
 */
export async function requireNoUsers(run: StepContext): Promise<void> {
  const { operation } = run
  const targets = contentOf(run)
  for (const target of targets) {
    // No look passes a dead mount: what it covers is looked at once it is off, before anything is deleted.
    if (
      operation.dead?.some(({ path }) => path === target) ||
      run.host.lstat(placeOf(run.around.table, target)) === undefined
    )
      continue
    const refusal = await refusalOf(target, run)
    if (refusal !== undefined) throw new OperationRefused(refusal.code, refusal.message, refusal)
  }
  const where = operation.steps.at(-1)?.target ?? ''
  const places = [...memoryOf(run), ...(targets.length === 0 ? removedBy(run) : [])]
  for (const { place, deep } of places) {
    const user = userAmong(mountUsers(place, where, deep, run), run.context.nameOf)
    if (user === undefined || !('who' in user)) continue
    throw new OperationRefused('HeldBy', `${where} is in use by ${user.who}; nothing was done`, {
      users: user.users ?? [],
      hint: RELEASE_HINT,
    })
  }
}

/** What a dead mount covered, no look before its unmount has seen. @throws StepFailed HeldBy, UsersUnknown */
export async function requireContentUnused(path: string, run: StepContext): Promise<void> {
  const wasCovered = run.operation.dead?.some((each) => each.path === path) === true
  const refusal = await refusalOf(path, run, wasCovered ? performance.now() : undefined)
  if (refusal !== undefined) throw new StepFailed(refusal.code, refusal.message, refusal)
}

const RELEASE_HINT = 'End that use first: the process or the pod that has it so. Then plan again.'

interface Refusal {
  readonly code: 'HeldBy' | 'UsersUnknown'
  readonly message: string
  readonly hint: string
  readonly users?: readonly UsingProcess[]
}

async function refusalOf(path: string, run: StepContext, since?: number): Promise<Refusal | undefined> {
  const user = await userOfContent(path, await run.users(since), run)
  if (user === undefined) return undefined
  if ('who' in user)
    return {
      code: 'HeldBy',
      message: `${path} is in use by ${user.who}; nothing was deleted`,
      hint: RELEASE_HINT,
      users: user.users ?? [],
    }
  return {
    code: 'UsersUnknown',
    message: `the users of ${path} could not be determined: ${user.text}; nothing was deleted`,
    hint: `volctl deletes nothing that may be in use. ${user.hint}`,
  }
}

/** The first user of what is in the directory, once the operation's mounts are gone; what cannot be seen counts as use (S3). */
export async function userOfContent(
  path: string,
  look: ContentLook,
  { host, plan, operation, context }: StepContext,
): Promise<UsedBy | Unseen | undefined> {
  const going = new Set(expectedIds(operation).keys())
  const content = { path, going, rootDir: plan.rootDir, ...(operation.pod && { podUid: operation.pod.uid }) }
  return userAmong(await host.contentHolders(look, content), context.nameOf)
}

interface Removed {
  readonly place: Location
  /**
   * True if mounts on something in the directory count as well; if not, each name in it is checked when it is removed (R036).
   */
  readonly deep: boolean
}

/** Directories whose content is deleted; an empty one too, since a process that has it open could still write to it. */
function contentOf({ operation, around }: StepContext): readonly string[] {
  const emptied = operation.steps.filter(({ op }) => op === 'deleteContent').map(({ target }) => target)
  const last = operation.steps.at(-1)
  if (emptied.length > 0 || last?.op !== 'rmdir' || !isEmptyDir(operation)) return emptied
  return around.table.at(last.target).length > 0 ? [] : [last.target]
}

/** The tmpfs of an emptyDir: its content is lost with its last mount. */
function memoryOf({ operation, around }: StepContext): Removed[] {
  if (operation.deletes === undefined || operation.steps.every(({ op }) => op !== 'umount')) return []
  const types = allowedFsTypes('emptyDir') ?? []
  const layers = [...expectedIds(operation).keys()].flatMap((id) => around.table.byId(id) ?? [])
  const places = layers
    .filter(({ fsType }) => types.includes(fsType))
    .map(({ dev, root }): Removed => ({ place: { dev, path: root }, deep: false }))
  return [...new Map(places.map((each) => [`${each.place.dev} ${each.place.path}`, each])).values()]
}

/** Directories that the operation removes, which somebody may have bind-mounted elsewhere before they were empty. */
function removedBy({ operation, around }: StepContext): Removed[] {
  const isPodDirectory = operation.kind === 'RemoveOrphanPodDir'
  const last = operation.steps.at(-1)
  if (last?.op !== 'rmdir' || !(isPodDirectory || isEmptyDir(operation))) return []
  // Located by the parent directory: mounts on the directory itself are unmounted first.
  const parent = locate(around.table, posix.dirname(last.target))
  if (parent === undefined) return []
  return [
    { place: { dev: parent.dev, path: posix.join(parent.path, posix.basename(last.target)) }, deep: isPodDirectory },
  ]
}

/** Users of the place by mounts and overlays. */
function mountUsers(place: Location, path: string, deep: boolean, run: StepContext): Holders {
  const { operation } = run
  const { table, others } = run.around
  const stays = stayingOf(run)
  const goingPlaces = [...expectedIds(operation).keys()].flatMap((id) => {
    const mount = deep ? table.byId(id) : undefined
    return mount === undefined ? [] : [{ dev: mount.dev, path: mount.root }]
  })
  const isPods = ({ mountPoint }: MountInfo): boolean => mountPoint.includes(`/pods/${operation.pod?.uid}/`)
  const usesIn = (of: MountTable): MountUse[] => [
    ...(deep ? mountsOf(place, of, of === table ? path : undefined) : mountsShowing(place, of)).filter(
      ({ mount }) => stays(mount, of) && !(of === table && isPods(mount)),
    ),
    // By its text, a layer in a mount that goes lies in the directory afterwards.
    ...[place, ...goingPlaces].flatMap((each) => layersIn(layersByText(of), each)),
  ]
  return together([
    {
      namespaces: namespaceHolders(ofTheNode(others), (of) => usesIn(of).map(({ mount }) => mount)),
      kernel: usesIn(table).map(describeUse),
    },
  ])
}

/**
 * Last step: directories of orphaned pods (R601-R615, contract RemoveOrphanPodDir). All or nothing, and only names that the
 * kubelet itself creates; anything else keeps the directory, and is reported.
 */

import { present } from '../base/text.ts'
import { whoMounted } from '../linux/mount-table.ts'
import { causeOf } from '../messages/codes.ts'
import { type Hint, said } from '../messages/findings.ts'
import { CLEAR_AWAY } from '../messages/path-codes.ts'
import { type Draft, ON_NODE, removedBy } from '../plan/draft.ts'
import { followsFrom } from '../plan/name-causes.ts'
import { lostAtStart, type PlanContext } from '../rules/context.ts'
import type { PodClass } from '../rules/pods/pod-classes.ts'
import { unreadObstacle, waitToSettle } from '../rules/unread.ts'
import type { Because } from '../volumes/finding.ts'
import { isWithinAny, mayNotBeUtf8, parentOf } from '../volumes/on-disk/tree.ts'
import type { TreeEntry } from '../volumes/snapshot.ts'
import type { Step } from '../volumes/steps.ts'
import { isNamed } from './filter-operations.ts'
import { isEmptied, tearDown } from './tear-down/tear-down.ts'

export function removeOrphanPodDirs(context: PlanContext): void {
  const { inputs, classes } = context
  let removable = 0
  for (const pod of classes.gone) {
    const directory = `pods/${pod.uid}`
    if (!inputs.tree.isDir(directory)) continue
    const isRemovable = removeOrphanPodDir(context, pod)
    if (isRemovable && isNamed(context, { pod: pod.ref, paths: [inputs.absolute(directory)] })) removable += 1
  }
  if (removable > 0)
    context.findings.problem(
      'info',
      said('OrphanPodDir.removable', { removable, plural: removable === 1 ? 'y' : 'ies' }),
      ON_NODE,
    )
}

/** @returns whether only --orphans is missing for the directory to be removed */
function removeOrphanPodDir(context: PlanContext, pod: PodClass): boolean {
  const { inputs, options, ledger, findings } = context
  const base = `pods/${pod.uid}`
  const dir = inputs.absolute(base)
  const subject = { pod: pod.uid }
  const mine = findings.ofPod(pod.uid)
  const leave = (rule: string, why: string): void => {
    findings.unchanged.push({ path: dir, rule, why, subject })
  }
  if (findings.isPodWaiting(pod.uid)) {
    leave('S11', "the pod's volumes wait to be torn down, and its directory stays until then")
    return false
  }
  const rest = remaining(context, pod, mine)
  const removed = new Set(mine.flatMap(removedBy))
  const reasons = present(reasonToKeep(context, pod, mine, removed), strayKept(context, pod, rest))
  for (const { message, path = base, hint, because } of reasons) {
    const about = { pod: pod.uid, path: inputs.absolute(path), subject: ledger.path(path) }
    findings.problem('warning', said('OrphanDirKept', { dir, message }), about, hint, because)
  }
  if (reasons.length > 0) return false
  if (!options.orphans) {
    const wait = waitToSettle(context, pod)
    if (wait !== undefined) leave('S11', wait.message)
    else leave('R612', "the directory can be removed with --orphans, once the pod's volumes are torn down")
    return wait === undefined
  }
  const steps: Step[] = rest
    .toReversed()
    .map(({ type, path }) => ({ op: type === 'dir' ? 'rmdir' : 'unlink', target: path }))
  tearDown(context, {
    kind: 'RemoveOrphanPodDir',
    subject,
    pod,
    ...said('OrphanPodDir.left'),
    rule: 'R612',
    steps: [...steps, { op: 'rmdir', target: base }],
    paths: [base],
    after: mine,
    content: dir,
  })
  return false
}

interface Keep {
  readonly message: string
  readonly path?: string
  readonly hint?: Hint
  readonly because?: Because
}

function reasonToKeep(
  { inputs }: PlanContext,
  pod: PodClass,
  mine: readonly Draft[],
  removed: ReadonlySet<number>,
): Keep | undefined {
  for (const draft of mine) {
    const { blocked } = draft
    if (blocked === undefined || causeOf(blocked.code) === 'data') continue
    const message = `${draft.kind} of ${draft.volume?.name ?? 'a volume'} is blocked (${blocked.message})`
    return { message, because: followsFrom(draft, blocked) }
  }
  const mount = inputs.mountsWithin(`pods/${pod.uid}`).find((each) => !removed.has(each.id))
  if (mount === undefined) return unreadObstacle(inputs, [`pods/${pod.uid}`])
  const path = inputs.pathOf(mount)
  const at = inputs.absolute(path)
  return { message: `${at} is mounted (${mount.fsType})`, path, hint: whoMounted(at) }
}

/** A kubelet keeps the directory for a file of a volume or a sub-path; where there is none, it deletes all else (O12, O47). */
function strayKept(context: PlanContext, pod: PodClass, rest: readonly TreeEntry[]): Keep | undefined {
  const { inputs, ledger } = context
  const strays = rest.filter((entry) => !madeByKubelet(pod.uid, entry))
  const emptied = new Set(ledger.podVolumes(pod.uid).flatMap((volume) => (isEmptied(volume) ? volume.dir : [])))
  const holding = new Set(['volumes', 'volume-subpaths'].map((name) => `pods/${pod.uid}/${name}`))
  const held = strays.find(({ path }) => isWithinAny(path, holding) && !isWithinAny(path, emptied))
  const stray = held ?? strays[0]
  if (stray === undefined) return undefined
  const { path, error, type, size } = stray
  const keep: Keep = {
    message: `${inputs.absolute(path)} (${error ?? `${type}${size === undefined ? '' : `, ${size} bytes`}`}) was not created by the kubelet`,
    path,
    hint: CLEAR_AWAY,
  }
  return held === undefined ? lostAtStart(context, keep) : keep
}

/** Entries of the pod's directory that its other operations do not remove, parents first. */
function remaining({ inputs }: PlanContext, pod: PodClass, mine: readonly Draft[]): TreeEntry[] {
  const gonePaths = new Set<string>()
  const emptied = new Set<string>()
  for (const step of mine.flatMap((draft) => draft.steps)) {
    const path = inputs.relative(step.target)
    if (step.op === 'rmdir' || step.op === 'unlink' || step.op === 'NodeUnpublishVolume') gonePaths.add(path)
    if (step.op === 'deleteContent' || step.op === 'umount') emptied.add(path)
  }
  return inputs.tree
    .descendants(`pods/${pod.uid}`)
    .filter((entry) => !gonePaths.has(entry.path) && !isWithinAny(parentOf(entry.path), emptied))
}

/** Directories, and files by the names that the kubelet gives them (contract; N4, P149); none of these is not UTF-8. */
function madeByKubelet(uid: string, entry: TreeEntry): boolean {
  if (entry.error !== undefined || mayNotBeUtf8(entry.path)) return false
  if (entry.type === 'dir') return true
  if (entry.type !== 'file') return false
  const parts = entry.path.slice(`pods/${uid}/`.length).split('/')
  const [top] = parts
  if (parts.length === 1) return top === 'etc-hosts' || top === 'userns'
  if (top === 'containers') return parts.length === 3
  if (top === 'plugins') return parts.length === 4 && parts[3] === 'ready'
  // An empty file that the kubelet makes as the mount point of a sub-path file (P136); a file with content is somebody's
  // data.
  return top === 'volume-subpaths' && parts.length === 4 && entry.size === 0
}

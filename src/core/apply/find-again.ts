/** Finds the operations of a plan in a plan that was made just now: each one that no longer matches is refused (S26). */

import { memoize } from '../base/collections.ts'
import { type Finding, said, saidOfAny, VolctlError } from '../messages/findings.ts'
import type { AnyOperation, AnyWaiting } from '../plan/cluster-plan.ts'
import { differencesOf, differencesText } from '../plan/differences.ts'
import type { Difference } from '../plan/events.ts'
import { SETTING_UP } from '../plan/kinds.ts'
import type { Operation, Plan, ReviewedPlan } from '../plan/plan.ts'
import { summaryOf } from '../plan/plan-summary.ts'
import { areOfOneRow, type Blocked, podOf } from '../volumes/finding.ts'
import type { NodeSnapshot, NodeState } from '../volumes/snapshot.ts'
import type { Step } from '../volumes/steps.ts'

export interface FoundAgain<Op extends AnyOperation = Operation> {
  /** The fresh plan's operation: this one is carried out. */
  readonly operation: Op
  /** ALREADY_DONE, or why not. */
  readonly refused?: Blocked
  /** How the operation has changed. */
  readonly differences?: readonly Difference[]
}

/** How operations of a scope are compared. */
interface Comparison<Op extends AnyOperation> {
  /** True if all is already as the operation would make it. */
  isDone(planned: Op): boolean
  /** Why the plan does not have an operation for which nothing waits. */
  whyGone(planned: Op): string
  /** Whether an operation that is blocked now is refused for that. */
  refuses(blocked: Blocked): boolean
}

/**
 * An operation counts as the same when it would do the same, step by step, to the same things, for the same reason. Only the choice of
 * operations and their order are taken from the reviewed plan.
 *
 * @param fresh a plan made just now
 * @returns what finds a reviewed operation there
 */
export function finderIn<Op extends AnyOperation>(
  { operations, waiting }: { readonly operations: readonly Op[]; readonly waiting: readonly AnyWaiting[] },
  { isDone, whyGone, refuses }: Comparison<Op>,
): (planned: Op) => FoundAgain<Op> {
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  return (planned) => {
    if (planned.blocked !== undefined) return { operation: planned }
    const found = byId.get(planned.id)
    if (found === undefined) {
      if (isDone(planned)) return { operation: planned, refused: ALREADY_DONE }
      const why = waiting.find((each) => isAbout(each, planned))?.message ?? whyGone(planned)
      return { operation: planned, refused: changed(said('Changed.notNeeded', { why })) }
    }
    if (found === planned) return { operation: found }
    if (found.blocked !== undefined && refuses(found.blocked)) {
      const { blocked } = found
      // Its users and its cause stay.
      return {
        operation: planned,
        refused: { ...blocked, ...saidOfAny(blocked.code, 'now', { why: blocked.message }) },
      }
    }
    const differences = differencesOf(planned, found, (id) => byId.has(id))
    if (differences.length > 0) {
      const refused = changed(said('Changed.differs', { differences: differencesText(differences) }))
      return { operation: planned, refused, differences }
    }
    // The reviewed order holds even for predecessors that are now refused: operations that depend on them are skipped (S26).
    return { operation: { ...found, after: planned.after } }
  }
}

/** Of one pod, or of one volume. */
function isAbout(wait: AnyWaiting, { subject }: AnyOperation): boolean {
  const pod = podOf(subject)
  return (pod !== undefined && podOf(wait.subject) === pod) || areOfOneRow(wait.subject, subject)
}

/** Nothing of the operation is left to do: it is refused for that alone. */
export const ALREADY_DONE: Blocked = said('AlreadyDone')

function changed(finding: Finding<'Changed'>): Blocked {
  return { ...finding, hint: 'Plan again, and look at what has changed.' }
}

/** @throws VolctlError OtherNode, Changed: a plan file of another node, or from before the last boot */
export function requireSameNode(plan: ReviewedPlan, fresh: ReviewedPlan): void {
  const here = `${fresh.node} (${fresh.rootDir})`
  if (plan.node !== fresh.node || plan.rootDir !== fresh.rootDir) {
    throw new VolctlError(said('OtherNode.plan', { ...plan, here }))
  }
  for (const id of ['machineID', 'systemUUID'] as const) {
    const [was, now] = [plan.inputs.machine[id], fresh.inputs.machine[id]]
    if (was !== now) {
      throw new VolctlError(said('OtherNode.machine', { id, was: was ?? 'unknown', here, now: now ?? 'unknown' }))
    }
  }
  if (plan.bootID !== fresh.bootID) {
    throw new VolctlError(said('Changed.boot'))
  }
}

/** @param isDone true if the node is already as the operation would make it */
export function findAgain(plan: ReviewedPlan, fresh: Plan, isDone: (operation: Operation) => boolean): FoundAgain[] {
  const whyGone = () => 'it was done already, or there is no more reason for it'
  return plan.operations.map(finderIn(fresh, { isDone, whyGone, refuses: () => true }))
}

/**
 * What a saved plan would do now, to be shown before the confirmation (S31): the node as it is now, and the saved
 * operations. Those that no longer match are blocked, with what has changed.
 *
 * @throws VolctlError OtherNode, Changed
 */
export function planToReview(saved: ReviewedPlan, fresh: Plan, isDone: (operation: Operation) => boolean): Plan {
  requireSameNode(saved, fresh)
  const operations = findAgain(saved, fresh, isDone).map(({ operation, refused }): Operation => {
    if (refused === undefined || operation.blocked !== undefined) return operation
    return { ...operation, blocked: refused }
  })
  return { ...fresh, operations, summary: summaryOf({ ...fresh, operations }, fresh.summary.filtered) }
}

/**
 * True if the node is already as this operation would make it. Used for an operation that a fresh plan no longer has,
 * so that a person who carries out a plan file twice learns that. An effect that the look does not show counts as not
 * done.
 */
export function isDone({ kind, steps }: Operation, state: NodeState): boolean {
  if (steps.length === 0) return false
  const holds = SETTING_UP.has(kind) ? isMade : isGone
  return steps.every((step) => holds(step, state))
}

/** Nothing is mounted on the path, and the path does not exist. */
function isGone({ op, target }: Step, { snapshot, mounts }: NodeState): boolean {
  if (op === 'deleteVolumeAttachment') {
    const attachments = snapshot.api?.volumeAttachments
    return attachments?.every(({ metadata }) => `volumeattachments/${metadata.name}` !== target) === true
  }
  if (snapshot.tree === undefined) return false
  // A loop device outlives its volume, and then has another backing file.
  if (!target.startsWith(`${snapshot.rootDir}/`)) return op === 'losetup -d'
  return mounts.at(target).length === 0 && !pathsOf(snapshot).has(relativeTo(snapshot, target))
}

/** The operation's mounts exist. Their content is not compared: a wanted volume with other content has an operation. */
function isMade({ op, target }: Step, { snapshot, mounts }: NodeState): boolean {
  if (MOUNTS.has(op)) return mounts.at(target).length > 0
  return op !== 'mkdir' || mounts.at(target).length > 0 || pathsOf(snapshot).has(relativeTo(snapshot, target))
}

const MOUNTS: ReadonlySet<Step['op']> = new Set(['mount', 'mountDevice', 'mapDevice', 'NodePublishVolume'])

const pathsOf = memoize(({ tree }: NodeSnapshot): ReadonlySet<string> => new Set(tree?.map(({ path }) => path)))

function relativeTo({ rootDir }: NodeSnapshot, target: string): string {
  return target.slice(rootDir.length + 1)
}

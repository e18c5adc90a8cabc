/** Finds the operations of a plan in a plan that was made just now: each one that no longer matches is refused (S26). */
import { VolctlError } from '../base/errors.ts'
import { memoize } from '../base/memoize.ts'
import type { NodeSnapshot, NodeState } from '../facts/actual/snapshot.ts'
import type { AnyOperation } from '../plan/cluster-plan.ts'
import { differencesOf, differencesText } from '../plan/differences.ts'
import type { Difference } from '../plan/events.ts'
import type { Blocked, Operation, Plan, ReviewedPlan, Step } from '../plan/plan.ts'
import { summaryOf } from '../plan/plan-summary.ts'
import { areOfOneRow, podOf } from '../plan/subject.ts'

export interface FoundAgain<Op extends AnyOperation = Operation> {
  /** The fresh plan's operation: this one is carried out. */
  readonly operation: Op
  readonly refused?: Blocked
  /** It is refused only because nothing of it is left to do. */
  readonly alreadyDone?: boolean
  /** How the operation has changed. */
  readonly differences?: readonly Difference[]
}

/** A plan made just now, and how operations of its kind are compared. */
export interface Comparison<Op extends AnyOperation> {
  readonly byId: ReadonlyMap<string, Op>
  /** True if all is already as the operation would make it. */
  isDone(planned: Op): boolean
  /** Why the plan does not have the operation. */
  whyGone(planned: Op): string
  /** Whether an operation that is blocked now is refused for that. */
  refuses(blocked: Blocked): boolean
}

/**
 * An operation counts as the same when it would do the same, step by step, to the same things, for the same reason. Only the choice of
 * operations and their order are taken from the reviewed plan.
 */
export function foundAgain<Op extends AnyOperation>(planned: Op, fresh: Comparison<Op>): FoundAgain<Op> {
  if (planned.blocked !== undefined) return { operation: planned }
  const { byId } = fresh
  const found = byId.get(planned.id)
  if (found === undefined) {
    const alreadyDone = fresh.isDone(planned)
    const refused = alreadyDone ? ALREADY_DONE : noLongerPlanned(fresh.whyGone(planned))
    return { operation: planned, refused, alreadyDone }
  }
  if (found === planned) return { operation: found }
  if (found.blocked !== undefined && fresh.refuses(found.blocked)) {
    const { blocked } = found
    return { operation: planned, refused: { ...blocked, message: `blocked now: ${blocked.message}` } }
  }
  const differences = differencesOf(planned, found, (id) => byId.has(id))
  if (differences.length > 0) return { operation: planned, refused: changed(differences), differences }
  // The reviewed order holds even for predecessors that are now refused: operations that depend on them are skipped (S26).
  return { operation: { ...found, after: planned.after } }
}

const PLAN_AGAIN = 'Plan again, and look at what has changed.'

const ALREADY_DONE: Blocked = {
  code: 'AlreadyDone',
  message: 'already done: nothing of what the operation would do is left to do',
}

function noLongerPlanned(why: string): Blocked {
  return { code: 'Changed', message: `no longer needed by a plan made now: ${why}`, hint: PLAN_AGAIN }
}

function changed(differences: readonly Difference[]): Blocked {
  return {
    code: 'Changed',
    message: `changed since the plan was made: ${differencesText(differences)}`,
    hint: PLAN_AGAIN,
  }
}

/** @throws VolctlError OtherNode, Changed: a plan file of another node, or from before the last boot */
export function requireSameNode(plan: ReviewedPlan, fresh: ReviewedPlan): void {
  const here = `${fresh.node} (${fresh.rootDir})`
  if (plan.node !== fresh.node || plan.rootDir !== fresh.rootDir) {
    throw otherNode(`the plan was made for node ${plan.node} (${plan.rootDir}), but this is ${here}`)
  }
  for (const id of ['machineID', 'systemUUID'] as const) {
    const [was, now] = [plan.inputs.machine[id], fresh.inputs.machine[id]]
    if (was !== now) {
      throw otherNode(
        `the plan was made for a machine with ${id} ${was ?? 'unknown'}, but ${here} has ${now ?? 'unknown'}`,
      )
    }
  }
  if (plan.bootID !== fresh.bootID) {
    throw new VolctlError('Changed', 'the plan was made before the last boot of this node', { hint: 'Plan again.' })
  }
}

function otherNode(message: string): VolctlError {
  return new VolctlError('OtherNode', message, { hint: 'Apply the plan on the node that it was made for.' })
}

/** @param isDone true if the node is already as the operation would make it */
export function findAgain(
  plan: Pick<ReviewedPlan, 'operations'>,
  fresh: Plan,
  isDone: (operation: Operation) => boolean = () => false,
): FoundAgain[] {
  const comparison: Comparison<Operation> = {
    byId: new Map(fresh.operations.map((operation) => [operation.id, operation])),
    isDone,
    whyGone: (planned) => whyGone(planned, fresh),
    refuses: () => true,
  }
  return plan.operations.map((planned) => foundAgain(planned, comparison))
}

function whyGone({ subject }: Operation, fresh: Plan): string {
  const pod = podOf(subject)
  const waiting = fresh.waiting.find(
    (each) => (pod !== undefined && podOf(each.subject) === pod) || areOfOneRow(each.subject, subject),
  )
  return waiting === undefined ? 'it was done already, or there is no more reason for it' : waiting.message
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
  const holds = kind === 'MountVolume' || kind === 'MapVolume' ? isMade : isGone
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

/** Finds the operations of a plan in a plan that was made just now: each one that no longer matches is refused (S26). */
import { VolctlError } from '../../errors/errors.ts'
import { type Difference, differencesOf, differencesText } from '../../plan/differences.ts'
import type { Blocked, Operation, Plan, ReviewedPlan } from '../../plan/plan.ts'

export interface FoundAgain {
  /** The fresh plan's operation: this one is carried out. */
  readonly operation: Operation
  readonly refused?: Blocked
  /** It is refused only because nothing of it is left to do. */
  readonly alreadyDone?: boolean
  /** How the operation has changed. */
  readonly differences?: readonly Difference[]
}

/** @throws VolctlError OtherNode, PlanTooOld: a plan file of another node, or from before the last boot */
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
    throw new VolctlError('PlanTooOld', 'the plan was made before the last boot of this node', { hint: 'Plan again.' })
  }
}

function otherNode(message: string): VolctlError {
  return new VolctlError('OtherNode', message, { hint: 'Apply the plan on the node that it was made for.' })
}

/**
 * An operation counts as the same when it would do the same, step by step, to the same things. Only the choice of
 * operations and their order are taken from the reviewed plan.
 *
 * @param isDone true if the node is already as the operation would make it
 */
export function findAgain(
  plan: Pick<ReviewedPlan, 'operations'>,
  fresh: Plan,
  isDone: (operation: Operation) => boolean = () => false,
): FoundAgain[] {
  const byId = new Map(fresh.operations.map((operation) => [operation.id, operation]))
  return plan.operations.map((planned) => {
    const found = byId.get(planned.id)
    if (planned.blocked !== undefined) return { operation: planned }
    if (found === undefined) {
      const alreadyDone = isDone(planned)
      return { operation: planned, refused: alreadyDone ? ALREADY_DONE : noLongerPlanned(planned, fresh), alreadyDone }
    }
    if (found === planned) return { operation: found }
    if (found.blocked !== undefined) return { operation: planned, refused: blockedNow(found.blocked) }
    const differences = differencesOf(planned, found, (id) => byId.has(id))
    if (differences.length > 0) return { operation: planned, refused: changed(differences), differences }
    // The reviewed order holds even for predecessors that are now refused: operations that depend on them are skipped (S26).
    return { operation: { ...found, after: planned.after } }
  })
}

const ALREADY_DONE: Blocked = {
  code: 'AlreadyDone',
  message: 'already done: nothing of what the operation would do is left to do',
}

function noLongerPlanned({ pod, volume }: Operation, fresh: Plan): Blocked {
  const waiting = fresh.waiting.find(
    (each) =>
      (pod !== undefined && each.pod?.uid === pod.uid) ||
      (volume?.uniqueName !== undefined && each.volume?.uniqueName === volume.uniqueName),
  )
  const why = waiting === undefined ? 'it was done already, or there is no more reason for it' : waiting.message
  return {
    code: 'NoLongerPlanned',
    message: `no longer needed by a plan made now: ${why}`,
    hint: 'Plan again, and look at what has changed.',
  }
}

function blockedNow(blocked: Blocked): Blocked {
  return { ...blocked, message: `blocked now: ${blocked.message}` }
}

function changed(differences: readonly Difference[]): Blocked {
  return {
    code: 'Changed',
    message: `changed since the plan was made: ${differencesText(differences)}`,
    hint: 'Plan again, and look at what has changed.',
  }
}

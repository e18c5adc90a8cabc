/** Finding the operations of a plan again in a plan made just now: what no longer holds is refused, one by one (S26). */
import { VolctlError } from '../../errors/errors.ts'
import { type Difference, differencesOf, differencesText } from '../../plan/differences.ts'
import type { Blocked, Operation, Plan, ReviewedPlan } from '../../plan/plan.ts'

export interface FoundAgain {
  /** As the fresh plan has it: this is what is carried out. */
  readonly operation: Operation
  readonly refused?: Blocked
  /** Why it counts as changed. */
  readonly differences?: readonly Difference[]
}

/** @throws VolctlError OtherNode, PlanTooOld: a plan file of another node, or from before the last boot */
export function requireSameNode(plan: ReviewedPlan, fresh: ReviewedPlan): void {
  const here = `${fresh.node} (${fresh.rootDir})`
  if (plan.node !== fresh.node || plan.rootDir !== fresh.rootDir) {
    throw otherNode(`the plan is of node ${plan.node} (${plan.rootDir}), this is ${here}`)
  }
  for (const id of ['machineID', 'systemUUID'] as const) {
    const [was, now] = [plan.inputs.machine[id], fresh.inputs.machine[id]]
    if (was !== now) {
      throw otherNode(
        `the plan is of a machine with ${id} ${was ?? 'unknown'}, this is ${here} with ${now ?? 'unknown'}`,
      )
    }
  }
  if (plan.bootID !== fresh.bootID) {
    throw new VolctlError('PlanTooOld', 'the plan was made before this node was booted', { hint: 'Plan again.' })
  }
}

function otherNode(message: string): VolctlError {
  return new VolctlError('OtherNode', message, { hint: 'Apply it on the node that it was made on.' })
}

/**
 * An operation counts as the same when it would do the same, step by step, to the same things. Of the reviewed plan
 * only the choice is taken, and what had to come first.
 */
export function findAgain(plan: Pick<ReviewedPlan, 'operations'>, fresh: Plan): FoundAgain[] {
  const byId = new Map(fresh.operations.map((operation) => [operation.id, operation]))
  return plan.operations.map((planned) => {
    const found = byId.get(planned.id)
    if (planned.blocked !== undefined) return { operation: planned }
    if (found === undefined) return { operation: planned, refused: noLongerPlanned(planned, fresh) }
    if (found === planned) return { operation: found }
    if (found.blocked !== undefined) return { operation: planned, refused: blockedNow(found.blocked) }
    const differences = differencesOf(planned, found, (id) => byId.has(id))
    if (differences.length > 0) return { operation: planned, refused: changed(differences), differences }
    // What is done or refused by now is still waited for: whoever depends on it is dropped (S26).
    return { operation: { ...found, after: planned.after } }
  })
}

function noLongerPlanned({ pod, volume }: Operation, fresh: Plan): Blocked {
  const waiting = fresh.waiting.find(
    (each) =>
      (pod !== undefined && each.pod?.uid === pod.uid) ||
      (volume?.uniqueName !== undefined && each.volume?.uniqueName === volume.uniqueName),
  )
  const why = waiting === undefined ? 'it is done already, or its reason is gone' : waiting.message
  return {
    code: 'NoLongerPlanned',
    message: `a fresh look does not plan it any more: ${why}`,
    hint: 'Plan again, and look at what has changed.',
  }
}

function blockedNow(blocked: Blocked): Blocked {
  return { ...blocked, message: `blocked now: ${blocked.message}` }
}

function changed(differences: readonly Difference[]): Blocked {
  return {
    code: 'Changed',
    message: `it is not what the plan was made on any more: ${differencesText(differences)}`,
    hint: 'Plan again, and look at what has changed.',
  }
}

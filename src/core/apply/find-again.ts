/** Finding the operations of a plan again in a plan made just now: what no longer holds is refused, one by one (S26). */
import { VolctlError } from '../errors.ts'
import type { Operation, Plan } from '../plan/plan.ts'
import { OperationRefused } from './operation-error.ts'

export interface FoundAgain {
  /** As the fresh plan has it: this is what is carried out. */
  readonly operation: Operation
  readonly refused?: OperationRefused
}

/** @throws VolctlError OtherNode, PlanTooOld: a plan file of another node, or from before the last boot */
export function requireSameNode(plan: Plan, fresh: Plan): void {
  if (plan.node !== fresh.node || plan.rootDir !== fresh.rootDir) {
    throw new VolctlError(
      'OtherNode',
      `the plan is of node ${plan.node} (${plan.rootDir}), this is ${fresh.node} (${fresh.rootDir})`,
      {
        hint: 'Apply it on the node that it was made on.',
      },
    )
  }
  if (plan.bootID !== undefined && fresh.bootID !== undefined && plan.bootID !== fresh.bootID) {
    throw new VolctlError('PlanTooOld', 'the plan was made before this node was booted', { hint: 'Plan again.' })
  }
}

/** An operation counts as the same when it would do the same, step by step, to the same things. */
export function findAgain(plan: Plan, fresh: Plan): FoundAgain[] {
  const byId = new Map(fresh.operations.map((operation) => [operation.id, operation]))
  return plan.operations.map((planned) => {
    const found = byId.get(planned.id)
    if (planned.blocked !== undefined) return { operation: planned }
    const refused = found === undefined ? noLongerPlanned(planned, fresh) : difference(planned, found)
    if (refused !== undefined) return { operation: planned, refused }
    return { operation: { ...(found ?? planned), after: planned.after } }
  })
}

function noLongerPlanned({ pod, volume }: Operation, fresh: Plan): OperationRefused {
  const waiting = fresh.waiting.find(
    (each) =>
      (pod !== undefined && each.pod?.uid === pod.uid) ||
      (volume?.uniqueName !== undefined && each.volume?.uniqueName === volume.uniqueName),
  )
  const why = waiting === undefined ? 'it is done already, or its reason is gone' : waiting.message
  return new OperationRefused('NoLongerPlanned', `a fresh look does not plan it any more: ${why}`, {
    hint: 'Plan again, and look at what has changed.',
  })
}

function difference(planned: Operation, found: Operation): OperationRefused | undefined {
  if (found === planned) return undefined
  if (found.blocked !== undefined) {
    const { code, message, hint } = found.blocked
    return new OperationRefused(code, `blocked now: ${message}`, hint === undefined ? {} : { hint })
  }
  const added = found.after.filter((id) => !planned.after.includes(id))
  if (added.length === 0 && essence(planned) === essence(found)) return undefined
  return new OperationRefused('Changed', 'it would not do the same any more as when the plan was made', {
    hint: 'Plan again, and look at what has changed.',
  })
}

function essence({ kind, pod, volume, steps, paths, expects, attachment, deletes }: Operation): string {
  const { driver, handle, uniqueName, device } = volume ?? {}
  return JSON.stringify([
    kind,
    pod?.uid,
    driver,
    handle,
    uniqueName,
    device,
    steps,
    paths,
    expects,
    attachment,
    deletes,
  ])
}

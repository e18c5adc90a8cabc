/** How far everything that is waited for is, by one look. Pure. */

import { defined } from '../lang/defined.ts'
import type { NodeState } from '../model/node-state.ts'
import type { Plan, PlanOptions } from '../plan/plan.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { isNamed } from '../reconcile/context/filter-operations.ts'
import { makeContext } from '../reconcile/plan-context.ts'
import { decideNode } from '../reconcile/plan-node.ts'
import { attachedName, detached, isDetachUnseen, mounted, unmounted } from './target-state.ts'
import type { WaitCondition, WaitedTarget } from './wait-result.ts'
import type { WaitTarget } from './wait-target.ts'

/** @param targets of waitTargets, found in the first look */
export function waitState(
  state: NodeState,
  options: PlanOptions,
  targets: readonly WaitTarget[],
  condition: WaitCondition,
): readonly WaitedTarget[] {
  if (condition === 'in-sync') {
    const { plan, context } = decideNode(state, options, undefined, 'again')
    return targets.map(({ name }) => ({ name, ...inSync(plan, context) }))
  }
  const context = makeContext(state, options)
  return targets.map((target) => targetState(context, target, condition))
}

/**
 * What is attached, as far as is known, and would never be seen detached with this credential, by name: waiting for that has no end.
 */
export function unseenDetaches(
  state: NodeState,
  options: PlanOptions,
  targets: readonly WaitTarget[],
): readonly string[] {
  const context = makeContext(state, options)
  return targets.flatMap((target) => {
    if (target.kind === 'node') return []
    const volumes = target.kind === 'pod' ? [...target.volumes.keys()] : [attachedName(context, target)]
    return volumes.some((name) => name !== undefined && isDetachUnseen(context, name)) ? [target.name] : []
  })
}

function targetState(
  context: PlanContext,
  target: WaitTarget,
  condition: Exclude<WaitCondition, 'in-sync'>,
): WaitedTarget {
  const { name } = target
  if (target.kind === 'node') return { name, state: 'pending', message: '' }
  const of = target.kind === 'pod' ? { pod: target.ref } : defined({ volume: target.uniqueName })
  return { name, ...of, ...STATES[condition](context, target) }
}

const STATES = { mounted, unmounted, detached } as const

/** The plan has no operation, not even a blocked one, nothing waits, and it is complete. */
function inSync(plan: Plan, { options, ledger }: PlanContext): Omit<WaitedTarget, 'name'> {
  const { operations, refused, complete, problems } = plan
  if (refused !== undefined) return { state: 'pending', message: refused.message }
  const waiting = plan.waiting.filter((each) => isNamed(each, options, ledger))
  if (operations.length + waiting.length > 0) {
    const [first] = [...operations.map(({ message }) => message), ...waiting.map(({ message }) => message)]
    return {
      state: 'pending',
      message: `operations=${operations.length}, waiting=${waiting.length}`,
      ...defined({ why: first }),
    }
  }
  const unknown = problems.find(({ severity }) => severity === 'error')
  if (complete) return { state: 'reached', message: 'the plan has no operation, and nothing waits' }
  return { state: 'pending', message: 'the plan is not complete', ...defined({ why: unknown?.message }) }
}

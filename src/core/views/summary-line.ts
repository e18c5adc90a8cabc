import { OPERATION_GROUPS, type OperationKind, type Plan } from '../plan/plan.ts'
import { count } from './words.ts'

/** The plan's last line: operations by the groups that `--only` takes, then what is blocked, waits or is wrong. */
export function summaryLine(plan: Plan): string {
  const { summary } = plan
  const rest = [
    ...(summary.blocked > 0 ? [`${summary.blocked} blocked`] : []),
    ...(summary.waiting > 0 ? [`${summary.waiting} waiting`] : []),
    ...(summary.problems > 0 ? [count(summary.problems, 'problem')] : []),
    ...(summary.filtered > 0 ? [`${summary.filtered} left out by flags`] : []),
  ]
  const todo = groupCounts(summary.operations)
  if (todo.length > 0) return `Plan: ${[todo.join(', '), ...rest].join('; ')}.`
  if (rest.length > 0) return `Nothing to do: no operation is needed; ${rest.join('; ')}.`
  // Of what was not seen nothing is promised (S3).
  return plan.complete
    ? 'Nothing to do: every volume on this node is as it should be.'
    : 'Nothing to do: no operation is needed, as far as volctl could read the node.'
}

/** `3 unmount`, `1 device`, in the order of the groups; blocked operations are counted too. */
export function groupCounts(operations: Readonly<Partial<Record<OperationKind, number>>>): string[] {
  return Object.entries(OPERATION_GROUPS).flatMap(([group, kinds]) => {
    const total = kinds.reduce((sum, kind: OperationKind) => sum + (operations[kind] ?? 0), 0)
    return total > 0 ? [`${total} ${group}`] : []
  })
}

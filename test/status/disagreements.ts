/** Where a status and the plan of the same node contradict each other. */

import type { Status } from '../../src/core/explain/status/status.ts'
import type { Plan } from '../../src/core/plan/plan.ts'

export function disagreements(plan: Plan, { rows, problems }: Status): string[] {
  const shown = new Set(rows.flatMap(({ operations }) => operations))
  const codes = new Set(rows.flatMap(({ verdict: { code, also } }) => [code, ...also]))
  const ids = new Set(plan.operations.map(({ id }) => id))
  const isGoodInVain = ({ verdict, operations }: Status['rows'][number]): boolean =>
    verdict.state === 'good' && operations.length > 0
  return [
    ...plan.operations.flatMap(({ id, kind, paths }) =>
      shown.has(id) || kind === 'RemoveOrphanPodDir' ? [] : [`no row has ${kind} of ${paths[0]}`],
    ),
    ...[...shown].filter((id) => !ids.has(id)).map((id) => `the plan has no operation ${id}`),
    ...plan.waiting.flatMap(({ kind, code }) =>
      codes.has(code) || kind === 'RemoveOrphanPodDir' ? [] : [`no row waits with ${code}: ${kind}`],
    ),
    ...plan.problems.flatMap((problem) =>
      problem.severity === 'info' ||
      codes.has(problem.code) ||
      problems.some(({ message }) => message === problem.message)
        ? []
        : [`nothing shows ${problem.code}`],
    ),
    ...rows.filter(isGoodInVain).map(({ volume }) => `${volume.name} is good, and has an operation`),
  ]
}

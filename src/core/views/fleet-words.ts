import { count } from '../lang/count.ts'
import type { PlanFleet } from '../plan/cluster-plan.ts'

/** What snapshots of nodes there were, and how far they help. */
export function fleetWords({ nodes, without, unusable }: Pick<PlanFleet, 'nodes' | 'without' | 'unusable'>): string {
  const words = [`${count(nodes, 'node')} shown whole`]
  if (unusable.length > 0) words.push(`${count(unusable.length, 'snapshot')} of little or no use`)
  return [...words, `${count(without, 'node')} judged by the API alone`].join(', ')
}

/** What a flag alone is missing for: no obstacle that anybody has to remove. */
import type { Code } from '../codes/codes.ts'
import type { Operation } from '../plan/plan.ts'

export const NOT_ASKED: ReadonlySet<Code | undefined> = new Set<Code>(['NotAsked', 'DeletesData'])

/** @param all the operations among which its predecessors are */
export function isOnlyNotAsked({ blocked, after }: Operation, all: readonly Operation[]): boolean {
  if (blocked === undefined) return false
  if (NOT_ASKED.has(blocked.code)) return true
  if (blocked.code !== 'Predecessor') return false
  const causes = all.filter((each) => each.blocked !== undefined && after.includes(each.id))
  return causes.length > 0 && causes.every((each) => isOnlyNotAsked(each, all))
}

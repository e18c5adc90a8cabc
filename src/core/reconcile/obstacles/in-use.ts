/**
 * Who uses what an operation would take away, as the look at this node found by the conditions of apply: what a plan calls ready,
 * an apply does (S12, S21, S24). A snapshot without the section blocks nothing by it: then apply alone judges.
 */
import { defined } from '../../lang/defined.ts'
import { onceFor } from '../../lang/once-for.ts'
import type { InUse, NodeSnapshot } from '../../model/snapshot.ts'
import type { Draft, Obstacle } from '../../plan/draft.ts'
import { TAKING_AWAY } from '../../plan/kinds.ts'
import { takenBy } from '../../plan/taken-by.ts'

export function inUseObstacle({ inUse = NONE }: NodeSnapshot, draft: Draft): Obstacle | undefined {
  if (inUse.length === 0 || !TAKING_AWAY.has(draft.kind)) return undefined
  const found = byOperation(inUse).get(takenBy(draft))
  if (found === undefined) return undefined
  const { message, hint, users } = found
  return { code: KNOWN.get(found.code) ?? 'HeldBy', message, ...defined({ hint, users }) }
}

const NONE: readonly InUse[] = []

/** A word of a newer version still says that it is in use. */
const KNOWN: ReadonlyMap<string, InUse['code']> = new Map(
  (['HeldBy', 'UsersUnknown', 'DeviceUnknown'] as const).map((code) => [code, code]),
)

const byOperation = onceFor(
  (inUse: readonly InUse[]): ReadonlyMap<string, InUse> =>
    new Map(inUse.map((each) => [`${each.kind} ${each.target}`, each])),
)

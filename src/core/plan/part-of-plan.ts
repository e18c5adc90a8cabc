/** A plan as far as some of its findings, or its flags, go. */
import type { OperationKind, Plan, PlanOptions } from './plan.ts'
import { summaryOf } from './plan-summary.ts'

type Findings = Pick<Plan, 'operations' | 'waiting' | 'problems'>

/**
 * @param findings operations, waits and problems of the plan that stay
 * @param filtered how many operations count as left out by flags; absent: all that do not stay
 * @returns the plan with these alone, in its order, their causes, and their counts
 */
export function partOf(plan: Plan, findings: ReadonlySet<object>, filtered?: number): Plan {
  const kept = <T extends object>(all: readonly T[]): readonly T[] => all.filter((each) => findings.has(each))
  const part = { operations: kept(plan.operations), waiting: kept(plan.waiting), problems: kept(plan.problems) }
  const keys = causeKeys(part)
  const causes = (plan.summary.causes ?? []).filter(({ key }) => keys.has(key))
  const counts = summaryOf(part, filtered ?? plan.operations.length - part.operations.length)
  return { ...plan, ...part, summary: { ...counts, ...(causes.length > 0 && { causes }) } }
}

/** Of findings, in no order. */
export function causeKeys({ operations, waiting, problems }: Findings): ReadonlySet<string> {
  const blocked = operations.flatMap((each) => each.blocked ?? [])
  return new Set([...blocked, ...waiting, ...problems].flatMap(({ cause }) => cause ?? []))
}

/** Of many findings' causes: those of the plan, the worst first. No search for each of many rows. */
export function causesInOrder({
  summary: { causes },
}: Pick<Plan, 'summary'>): (keys: Iterable<string>) => readonly string[] {
  const places = new Map(causes?.map(({ key }, index) => [key, index]))
  const placeOf = (key: string): number => places.get(key) ?? -1
  return (keys) => [...new Set(keys)].filter((key) => places.has(key)).toSorted((a, b) => placeOf(a) - placeOf(b))
}

/**
 * What flags leave of all that was found, in its order: --only, --skip, and names. What depends on an operation that is left out is left
 * out, too (contract).
 *
 * @returns `filtered`: how many operations, waits and problems are left out
 */
export function namedPart<D extends { readonly kind: OperationKind; readonly after: readonly D[] }, W, P>(
  all: { readonly operations: readonly D[]; readonly waiting: readonly W[]; readonly problems: readonly P[] },
  { only, skip }: Pick<PlanOptions, 'only' | 'skip'>,
  isNamed: { operation(draft: D): boolean; wait(wait: NoInfer<W>): boolean; problem(problem: NoInfer<P>): boolean },
) {
  const dropped = new Set<D>()
  const kept: D[] = []
  for (const draft of all.operations) {
    const isKind = only?.includes(draft.kind) !== false && skip?.includes(draft.kind) !== true
    const fits = isKind && isNamed.operation(draft) && !draft.after.some((before) => dropped.has(before))
    if (fits) kept.push(draft)
    else dropped.add(draft)
  }
  const waiting = all.waiting.filter(isNamed.wait)
  const problems = all.problems.filter(isNamed.problem)
  const others = all.waiting.length + all.problems.length - waiting.length - problems.length
  return { kept, waiting, problems, filtered: dropped.size + others }
}

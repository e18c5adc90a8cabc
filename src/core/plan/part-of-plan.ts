/** A plan of either scope as far as some of its findings go. */
import type { Cause } from './cause.ts'

interface Caused {
  readonly cause?: string
}

interface Parts {
  readonly operations: readonly { readonly blocked?: Caused }[]
  readonly waiting: readonly Caused[]
  readonly problems: readonly Caused[]
  readonly summary: { readonly causes?: readonly Cause[] }
}

/**
 * @param findings operations, waits and problems of the plan that stay
 * @returns these in the plan's order, and the causes that they have
 */
export function partOf<P extends Parts>(
  { operations, waiting, problems, summary: { causes = [] } }: P,
  findings: ReadonlySet<object>,
): Pick<P, 'operations' | 'waiting' | 'problems'> & { readonly causes: readonly Cause[] } {
  const kept = <T extends object>(all: readonly T[]): readonly T[] => all.filter((each) => findings.has(each))
  const part = { operations: kept(operations), waiting: kept(waiting), problems: kept(problems) }
  const keys = causeKeys(part)
  return { ...part, causes: causes.filter(({ key }) => keys.has(key)) }
}

/** Of findings, in no order. */
export function causeKeys({ operations, waiting, problems }: Omit<Parts, 'summary'>): ReadonlySet<string> {
  const blocked = operations.flatMap((each) => each.blocked ?? [])
  return new Set([...blocked, ...waiting, ...problems].flatMap(({ cause }) => cause ?? []))
}

/** The counts of a plan: they add up to its operations. */
import { counted } from '../lang/counted.ts'
import type { Blocked, FreedBy, LiftingFlag, Operation, OperationKind, PlanSummary } from './plan.ts'

/** An operation of either scope, as far as it is counted. */
export type Counted<Kind extends OperationKind> = Pick<Operation, 'id' | 'after'> & {
  readonly kind: Kind
  readonly blocked?: Pick<Blocked, 'code' | 'cause'>
}

/** @param filtered how many operations were left out by flags */
export function summaryOf<Kind extends OperationKind>(
  plan: Record<'waiting' | 'problems', readonly unknown[]> & { readonly operations: readonly Counted<Kind>[] },
  filtered: number,
) {
  const { operations, waiting, problems } = plan
  const ready = readyAmong(operations).size
  const freedBy = freedByFlags(operations, ready)
  return {
    operations: counted(operations.map(({ kind }) => kind)),
    blocked: operations.filter(({ blocked }) => blocked !== undefined).length,
    waiting: waiting.length,
    problems: problems.length,
    filtered,
    ready,
    ...(freedBy.length > 0 && { freedBy }),
  } satisfies PlanSummary
}

/**
 * Ids of the operations that apply would begin: neither they nor any predecessor is blocked (S26).
 *
 * @param lifted true for an operation that counts as not blocked
 */
export function readyAmong<Op extends Counted<OperationKind>>(
  operations: readonly Op[],
  lifted: (operation: Op) => boolean = () => false,
): ReadonlySet<string> {
  // Of few operations it matters which ones the plan has.
  let known: ReadonlySet<string> | undefined
  const isKnown = (id: string): boolean => {
    known ??= new Set(operations.map((each) => each.id))
    return known.has(id)
  }
  const ready = new Set<string>()
  // Each comes after its predecessors.
  for (const operation of operations) {
    const isFree = operation.blocked === undefined || lifted(operation)
    if (isFree && operation.after.every((id) => ready.has(id) || !isKnown(id))) ready.add(operation.id)
  }
  return ready
}

/** What an apply would carry out, in words. */
export function readyText(ready: number): string {
  return ready === 1 ? 'the operation that is ready' : `the ${ready} operations that are ready`
}

function freedByFlags(operations: readonly Counted<OperationKind>[], ready: number): FreedBy[] {
  const flags = new Set(operations.flatMap((operation) => liftingFlag(operation) ?? []))
  return [...flags].flatMap((flag) => {
    const lifted = (each: Counted<OperationKind>): boolean =>
      liftingFlag(each) === flag || each.blocked?.code === 'Predecessor'
    const more = readyAmong(operations, lifted).size - ready
    return more > 0 ? [{ flag, operations: more }] : []
  })
}

/** The flag that asks for work that is done only on request (S13, S23). */
export function liftingFlag({
  kind,
  blocked,
}: Pick<Operation, 'kind'> & { readonly blocked?: { readonly code: string } }): LiftingFlag | undefined {
  if (blocked?.code === 'DeletesData') return '--orphans'
  // A detach that is not asked for is a cluster's, and takes finalizers off.
  if (blocked?.code !== 'NotAsked' || kind === 'DetachVolume') return undefined
  return kind === 'ExpandVolume' ? '--expand' : '--remount'
}

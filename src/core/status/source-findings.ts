/** What the plan says about each row of the answer. */
import { append } from '../lang/append.ts'
import { SharesOf } from '../ledger/whose.ts'
import type { Operation, Plan, Problem, Waiting } from '../plan/plan.ts'
import type { Decision } from '../reconcile/decisions.ts'
import type { StatusSource } from './status-source.ts'

/** What the plan says about one row. */
export interface SourceFindings {
  readonly operations: readonly Operation[]
  readonly waiting: readonly Waiting[]
  readonly problems: readonly Problem[]
  readonly decisions: readonly Decision[]
}

export interface FoundFor {
  of(source: StatusSource): SourceFindings
  /** Problems that are about no row: of the node, of a pod without volumes. */
  readonly unassigned: readonly Problem[]
}

export function findingsOf(
  sources: readonly StatusSource[],
  { operations, waiting, problems }: Plan,
  decisions: readonly Decision[],
): FoundFor {
  const shares = new SharesOf(sources)
  const own = <T extends Pick<Operation, 'subject'>>(all: readonly T[]): ReadonlyMap<StatusSource, readonly T[]> =>
    byShare(all, ({ subject }) => shares.of(subject))
  const found = { operations: own(operations), waiting: own(waiting), decisions: own(decisions) }
  const wrong = byShare(problems, ({ subject }) => shares.ofProblem(subject))
  return {
    of: (source) => ({
      operations: found.operations.get(source) ?? [],
      waiting: found.waiting.get(source) ?? [],
      problems: wrong.get(source) ?? [],
      decisions: found.decisions.get(source) ?? [],
    }),
    unassigned: problems.filter(({ subject }) => shares.ofProblem(subject).length === 0),
  }
}

function byShare<T>(
  all: readonly T[],
  sharesOf: (each: T) => readonly StatusSource[],
): ReadonlyMap<StatusSource, readonly T[]> {
  const found = new Map<StatusSource, T[]>()
  for (const each of all) for (const source of sharesOf(each)) append(found, source, each)
  return found
}

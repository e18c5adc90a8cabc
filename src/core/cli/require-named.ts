/** A name on the command line that nothing has: a typing error must not look like a node without problems. */
import { VolctlError } from '../errors/errors.ts'
import type { Problem } from '../plan/plan.ts'

/** @throws VolctlError AmbiguousName; NothingNamed, unless the person does without (--ignore-not-found) */
export function requireNamed(
  problems: readonly Pick<Problem, 'code' | 'message' | 'hint'>[],
  ignoreNotFound: boolean,
): void {
  const ambiguous = problems.filter(({ code }) => code === 'AmbiguousName')
  const nothing = ignoreNotFound ? [] : problems.filter(({ code }) => code === 'NothingNamed')
  const missing = [...ambiguous, ...nothing]
  const [first] = missing
  if (first === undefined) return
  const message = missing.map((problem) => problem.message).join('; ')
  throw new VolctlError(first.code, message, first.hint === undefined ? {} : { hint: first.hint })
}

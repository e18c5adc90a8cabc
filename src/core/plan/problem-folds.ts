/** Problems that differ only in the names of what they are about. */

import type { Problem } from './plan.ts'
import type { PlanGroup } from './plan-groups.ts'

/** One problem, whose text stands for all, and what the others like it are about. */
export interface FoldedProblem {
  readonly problem: Problem
  readonly others: readonly Problem[]
}

/** Pure: in the order of the first of each; a problem that is like no other stands by itself. */
export function foldProblems(groups: readonly Pick<PlanGroup, 'problems' | 'names'>[]): readonly FoldedProblem[] {
  const told = groups.flatMap(({ problems, names }) =>
    problems.map((problem) => ({ problem, likeness: likenessOf(problem, names) })),
  )
  return [...Map.groupBy(told, ({ likeness }) => likeness).values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : { problem: first.problem, others: others.map(({ problem }) => problem) },
  )
}

/** The text that problems have in common which differ only in names. */
function likenessOf({ severity, code, message, hint = '', about }: Problem, names: ReadonlySet<string>): string {
  const own = [...names, about.volume, about.path, about.pod, about.podRef?.name].filter((name) => name !== undefined)
  const nameless = withoutNames(own)
  return JSON.stringify([severity, code, nameless(message), nameless(hint), Object.keys(about).toSorted()])
}

/** Longest first: a unique name ends with the handle. A name inside a longer word is none. */
function withoutNames(names: readonly string[]): (text: string) => string {
  const longestFirst = [...new Set(names)].filter((name) => name !== '').toSorted((a, b) => b.length - a.length)
  if (longestFirst.length === 0) return (text) => text
  const any = longestFirst.map((name) => RegExp.escape(name)).join('|')
  const pattern = new RegExp(`(?<![\\w-])(?:${any})(?![\\w-])`, 'g')
  return (text) => text.replace(pattern, '\0')
}

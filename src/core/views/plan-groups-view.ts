/** The groups of a plan on a screen: a title that says why, rows, and beside each what is to be said of it. */

import { count } from '../lang/count.ts'
import { dropBeginnings } from '../lang/drop-beginnings.ts'
import { firstFew } from '../lang/first-few.ts'
import type { Problem, Severity } from '../plan/plan.ts'
import { bySeverity, type PlanGroup } from '../plan/plan-groups.ts'
import type { PlanNames } from '../plan/plan-names.ts'
import { type FoldedProblem, foldProblems } from '../plan/problem-folds.ts'
import { dataOf, type Entry, entriesOf, type Folding, isSaidByTitle, type Said, SHOWN_OF_ALIKE } from './plan-folds.ts'
import { Rows } from './plan-rows.ts'
import { cellText } from './render-table.ts'
import type { Screen } from './screen.ts'
import { numberRanges, volumeText } from './words.ts'
import { wrapped } from './wrap.ts'

/** Of more alike groups than this the first few are drawn. */
const GROUPS_AT_MOST = 4
/** A longer list of numbers says no more than how many they are. */
const LONGEST_NUMBERS = 60
export const UNFOLD = '-v or -o wide shows all'

/** Problems, and the names of the volumes that they are about. */
type Problems = Pick<PlanGroup, 'problems' | 'names'>

/** Groups that are drawn, and how many more are like them. */
interface Cluster {
  readonly shown: readonly { readonly group: PlanGroup; readonly entries: readonly Entry[] }[]
  readonly hidden: readonly PlanGroup[]
}

export function groupsText(alike: readonly (readonly PlanGroup[])[], folding: Folding, screen: Screen): string {
  const clusters = alike.map((groups) => clusterOf(groups, folding))
  const entries = clusters.flatMap(({ shown }) => shown.flatMap((each) => each.entries))
  const rows = new Rows(
    entries.map(({ row }) => row),
    screen.width,
  )
  const head = rows.head()
  const texts = clusters.map((cluster) => new GroupView(rows, folding, screen).cluster(cluster))
  return `${head === '' ? '' : `\n${screen.paint.dim(head.trimEnd())}\n`}${texts.join('')}`
}

function clusterOf(groups: readonly PlanGroup[], folding: Folding): Cluster {
  const many = !folding.unfolded && groups.length > GROUPS_AT_MOST
  const shown = many ? groups.slice(0, SHOWN_OF_ALIKE) : groups
  return {
    shown: shown.map((group) => ({ group, entries: entriesOf(group, folding) })),
    hidden: groups.slice(shown.length),
  }
}

class GroupView {
  readonly #rows: Rows
  readonly #folding: Folding
  readonly #screen: Screen

  constructor(rows: Rows, folding: Folding, screen: Screen) {
    this.#rows = rows
    this.#folding = folding
    this.#screen = screen
  }

  cluster({ shown, hidden }: Cluster): string {
    const groups = shown.map(({ group }) => group)
    const isOfPods = groups.some(({ about }) => 'pod' in about)
    const more = hidden.length === 0 ? '' : this.#more(hidden, isOfPods)
    if (isOfPods && this.#isOneProblem([...groups, ...hidden])) return this.#podsWithOneProblem([...groups, ...hidden])
    if (isOfPods) return `${shown.map(({ group, entries }) => this.#pod(group, entries)).join('')}${more}`
    return [
      `\n${this.#title(volumesTitle(groups), '')}`,
      ...shown.map(({ entries }) => this.#entries(entries)),
      more,
      this.#reasons(groups),
      this.#problems([...groups, ...hidden]),
    ].join('')
  }

  /** Several pods of which nothing is to be said but a problem that is the same for all. */
  #isOneProblem(groups: readonly PlanGroup[]): boolean {
    const isBare = groups.every(({ operations, waiting }) => operations.length + waiting.length === 0)
    return isBare && groups.length > 1 && !this.#folding.unfolded && foldProblems(groups).length === 1
  }

  #podsWithOneProblem(groups: readonly PlanGroup[]): string {
    const names = groups.flatMap(({ about }) => ('pod' in about ? this.#folding.names.podText(about.pod) : []))
    return `\n${this.#title(`Pods ${firstFew(names, NAMES_AT_MOST, 'and ').join(', ')}`, '')}${this.#problems(groups)}`
  }

  #pod(group: PlanGroup, entries: readonly Entry[]): string {
    const { about, operations } = group
    const subject = 'pod' in about ? this.#folding.names.podText(about.pod) : about.volume
    const reasons = [...new Set(operations.filter(isSaidByTitle).map(({ reason }) => reason))]
    const states = [...new Set(operations.flatMap(({ podState }) => podState ?? []))]
    const why = `${states.length === 0 ? '' : ` ${states.join('; ')}`}${reasons.length === 0 ? '' : ` (${reasons.join(', ')})`}`
    return `\n${this.#title(`Pod ${subject}`, why)}${this.#problems([group])}${this.#entries(entries)}`
  }

  #title(subject: string, why: string): string {
    return wrapped('', `${subject}${why}`, this.#screen.width, this.#screen.paint.bold)
  }

  /** What rows that follow each other have in common is said once, below the last of them. */
  #entries(entries: readonly Entry[]): string {
    let text = ''
    // What was held back so far, and the rows that it is about.
    let held = new Map<string, { readonly said: Said; readonly rows: string[] }>()
    for (const [index, { row, said }] of entries.entries()) {
      text += this.#rows.draw(row, this.#screen.paint)
      const next = new Set((entries[index + 1]?.said ?? []).map(keyOf))
      const kept: typeof held = new Map()
      for (const each of said) {
        const known = held.get(keyOf(each))
        const rows = [...(known?.rows ?? []), cellText(row['#'])]
        if (next.has(keyOf(each))) kept.set(keyOf(each), { said: known?.said ?? each, rows })
        else text += this.#said(known?.said ?? each, rows.slice(1))
      }
      held = kept
    }
    return text
  }

  /** @param others numbers of the rows for which this holds likewise */
  #said({ kind, text, hint, alike }: Said, others: readonly string[]): string {
    const { width, paint } = this.#screen
    const colour = { reason: undefined, blocked: undefined, waiting: undefined, dead: paint.bad, kubelet: paint.dim }[
      kind
    ]
    const likewise = alike === undefined || others.length === 0 ? '' : `; likewise ${others.join(', ')}`
    return `${wrapped(this.#rows.indent, `${text}${likewise}`, width, colour)}${this.#hint(this.#rows.indent, hint)}`
  }

  #hint(indent: string, hint: string | undefined): string {
    const { width, paint, symbols } = this.#screen
    return hint === undefined ? '' : wrapped(`${indent}${symbols.arrow} `, hint, width, paint.dim)
  }

  /** Why devices are unstaged and volumes detached; what holds of several volumes is said once. */
  #reasons(groups: readonly PlanGroup[]): string {
    const byMessage = new Map<string, Set<string>>()
    for (const { operations } of groups) {
      // Of one volume the longest message has all: why it is unstaged, and then why it is detached.
      const whole = dropBeginnings([...new Set(operations.map(({ message }) => message))])
      for (const { message, reason } of operations) {
        const said = whole.find((each) => each.startsWith(message)) ?? message
        byMessage.set(said, (byMessage.get(said) ?? new Set()).add(reason))
      }
    }
    return [...byMessage]
      .map(([message, codes]) => wrapped(this.#rows.indent, `${[...codes].join(', ')}: ${message}`, this.#screen.width))
      .join('')
  }

  #problems(groups: readonly Problems[]): string {
    return problemsText(groups, this.#screen, this.#folding)
  }

  #more(hidden: readonly PlanGroup[], isOfPods: boolean): string {
    const operations = hidden.flatMap((group) => group.operations)
    const numbers = numberRanges(this.#folding.names.numbers(operations.map(({ id }) => id)))
    const which = numbers.length > LONGEST_NUMBERS ? `${operations.length} operations` : `operations ${numbers}`
    const lost = dataOf(operations)
    const parts = [...(operations.length > 0 ? [which] : []), ...(lost === '' ? [] : [`${lost} of data`]), UNFOLD]
    const what = isOfPods ? 'pods like it' : 'volumes like it'
    const text = `and ${hidden.length} more ${what}: ${parts.join('; ')}`
    return `${isOfPods ? '\n' : ''}${wrapped(isOfPods ? '' : this.#rows.indent, text, this.#screen.width)}`
  }
}

function volumesTitle(groups: readonly PlanGroup[]): string {
  const names = groups.map(({ about }) => ('volume' in about ? about.volume : ''))
  const [first] = groups
  if (names.length > 1) return `Volumes ${names.join(', ')}`
  const { driver, claim } = first?.operations[0]?.volume ?? first?.waiting[0]?.volume ?? {}
  const known = [claim === undefined ? [] : `claim ${claim}`, driver === undefined ? [] : `driver ${driver}`].flat()
  return `Volume ${names[0] ?? volumeText(undefined)}${known.length === 0 ? '' : ` (${known.join(', ')})`}`
}

function keyOf({ kind, text, hint, alike }: Said): string {
  return JSON.stringify(alike === undefined ? [kind, text, hint] : [kind, alike])
}

const NAMES: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'note' }

/** Of more names than this the first few are shown. */
const NAMES_AT_MOST = 4

/** Problems, the worst first, each with its hint; those that differ only in names as one; of many with one code the first few. */
export function problemsText(
  groups: readonly Problems[],
  screen: Screen,
  { unfolded, names }: Pick<Folding, 'unfolded' | 'names'>,
): string {
  const folded = unfolded
    ? groups.flatMap(({ problems }) => problems.map((problem) => ({ problem, others: [] })))
    : foldProblems(groups)
  const sorted = folded.toSorted((a, b) => bySeverity(a.problem, b.problem))
  const alike = [...Map.groupBy(sorted, ({ problem: { severity, code } }) => `${severity} ${code}`).values()]
  return alike
    .map((same) => {
      const all = unfolded || same.length <= GROUPS_AT_MOST
      const shown = all ? same : same.slice(0, SHOWN_OF_ALIKE)
      const hidden = same.slice(shown.length).reduce((sum, { others }) => sum + 1 + others.length, 0)
      const more = all ? '' : wrapped('  ', `and ${hidden} more like it: ${UNFOLD}`, screen.width)
      return `${shown
        // A hint that the next one has as well stands below the last.
        .map((each, index) => problemText(each, names, screen, each.problem.hint !== shown[index + 1]?.problem.hint))
        .join('')}${more}`
    })
    .join('')
}

function problemText({ problem, others }: FoldedProblem, names: PlanNames, screen: Screen, withHint: boolean): string {
  const { severity, code, message, hint } = problem
  const { width, paint, symbols } = screen
  const sign = { error: symbols.bad, warning: symbols.warn, info: symbols.unknown }[severity]
  const colour = { error: paint.bad, warning: paint.warn, info: paint.dim }[severity]
  const first = `  ${severity === 'info' ? '' : `${sign} `}`
  const what = others.length === 0 ? NAMES[severity] : count(others.length + 1, NAMES[severity])
  const text = `${what} ${code}: ${message}${likewiseText(others, names)}`
  const said = wrapped(first, text, width, colour)
  return `${said}${hint === undefined || !withHint ? '' : wrapped(`    ${symbols.arrow} `, hint, width)}`
}

function likewiseText(others: readonly Problem[], names: PlanNames): string {
  if (others.length === 0) return ''
  const called = others.flatMap(({ about: { volume, path, pod, podRef } }) =>
    pod === undefined || volume !== undefined ? (volume ?? path ?? []) : names.podText(podRef ?? { uid: pod }),
  )
  const few = called.length === 0 ? '' : `; likewise ${firstFew(called, NAMES_AT_MOST, 'and ').join(', ')}`
  return `${few} (${UNFOLD})`
}

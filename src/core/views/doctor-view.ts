/** The answer of `volctl doctor` on a screen: a line a check, and at the end, where a terminal shows it, the verdict and what comes next. */
import {
  CHECK_GROUPS,
  CHECK_STATES,
  type Check,
  type CheckGroup,
  type CheckState,
  type Doctor,
} from '../doctor/check.ts'
import { count } from '../lang/count.ts'
import type { Palette } from './palette.ts'
import type { Screen } from './screen.ts'
import type { Symbols } from './symbols.ts'
import { seconds } from './words.ts'
import { wrapped } from './wrap.ts'

const WORDS: Readonly<Record<CheckState, string>> = {
  failed: 'failed',
  unknown: 'unknown',
  warning: 'warning',
  ok: 'ok',
  notApplicable: 'not applicable',
}
const WORD_COLUMN = 8

/** @param plan the command line that makes the plan of this node, or of this snapshot */
export function renderDoctor(doctor: Doctor, screen: Screen, plan: string): string {
  const { paint, width, wide } = screen
  const { node, rootDir, createdAt, checks, source } = doctor
  const subject = node === undefined ? 'this host' : `node ${node} (${rootDir})`
  const from = source === 'snapshot' ? 'snapshot taken at' : 'as of'
  const shown = wide ? checks : checks.filter(({ state }) => state !== 'notApplicable')
  return [
    wrapped('', `Checks of ${subject}, ${from} ${seconds(createdAt)}`, width, paint.bold),
    ...groupsOf(shown).map((group) => groupText(group, screen)),
    wide ? '' : foldedText(checks, screen),
    `\n${verdictText(doctor, screen, plan)}`,
  ].join('')
}

function groupsOf(checks: readonly Check[]): (readonly [CheckGroup, readonly Check[]])[] {
  return [...Map.groupBy(checks, ({ group }) => group)]
}

function groupText([group, checks]: readonly [CheckGroup, readonly Check[]], screen: Screen): string {
  const lines = folded(checks).map((check) => checkText(check, screen))
  return `\n${screen.paint.bold(CHECK_GROUPS[group])}\n${lines.join('')}`
}

/** What is not known for one and the same reason is one line. */
function folded(checks: readonly Check[]): Check[] {
  const alike = Map.groupBy(checks, (check) =>
    check.state === 'unknown' && check.about === undefined ? JSON.stringify([check.message, check.next]) : check,
  )
  return [...alike.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : { ...first, title: [first, ...others].map(({ title }) => title).join(', ') },
  )
}

function checkText({ state, title, about, message, next }: Check, { paint, symbols, width }: Screen): string {
  const colour = colourOf(state, paint)
  const head = `  ${colour(signOf(state, symbols))} ${colour(WORDS[state].padEnd(WORD_COLUMN))} `
  const what = about === undefined ? title : `${title} ${about}`
  const hint =
    next === undefined ? '' : wrapped(`${' '.repeat(WORD_COLUMN + 5)}${symbols.arrow} `, next, width, paint.dim)
  return `${wrapped(head, `${what}: ${message}`, width)}${hint}`
}

function signOf(state: CheckState, symbols: Symbols): string {
  const signs = {
    failed: symbols.bad,
    unknown: symbols.unknown,
    warning: symbols.warn,
    ok: symbols.good,
    notApplicable: '-',
  } as const
  return signs[state]
}

function colourOf(state: CheckState, paint: Palette): (text: string) => string {
  return { failed: paint.bad, unknown: paint.warn, warning: paint.warn, ok: paint.good, notApplicable: paint.dim }[
    state
  ]
}

function foldedText(checks: readonly Check[], { paint, width }: Screen): string {
  const titles = checks.filter(({ state }) => state === 'notApplicable').map(({ title }) => title)
  if (titles.length === 0) return ''
  return `\n${wrapped('Not applicable here: ', [...new Set(titles)].join(', '), width, paint.dim)}`
}

function verdictText(doctor: Doctor, { paint, width }: Screen, plan: string): string {
  const { works, checks, summary } = doctor
  const colour = works.plan ? (works.apply === false ? paint.warn : paint.good) : paint.bad
  const counts = CHECK_STATES.flatMap((state) => (summary[state] > 0 ? [`${summary[state]} ${WORDS[state]}`] : []))
  const worst = worstOf(checks)
  const first = worst?.next === undefined ? '' : wrapped('Do first: ', `${worst.title}: ${worst.next}`, width)
  return [
    wrapped('Verdict: ', sentence(doctor), width, colour),
    wrapped('', `${count(checks.length, 'check')}: ${counts.join(', ')}`, width),
    first,
    works.plan ? wrapped('Next: ', plan, undefined) : wrapped('Then: ', 'volctl doctor', undefined),
  ].join('')
}

function sentence({ works, source }: Doctor): string {
  if (!works.plan)
    return source === 'snapshot' ? 'no plan can be made from this snapshot' : 'volctl plan cannot work here'
  if (works.apply === undefined) return 'a plan can be made from this snapshot'
  return works.apply ? 'volctl plan and apply can work here' : 'volctl plan can work here, volctl apply cannot'
}

/** What to mend first: without root much else fails; then what keeps plan from working, then apply, then the worst. */
function worstOf(checks: readonly Check[]): Check | undefined {
  const withNext = checks.filter(({ state, next }) => state !== 'ok' && next !== undefined)
  const by = (wanted: (check: Check) => boolean): Check | undefined => withNext.find(wanted)
  return (
    by(({ id }) => id === 'Root') ??
    by(({ prevents }) => prevents === 'plan') ??
    by(({ prevents }) => prevents === 'apply') ??
    CHECK_STATES.map((state) => by((check) => check.state === state)).find((found) => found !== undefined)
  )
}

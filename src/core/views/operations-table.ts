/** Every operation, wait and problem of a plan with its number, path, reason and rule: -v, -o wide. */
import { dataText } from '../answer/ready.ts'
import type { Operation, Plan, Severity } from '../plan/plan.ts'
import { type PlanNames, shownVolume } from '../plan/plan-names.ts'
import { readyAmong } from '../plan/plan-summary.ts'
import { Rows } from './plan-rows.ts'
import type { Screen } from './screen.ts'
import { numberRanges } from './words.ts'
import { wrapped } from './wrap.ts'

/** @param wide with each step */
export function operationsTable(plan: Plan, names: PlanNames, screen: Screen, wide: boolean): string {
  return [
    operationsText(plan, names, screen, wide),
    listText(
      'Waiting',
      plan.waiting.map((wait) => ({ ...wait, about: aboutText(wait, names), sign: screen.symbols.waiting })),
      screen,
    ),
    listText(
      'Problems',
      plan.problems.map((problem) => ({ ...problem, about: '', sign: SIGNS(screen)[problem.severity] })),
      screen,
    ),
  ].join('')
}

const SIGNS = ({ symbols }: Screen): Readonly<Record<Severity, string>> => ({
  error: symbols.bad,
  warning: symbols.warn,
  info: symbols.unknown,
})

function operationsText({ operations, rootDir }: Plan, names: PlanNames, screen: Screen, wide: boolean): string {
  if (operations.length === 0) return ''
  const { paint, width } = screen
  const ready = readyAmong(operations)
  const drawn = operations.map((operation, index) => ({
    operation,
    row: {
      '#': `${index + 1}`,
      OPERATION: operation.kind,
      VOLUME: operation.volume === undefined ? '' : shownVolume(operation),
      STATE: stateOf(operation, names, ready),
      DELETES: operation.deletes === undefined ? '' : dataText(operation.deletes),
      REASON: operation.reason,
      RULE: operation.rule,
      ...(wide && { ID: operation.id }),
    },
  }))
  const rows = new Rows(
    drawn.map(({ row }) => row),
    width,
  )
  let last: string | undefined
  const texts = drawn.map(({ operation, row }) => {
    const { message, podMessage, ownMessage, paths, blocked, dead = [], kubeletWould, steps } = operation
    // What is said of a pod is said with the first of its operations.
    const said = podMessage !== undefined && podMessage === last ? (ownMessage ?? message) : message
    last = podMessage
    const below = [
      said,
      ...paths.slice(0, 1),
      ...dead.map(({ path, error }) => `${path.replace(`${rootDir}/`, '')} does not answer: ${error}`),
      ...(blocked === undefined ? [] : [`blocked: ${blocked.code}: ${blocked.message}`]),
      ...(blocked?.hint === undefined ? [] : [`${screen.symbols.arrow} ${blocked.hint}`]),
      ...(kubeletWould === undefined ? [] : [`the kubelet would ${kubeletWould}`]),
      ...(wide ? steps.map(({ op, target, detail }) => `${op} ${target}${detail ? ` (${detail})` : ''}`) : []),
    ]
    return `${rows.draw(row, paint)}${below.map((each) => wrapped(rows.indent, each, width)).join('')}`
  })
  return `\n${paint.dim(rows.head().trimEnd())}\n${texts.join('')}`
}

function stateOf({ id, blocked, after }: Operation, names: PlanNames, ready: ReadonlySet<string>): string {
  const numbers = numberRanges(names.numbers(after))
  const behind = numbers === '' ? '' : `after ${numbers}`
  if (blocked !== undefined) return 'blocked'
  return ready.has(id) ? behind || 'ready' : behind
}

function aboutText(wait: Plan['waiting'][number], names: PlanNames): string {
  const pod = wait.pod === undefined ? '' : ` of ${names.podText(wait.pod)}`
  return `${wait.kind} ${shownVolume(wait)}${pod}: `
}

interface Entry {
  readonly sign: string
  readonly about: string
  readonly code: string
  readonly message: string
  readonly hint?: string
}

function listText(title: string, entries: readonly Entry[], { paint, width, symbols }: Screen): string {
  if (entries.length === 0) return ''
  const lines = entries.map(
    ({ sign, about, code, message, hint }) =>
      `${wrapped(`  ${sign} `, `${about}${code}: ${message}`, width)}${hint === undefined ? '' : wrapped(`    ${symbols.arrow} `, hint, width, paint.dim)}`,
  )
  return `\n${paint.bold(`${title}:`)}\n${lines.join('')}`
}

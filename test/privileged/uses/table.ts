/** What came of the trials, for people: uses down, kinds across. */
import { harmless, KINDS, type Kind, meaningless, type OperationName, USES, type Use } from './combinations.ts'
import { isDone, type Verdict, wrongOf } from './verdicts.ts'

/** In a word. */
export type Outcome = 'done, unhurt' | 'refused in the plan' | 'refused at apply' | 'skipped' | 'WRONG'

export function outcomeOf(verdict: Verdict): Outcome {
  if (verdict.skipped !== undefined) return 'skipped'
  if (wrongOf(verdict) !== '') return 'WRONG'
  if (isDone(verdict)) return 'done, unhurt'
  return verdict.named?.planned ? 'refused in the plan' : 'refused at apply'
}

/** Markdown: a table, how many of each outcome there are, and what was wrong, a line each. */
export function tableOf(verdicts: readonly Verdict[]): string {
  const kinds = Object.keys(KINDS) as Kind[]
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const counts = Object.entries(Object.groupBy(verdicts, outcomeOf)).map(([outcome, of]) => `${of.length} ${outcome}`)
  const wrong = verdicts.filter((each) => wrongOf(each) !== '')
  return [
    row(['Use', ...kinds]),
    row(['', ...kinds].map(() => '---')),
    ...(Object.keys(USES) as Use[]).map((use) => row([use, ...kinds.map((kind) => cellOf(verdicts, kind, use))])),
    '',
    `${verdicts.length} combinations: ${counts.join(', ')}.`,
    ...wrong.map((each) => `- ${each.kind}, ${each.operation}, ${each.use}: ${wrongOf(each)}`),
  ].join('\n')
}

/** All operations of a kind; those that differ are named. */
function cellOf(verdicts: readonly Verdict[], kind: Kind, use: Use): string {
  const operations: readonly OperationName[] = KINDS[kind]
  const found = operations.flatMap((operation): (readonly [string, OperationName])[] => {
    const verdict = verdicts.find((each) => each.kind === kind && each.operation === operation && each.use === use)
    if (verdict !== undefined) return [[outcomeOf(verdict), operation]]
    return meaningless({ kind, operation, use }) === undefined ? [['not tried', operation]] : []
  })
  const byOutcome = Object.entries(Object.groupBy(found, ([outcome]) => outcome))
  if (byOutcome.length === 0) return '–'
  if (byOutcome.length === 1) return byOutcome[0]?.[0] ?? ''
  return byOutcome
    .map(([outcome, of = []]) => `${of.map(([, operation]) => operation).join(', ')}: ${outcome}`)
    .join('; ')
}

/** The reasons for what was not tried, and for what nothing hurts, each with how many combinations it stands for. */
export function reasonsOf(combinations: Parameters<typeof meaningless>[0][]): Readonly<Record<string, number>> {
  const reasons = combinations.flatMap((each) => meaningless(each) ?? harmless(each) ?? [])
  return Object.fromEntries(
    Object.entries(Object.groupBy(reasons, (why) => why)).map(([why, of = []]) => [why, of.length]),
  )
}

/**
 * The plan on a screen: header, operations in their order, what blocks them, what waits, problems, one last line.
 * `confirm` adds what is known of each volume and where the kubelet would have done something else (S31); `wide` every
 * step as well.
 */
import type { Operation, Plan, Problem, Severity } from '../plan/plan.ts'
import { groupedNotes, type Note } from './grouped-notes.ts'
import type { Palette } from './palette.ts'
import { planHeader } from './plan-header.ts'
import { type Cell, renderTable } from './render-table.ts'
import { summaryLine } from './summary-line.ts'
import { terminalSafe } from './terminal-safe.ts'
import { volumesTable } from './volumes-table.ts'
import { deletesText, numberRanges, podText, volumeText } from './words.ts'

export type PlanDetail = 'table' | 'confirm' | 'wide'

export function renderPlan(plan: Plan, paint: Palette, detail: PlanDetail): string {
  const wide = detail === 'wide'
  const confirm = wide || detail === 'confirm'
  return [
    planHeader(plan, paint),
    operationsText(plan.operations, paint, wide),
    confirm ? volumesTable(plan.operations, paint) : '',
    groupedNotes('Why', whyNotes(plan.operations, wide), paint.bold),
    groupedNotes('Blocked', blockedNotes(plan.operations), paint.warn),
    confirm ? groupedNotes('The kubelet would instead', kubeletNotes(plan.operations), paint.bold) : '',
    waitingText(plan, paint),
    problemsText(plan.problems, paint),
    `\n${paint.bold(summaryLine(plan))}\n`,
    plan.complete ? '' : paint.warn('Not complete: something that may matter could not be read; see the problems.\n'),
  ].join('')
}

function operationsText(operations: readonly Operation[], paint: Palette, wide: boolean): string {
  if (operations.length === 0) return ''
  const numbers = new Map(operations.map(({ id }, index) => [id, index + 1]))
  const head = ['#', 'OPERATION', 'POD', 'VOLUME', 'REASON', 'AFTER', 'DELETES', 'STATE']
  const rows = operations.map((operation, index): Cell[] => [
    `${index + 1}`,
    operation.kind,
    podText(operation.pod),
    volumeText(operation.volume),
    operation.reason,
    numberRanges(operation.after.flatMap((id) => numbers.get(id) ?? []).toSorted((a, b) => a - b)),
    deletesText(operation.deletes),
    operation.blocked === undefined ? '' : { text: `blocked: ${operation.blocked.code}`, paint: paint.warn },
  ])
  if (!wide) return `\n${renderTable(head, rows)}`
  const wideRows = rows.map((row, index) => [...row, operations[index]?.rule ?? '', operations[index]?.id ?? ''])
  return `\n${renderTable([...head, 'RULE', 'ID'], wideRows)}\nSteps:\n${operations.map(stepsText).join('')}`
}

function stepsText(operation: Operation, index: number): string {
  return operation.steps
    .map(({ op, target, detail }) => terminalSafe(`  ${index + 1}  ${op} ${target}${detail ? ` (${detail})` : ''}`))
    .map((line) => `${line}\n`)
    .join('')
}

/** One line per operation or, narrow, one for all operations of a pod: what holds of the pod. */
function whyNotes(operations: readonly Operation[], wide: boolean): Note[] {
  return operations.map(({ reason, message, podMessage }, index) => ({
    row: index + 1,
    code: reason,
    message: wide ? message : (podMessage ?? message),
  }))
}

function blockedNotes(operations: readonly Operation[]): Note[] {
  return operations.flatMap(({ blocked }, index) => (blocked === undefined ? [] : [{ row: index + 1, ...blocked }]))
}

function kubeletNotes(operations: readonly Operation[]): Note[] {
  return operations.flatMap(({ kubeletWould }, index) =>
    kubeletWould === undefined ? [] : [{ row: index + 1, message: kubeletWould }],
  )
}

function waitingText({ waiting }: Plan, paint: Palette): string {
  if (waiting.length === 0) return ''
  const rows = waiting.map((entry): Cell[] => [
    `  ${entry.kind}`,
    podText(entry.pod),
    volumeText(entry.volume),
    entry.code,
    entry.message,
  ])
  const head = ['  WAITING', 'POD', 'VOLUME', 'CODE', 'FOR']
  const hints = [...new Set(waiting.flatMap(({ hint }) => hint ?? []))].map((hint) => `    ${terminalSafe(hint)}\n`)
  return `\n${renderTable(head, rows)}${paint.dim(hints.join(''))}`
}

const SEVERITIES: readonly Severity[] = ['error', 'warning', 'info']

function problemsText(problems: readonly Problem[], paint: Palette): string {
  const colour = { error: paint.bad, warning: paint.warn, info: paint.dim } as const
  return SEVERITIES.map((severity) =>
    groupedNotes(
      { error: 'Problems', warning: 'Warnings', info: 'Notes' }[severity],
      problems.filter((problem) => problem.severity === severity),
      colour[severity],
    ),
  ).join('')
}

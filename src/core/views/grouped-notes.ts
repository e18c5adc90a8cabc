import { terminalSafe } from './terminal-safe.ts'
import { numberRanges } from './words.ts'

/** Something said about one or many rows of the plan. */
export interface Note {
  /** Number of the row in the operations table; none for what stands alone. */
  readonly row?: number
  readonly code?: string
  readonly message: string
  readonly hint?: string
}

/** Notes with equal text once, with the rows they are about; hints on a line of their own. */
export function groupedNotes(title: string, notes: readonly Note[], paintCode: (text: string) => string): string {
  if (notes.length === 0) return ''
  const groups = Map.groupBy(notes, (note) => JSON.stringify([note.code, note.message, note.hint]))
  const lines = [...groups.values()].map((group) => noteText(group, paintCode))
  return `\n${title}:\n${lines.join('')}`
}

function noteText(group: readonly Note[], paintCode: (text: string) => string): string {
  const [first] = group
  if (first === undefined) return ''
  const rows = group.flatMap(({ row }) => (row === undefined ? [] : [row]))
  const where = rows.length > 0 ? `${numberRanges(rows)}  ` : group.length > 1 ? `${group.length} x  ` : ''
  const code = first.code === undefined ? '' : `${paintCode(terminalSafe(first.code))}: `
  const hint = first.hint === undefined ? '' : `      ${terminalSafe(first.hint)}\n`
  return `  ${where}${code}${terminalSafe(first.message)}\n${hint}`
}

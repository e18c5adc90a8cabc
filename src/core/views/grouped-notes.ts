import { type Width, wrapped } from './wrap.ts'

/** Something said about one operation or many. */
export interface Note {
  readonly code: string
  readonly message: string
  readonly hint?: string
}

/** Of more notes with one code the first few are shown. */
const ALIKE_AT_MOST = 5
const SHOWN_OF_ALIKE = 3

/** Notes with equal text once; hints on a line of their own. */
export function groupedNotes(
  title: string,
  notes: readonly Note[],
  paintCode: (text: string) => string,
  width: Width,
): string {
  if (notes.length === 0) return ''
  const groups = Map.groupBy(notes, (note) => JSON.stringify([note.code, note.message, note.hint]))
  const byCode = Map.groupBy(groups.values(), ([first]) => first?.code ?? '')
  const lines = [...byCode].flatMap(([code, alike]) => {
    if (alike.length <= ALIKE_AT_MOST) return alike.map((group) => noteText(group, paintCode, width))
    const shown = alike.slice(0, SHOWN_OF_ALIKE).map((group) => noteText(group, paintCode, width))
    return [...shown, wrapped('  ', `and ${alike.length - SHOWN_OF_ALIKE} more ${code}: volctl plan shows them`, width)]
  })
  return `\n${title}:\n${lines.join('')}`
}

function noteText(group: readonly Note[], paintCode: (text: string) => string, width: Width): string {
  const [first] = group
  if (first === undefined) return ''
  const times = group.length > 1 ? `${group.length} x ` : ''
  const text = wrapped('  ', `${times}${first.code}: ${first.message}`, width, paintCode)
  return `${text}${first.hint === undefined ? '' : wrapped('      ', first.hint, width)}`
}

/** An answer on a screen: its parts in their order, each alike, and the next command as the last line. */
import type { Answer, Need, Part, Row } from '../answer/answer.ts'
import type { NextStep } from '../plan/plan.ts'
import type { Screen } from './screen.ts'
import { terminalSafe } from './terminal-safe.ts'
import { textWidth } from './text-width.ts'
import { wrapped } from './wrap.ts'

/** Of more rows than this the first few are shown. */
const ROWS_AT_MOST = 5
/** Of more needs than this the last ones are a line each. */
const NEEDS_AT_MOST = 5
/** A longer label, or one that takes half of the screen, stands out to the right of its column; a UID does not. */
const LONGEST_LABEL = 38

export interface AnswerDetail {
  /** Every row and every need whole. */
  readonly unfolded?: boolean
  /** Of one thing: more rows than this are counted; more needs are a line each, and counted past twice as many. */
  readonly most?: number
  /** Where what stands with the needs is typed, if that is not here. */
  readonly place?: string | undefined
  /** In place of the headline. */
  readonly header?: string | undefined
  /** What the part of what volctl would do is called. */
  readonly ready?: string
  /** Between the parts and the counts. */
  readonly more?: readonly string[]
  /** In place of the counts and the next commands. */
  readonly end?: string
}

export function renderAnswer(answer: Answer, screen: Screen, detail: AnswerDetail = {}): string {
  const { paint, width } = screen
  const { unfolded = false, header, ready = 'Ready', more = [], most, end } = detail
  const doubts = [
    ...(header === undefined ? answer.doubts : []),
    ...(answer.incomplete ? ['Not complete: something could not be read, and counts as in use'] : []),
  ]
  const parts = [
    `${header ?? wrapped('', answer.headline, width, paint.bold)}${doubts.map((each) => wrapped('  ! ', each, width, paint.warn)).join('')}`,
    needsText(answer.needs, screen, detail),
    partText(ready, answer.ready, screen, unfolded, most),
    partText('Kept', answer.kept, screen, unfolded, most),
    partText('Left to others', answer.others, screen, unfolded, most),
    notesText(answer.notes, screen, unfolded),
    ...more,
    end ?? answerEnd(answer, screen),
  ]
  return parts.filter((part) => part !== '').join('\n')
}

/** The counts and what to type next. */
function answerEnd({ counts, next }: Answer, screen: Screen): string {
  return `${wrapped('', counts, screen.width, screen.paint.bold)}${nextText(next, screen)}`
}

function needsText(needs: readonly Need[], screen: Screen, detail: AnswerDetail): string {
  if (needs.length === 0) return ''
  const { unfolded = false, place, most } = detail
  const whole = unfolded ? needs : needs.slice(0, most ?? NEEDS_AT_MOST)
  const last = unfolded || most === undefined ? needs.length : 2 * most
  const rest = needs.slice(whole.length, last)
  const hidden = needs.length - whole.length - rest.length
  const more = hidden <= 0 ? '' : `  and ${hidden} more (-o wide shows all)\n`
  const texts = whole.map((need, index) => needText(need, screen, need.remedy[0] !== whole[index + 1]?.remedy[0]))
  const where = place === undefined ? '' : ` (on node ${terminalSafe(place)})`
  return `${screen.paint.bold(`Needs you${where}`)}\n${texts.join('')}${rest.map((need) => signed(need, screen)).join('')}${more}`
}

/** @param withRemedy false: the next one has the same */
function needText(need: Need, screen: Screen, withRemedy: boolean): string {
  return `${signed(need, screen)}${needRows(withRemedy ? need : { ...need, remedy: [] }, screen)}`
}

/** What hangs on it, and what lifts it. */
export function needRows({ wake, remedy }: Pick<Need, 'wake' | 'remedy'>, { width, symbols, paint }: Screen): string {
  return [
    ...wake.map((each) => wrapped('      ', each, width)),
    ...remedy.map((each) => wrapped(`    ${symbols.arrow} `, each, width, paint.dim)),
  ].join('')
}

function signed({ severity, text }: Need, { width, paint, symbols }: Screen): string {
  const sign = severity === 'error' ? symbols.bad : symbols.warn
  return wrapped(`  ${sign} `, text, width, severity === 'error' ? paint.bad : paint.warn)
}

function partText(
  name: string,
  part: Part | undefined,
  screen: Screen,
  unfolded: boolean,
  most = ROWS_AT_MOST,
): string {
  if (part === undefined) return ''
  const { rows } = part
  const shown = unfolded || rows.length <= most + 1 ? rows : rows.slice(0, most)
  const hidden = rows.length - shown.length
  const more = hidden === 0 ? '' : `  and ${hidden} more (${most === ROWS_AT_MOST ? '-v' : '-o wide'} shows all)\n`
  return `${wrapped('', part.title === '' ? name : `${name}: ${part.title}`, screen.width, screen.paint.bold)}${rowsText(shown, screen)}${more}`
}

function rowsText(rows: readonly Row[], { width, paint }: Screen): string {
  const safe = rows.map(({ label, ...row }) => ({
    ...row,
    label: label === undefined ? undefined : terminalSafe(label),
  }))
  const longest = Math.min(LONGEST_LABEL, (width ?? Number.POSITIVE_INFINITY) / 2)
  const widest = Math.max(0, ...safe.map(({ label = '' }) => textWidth(label)).filter((each) => each <= longest))
  return safe
    .map(({ label, text, loss }) => {
      const first = label === undefined ? '  ' : `  ${label}${' '.repeat(Math.max(0, widest - textWidth(label)))}   `
      return wrapped(first, text, width, loss ? paint.warn : undefined)
    })
    .join('')
}

function notesText(notes: readonly string[], screen: Screen, unfolded: boolean): string {
  const shown = unfolded || notes.length <= 3 ? notes : notes.slice(0, 2)
  const more = notes.length - shown.length
  return `${shown.map((each) => wrapped('Note: ', each, screen.width, screen.paint.dim)).join('')}${more > 0 ? `${more} more notes (-v shows all)\n` : ''}`
}

/** The next commands, below each other; the first is the next step. To a shell what follows a command is a comment: whole lines can be copied. */
export function nextText(next: readonly NextStep[], { width, paint }: Screen): string {
  return next
    .map(({ first: before, command, why, node }, index) => {
      const first = index === 0 ? 'Next: ' : '      '
      const line = `${node === undefined ? '' : `on node ${node}: `}${command}`
      const whole = `${before === undefined ? '' : `${before}, then: `}${line}  # ${why}`
      if (width === undefined || textWidth(first + whole) <= width) return wrapped(first, whole, undefined, paint.bold)
      // Prose is broken, a command never is.
      const prose = before === undefined ? '' : wrapped(first, `${before}, then:`, width, paint.bold)
      return `${prose}${wrapped(prose === '' ? first : '      ', line, undefined, paint.bold)}${wrapped('        # ', why, width)}`
    })
    .join('')
}

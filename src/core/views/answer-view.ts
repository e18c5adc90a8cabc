/** An answer on a screen: its parts in their order, each alike, and the next command as the last line. */

import { present } from '../base/text.ts'
import type { Hint } from '../messages/command.ts'
import { terminalSafe } from '../messages/terminal-safe.ts'
import type { NextStep } from '../plan/plan.ts'
import type { Answer, Need, Part, Row } from './answer/answer.ts'
import { type Screen, screenLines, textWidth, type Width, wrapped } from './screen.ts'

/** Of more rows than this the first few are shown. */
const ROWS_AT_MOST = 5
/** Of more needs than this the last ones are a line each. */
const NEEDS_AT_MOST = 5
/** A longer label, or one that takes half of the screen, stands out to the right of its column; a UID does not. */
const LONGEST_LABEL = 38

interface AnswerDetail {
  /** Every row and every need whole. */
  readonly unfolded?: boolean
  /** Of one thing: more rows than this are counted; more needs are a line each, and counted past twice as many. */
  readonly most?: number
  /** Where what stands with the needs is typed, if that is not here. */
  readonly place?: string
  /** In place of the headline. */
  readonly header?: string
  /** Between the parts and the counts. */
  readonly more?: readonly (string | false)[]
}

export function renderAnswer(answer: Answer, screen: Screen, detail: AnswerDetail): string {
  const { paint, width } = screen
  const { unfolded = false, header, more = [], most } = detail
  const doubts = present(
    ...(header === undefined ? answer.doubts : []),
    answer.incomplete && 'Not complete: something could not be read, and counts as in use',
  )
  const head = `${header ?? wrapped('', answer.headline, width, paint.bold)}${doubts.map((each) => wrapped('  ! ', each, width, paint.warn)).join('')}`
  const rest = present(
    ...answer.parts.map((part) => part.rows.length > 0 && partText(part, screen, unfolded, most)),
    notesText(answer.notes, screen, unfolded),
    ...more,
    `${answer.counts && wrapped('', answer.counts, width, paint.bold)}${nextText(answer.next, screen)}`,
  )
  const room = unfolded || header !== undefined ? undefined : roomBetween(head, rest.join('\n'), screen)
  const needs = needsText(answer.needs, screen, detail, room)
  return present(head, needs, ...rest).join('\n')
}

/** More lines than this are no answer, but where the terminal has them. */
const LINES_AT_MOST = 40

/**
 * Lines that the needs may take: those of the first screen below the head, without the last one, which the prompt has, and
 * without their title and the blank lines; fewer where the answer would become too long.
 */
function roomBetween(head: string, rest: string, { rows, width }: Screen): number | undefined {
  if (rows === undefined) return undefined
  const above = screenLines(head, width) + 2
  return Math.min(rows - above - 1, Math.max(rows, LINES_AT_MOST) - above - 1 - screenLines(rest, width))
}

/** @param room lines that the needs may take; undefined: any number */
function needsText(needs: readonly Need[], screen: Screen, detail: AnswerDetail, room?: number): string {
  if (needs.length === 0) return ''
  const { unfolded = false, place, most } = detail
  const { paint, symbols, width } = screen
  const whole = unfolded ? needs : needs.slice(0, most ?? NEEDS_AT_MOST)
  const limit = unfolded || most === undefined ? needs.length : 2 * most
  const forms = needs.slice(0, limit).map((need, index): Forms => {
    const level = need.severity === 'error' ? 'bad' : 'warn'
    const sign = wrapped(`  ${symbols[level]} `, need.text, width, paint[level])
    const short = `${sign}${needRows({ ...need, blocks: [], remedy: [] }, screen)}`
    if (index >= whole.length) return { need, short, long: short }
    const isSaidNext = `${need.remedy[0]}` === `${whole[index + 1]?.remedy[0]}`
    return { need, short, long: `${sign}${needRows(isSaidNext ? { ...need, remedy: [] } : need, screen)}` }
  })
  const texts = room === undefined ? forms.map(({ long }) => long) : within(room, forms, width)
  const where = place === undefined ? '' : ` (on node ${terminalSafe(place)})`
  return `${paint.bold(`Needs you${where}`)}\n${texts.join('')}${moreText(needs.length - texts.length, most)}`
}

function moreText(hidden: number, most: number | undefined): string {
  return hidden === 0 ? '' : `  and ${hidden} more (${most === undefined ? '-v' : '-o wide'} shows all)\n`
}

interface Forms {
  readonly need: Need
  readonly short: string
  readonly long: string
}

/** What has room: every error by its sentence, then errors whole, then the others. What has none is left out, and one line is for its count. */
function within(room: number, forms: readonly Forms[], width: Width): string[] {
  const size = (text: string): number => screenLines(text, width)
  if (size(forms.map(({ long }) => long).join('')) <= room) return forms.map(({ long }) => long)
  const shown = new Map<Forms, string>()
  let left = room - 1
  const take = (each: Forms, text: string): void => {
    const rest = left + size(shown.get(each) ?? '') - size(text)
    if (rest < 0 && shown.size > 0) return
    left = rest
    shown.set(each, text)
  }
  for (const isError of [true, false]) {
    const part = forms.filter(({ need }) => (need.severity === 'error') === isError)
    for (const each of part) take(each, each.short)
    for (const each of part) if (shown.has(each)) take(each, each.long)
  }
  return forms.flatMap((each) => shown.get(each) ?? [])
}

/** What it is about and what hangs on it, and what lifts it. */
export function needRows(
  { names, blocks, remedy }: Pick<Need, 'names' | 'blocks' | 'remedy'>,
  { width, symbols, paint }: Screen,
): string {
  return [
    ...present(names, ...blocks).map((each) => wrapped('      ', each, width)),
    ...remedy.map((each) => wrapped(`    ${symbols.arrow} `, each, width, paint.dim)),
  ].join('')
}

function partText({ name, title, rows }: Part, screen: Screen, unfolded: boolean, most?: number): string {
  const limit = most ?? ROWS_AT_MOST
  const shown = unfolded || rows.length <= limit + 1 ? rows : rows.slice(0, limit)
  const more = moreText(rows.length - shown.length, most)
  const head = title === undefined ? name : `${name}: ${title}`
  return `${wrapped('', head, screen.width, screen.paint.bold)}${rowsText(shown, screen)}${more}`
}

function rowsText(rows: readonly Row[], { width, paint }: Screen): string {
  const labels = rows.map(({ label }) => label && terminalSafe(label))
  const longest = Math.min(LONGEST_LABEL, (width ?? Number.POSITIVE_INFINITY) / 2)
  const widest = Math.max(0, ...labels.map((label = '') => textWidth(label)).filter((each) => each <= longest))
  return rows
    .map(({ text, loss }, index) => {
      const label = labels[index]
      const first = label === undefined ? '  ' : `  ${label}${' '.repeat(Math.max(0, widest - textWidth(label)))}   `
      return wrapped(first, text, width, loss ? paint.warn : undefined)
    })
    .join('')
}

function notesText(notes: readonly Hint[], screen: Screen, unfolded: boolean): string {
  const shown = unfolded || notes.length <= 3 ? notes : notes.slice(0, 2)
  const more = notes.length - shown.length
  return `${shown.map((each) => wrapped('Note: ', each, screen.width, screen.paint.dim)).join('')}${more > 0 ? `${more} more notes (-v shows all)\n` : ''}`
}

/** The next commands, below each other; the first is the next step. To a shell what follows a command is a comment: whole lines can be copied. */
export function nextText(next: readonly NextStep[], { width, paint }: Screen): string {
  return next
    .map(({ first: before, command, why, node }, index) => {
      const first = index === 0 ? 'Next: ' : '      '
      const line = node === undefined ? command : `on node ${node}: ${command}`
      const whole = `${before === undefined ? '' : `${before}, then: `}${line}  # ${why}`
      if (width === undefined || textWidth(first + whole) <= width) return wrapped(first, whole, undefined, paint.bold)
      // Prose is broken, a command never is.
      const prose = before === undefined ? '' : wrapped(first, `${before}, then:`, width, paint.bold)
      return `${prose}${wrapped(prose === '' ? first : '      ', line, undefined, paint.bold)}${wrapped('        # ', why, width)}`
    })
    .join('')
}

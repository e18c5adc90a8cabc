/** What is drawn: the screen, its width, and the words that every view has. */

import { stripVTControlCharacters } from 'node:util'
import stringWidth from 'string-width'
import type { Subject } from '../explain/explanation.ts'
import type { LineExplanation } from '../explain/log-lines/explain-line.ts'
import type { StatusRow } from '../explain/status/status.ts'
import { type Hint, partsOf, shellLine } from '../messages/command.ts'
import { terminalSafe } from '../messages/terminal-safe.ts'
import type { AnyOperation } from '../plan/cluster-plan.ts'
import { shownVolume } from '../plan/names.ts'
import type { Operation, VolumeRef } from '../plan/plan.ts'
import type { PodRef } from '../volumes/finding.ts'
import { podName } from '../volumes/pods.ts'

/** A volume by the name that its pod gives it, where that is known. */
export function volumeText(volume: VolumeRef): string {
  return volume.podVolumeName ?? shownVolume({ volume })
}

/** With a capital and a full stop. */
export function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}

/** The row of each operation by its id, from 1. */
export function numbersOf(operations: readonly { readonly id: string }[]) {
  return new Map(operations.map(({ id }, index) => [id, index + 1]))
}

/** Row numbers in a short form: `1-3, 7`. */
export function numberRanges(numbers: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const n of numbers) {
    const last = ranges.at(-1)
    if (last !== undefined && n === last[1] + 1) last[1] = n
    else ranges.push([n, n])
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ')
}

// Prose on a terminal: broken between words, hanging under its beginning. A path or a command is never broken, so that it
// can be copied; a command that is longer than a line begins a new one.

/** How wide the terminal is; undefined: a pipe or a file, in which a line stays whole. */
export type Width = number | undefined

/** What is left for words where the indent takes nearly all. */
const LEAST = 20

/**
 * @param first what stands before the text in its first line, as it is; the other lines are indented by its width
 * @param paint colours the text, line by line
 */
export function wrapped(first: string, text: Hint, width: Width, paint: (line: string) => string = asItIs): string {
  if (width === undefined) return `${`${first}${paint(terminalSafe(`${text}`))}`.trimEnd()}\n`
  const indent = ' '.repeat(textWidth(first))
  return linesOf(text, Math.max(width - textWidth(first), LEAST))
    .map((line, index) => `${`${index === 0 ? first : indent}${paint(line)}`.trimEnd()}\n`)
    .join('')
}

export const asItIs = (text: string): string => text

function linesOf(text: Hint, width: number): string[] {
  const whole = terminalSafe(`${text}`)
  if (textWidth(whole) <= width) return [whole]
  const lines: string[] = []
  let line = ''
  const end = (): void => {
    if (line !== '') lines.push(line)
    line = ''
  }
  for (const { text: words, isCommand } of chunksOf(text)) {
    if (line !== '' && textWidth(line) + 1 + textWidth(words) > width) end()
    if (isCommand && textWidth(words) > width) {
      // The mark behind it would be copied too; a semicolon does no harm.
      lines.push('.,:'.includes(words.at(-1) ?? '') ? words.slice(0, -1) : words)
    } else line = line === '' ? words : `${line} ${words}`
  }
  end()
  return lines
}

/** The words of a text; a command is one, with the marks that stand at it. Joined by blanks they are the text again. */
function chunksOf(text: Hint): { text: string; isCommand: boolean }[] {
  const chunks: { text: string; isCommand: boolean }[] = []
  for (const part of partsOf(text)) {
    const isCommand = typeof part !== 'string'
    const [first = '', ...words] = isCommand ? [shellLine(part.argv)] : part.split(' ')
    const last = chunks.pop()
    chunks.push({ text: `${last?.text ?? ''}${first}`, isCommand: isCommand || last?.isCommand === true })
    chunks.push(...words.map((word) => ({ text: word, isCommand: false })))
  }
  return chunks.map((each) => ({ ...each, text: terminalSafe(each.text) }))
}

/**
 * How many columns a text takes on a terminal: wide letters take two, marks that combine take none.
 *
 * @param text without control characters and colours (base/text.ts)
 */
export function textWidth(text: string): number {
  return PLAIN_TEXT.test(text) ? text.length : stringWidth(text)
}

/** Nearly every text of a plan, which may have 100,000 rows: looking at each letter would take its time. */
const PLAIN_TEXT = /^[ -~]*$/

/** The beginning of a text that fits into some columns; letters are not taken apart. */
export function cutToWidth(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  let cut = ''
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (textWidth(cut + segment) > width) break
    cut += segment
  }
  return cut
}

// What a view draws on, and how much it shows.

export interface Screen {
  readonly paint: Palette
  readonly symbols: Symbols
  /** Columns; undefined: a pipe or a file, in which a line stays whole. */
  readonly width: Width
  /** Lines of the terminal; undefined as above. */
  readonly rows?: number
  /** -o wide: everything, nothing folded. */
  readonly wide: boolean
}

/** The few signs that views draw with. Each stands beside a word: nothing is said by a sign or a colour alone. */
export type Symbols = Readonly<Record<'good' | 'bad' | 'warn' | 'unknown' | 'waiting' | 'arrow', string>>

export const UNICODE_SYMBOLS: Symbols = {
  good: '✓',
  bad: '✗',
  warn: '!',
  unknown: '?',
  waiting: '…',
  arrow: '→',
}

export const ASCII_SYMBOLS: Symbols = {
  good: '+',
  bad: 'x',
  warn: '!',
  unknown: '?',
  waiting: '.',
  arrow: '->',
}

/** Does the locale say UTF-8? As with setlocale(3), the first variable that is set counts; none of them is the C locale. */
export function isUtf8Locale({ LC_ALL, LC_CTYPE, LANG }: Readonly<Record<string, string | undefined>>): boolean {
  return /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '')
}

// How much room a text takes on a terminal.

/** Lines on the terminal: one that is too wide for it takes several. */
export function screenLines(text: string, width: Width): number {
  const lines = text.split('\n').slice(0, -1)
  if (width === undefined) return lines.length
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(textWidth(stripVTControlCharacters(line)) / width)), 0)
}

/** The few meanings that have a colour. */
export type Palette = Readonly<Record<'bold' | 'dim' | 'good' | 'warn' | 'bad', (text: string) => string>>

export const PLAIN: Palette = { bold: asItIs, dim: asItIs, good: asItIs, warn: asItIs, bad: asItIs }

/** Decided once per stream, as chalk itself ignores NO_COLOR. Without colour chalk is not even loaded. */
export async function palette(colour: boolean): Promise<Palette> {
  if (!colour) return PLAIN
  const { Chalk } = await import('chalk')
  const chalk = new Chalk({ level: 1 })
  return { bold: chalk.bold, dim: chalk.dim, good: chalk.green, warn: chalk.yellow, bad: chalk.red }
}

/** A pipe: no colour, plain signs, lines of any length. */
export const PLAIN_SCREEN: Screen = { paint: PLAIN, symbols: ASCII_SYMBOLS, width: undefined, wide: false }

// `-o name`: what an answer is about, one TYPE/NAME a line as kubectl has it. `volctl explain` takes each of them.

/** Pods, volumes and attachments of the operations, blocked ones included, in the order of the plan. */
export function namesOfPlan({ operations }: { readonly operations: readonly AnyOperation[] }): string[] {
  const pods = new Map(operations.flatMap((each) => ('pod' in each && each.pod ? [[each.pod.uid, each.pod]] : [])))
  const called = Map.groupBy(pods.values(), podName)
  const isShared = (pod: PodRef): boolean => (called.get(podName(pod))?.length ?? 0) > 1
  return operations.map((operation) => {
    if (operation.attachment !== undefined) return `volumeattachment/${operation.attachment.name}`
    const { pod, volume, paths, basis } = operation as Operation
    // Of a deleted pod another may have the name.
    const isListed = basis?.pod?.listed !== false
    if (pod !== undefined) return `pod/${isListed && !isShared(pod) ? podName(pod) : pod.uid}`
    return volume === undefined ? `path/${paths[0] ?? ''}` : volumeName(volume)
  })
}

/** Pods, and volumes that are no pod's any more, of these rows, in their order. */
export function namesOfRows(rows: readonly Pick<StatusRow, 'pod' | 'volume' | 'desired'>[]): string[] {
  return rows.map(({ pod, volume, desired }) =>
    pod === undefined ? volumeName(volume) : `pod/${desired === 'notWanted' ? pod.uid : podName(pod)}`,
  )
}

function volumeName({ persistentVolume, uniqueName, name }: VolumeRef): string {
  return persistentVolume === undefined ? `volume/${uniqueName ?? name}` : `persistentvolume/${persistentVolume}`
}

/** What of the names in a line of a log is on this node. */
export function namesOfLine({ names }: Pick<LineExplanation, 'names'>): string[] {
  return names.flatMap(({ found, subject }) => (found && subject !== undefined ? subjectName(subject) : []))
}

export function subjectName({ kind, name }: Subject): string {
  return `${kind.toLowerCase()}/${name}`
}

/** Each once. */
export function renderNames(names: readonly string[]): string {
  return [...new Set(names)].map((name) => `${terminalSafe(name)}\n`).join('')
}

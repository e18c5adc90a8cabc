/**
 * A paste as the lines that it was before: what a terminal or a tool broke is one line again, and what a whole `kubectl describe` is
 * about is among the values of its events, which do not name it.
 */
import { type LogLine, MAX_LINE_CHARS } from './log-line.ts'
import { objectLines } from './object-lines.ts'
import { parseLine } from './parse-line.ts'

/** How a further row of one line begins: what mount(8) printed, or anything but a new sentence. */
const CONTINUES = /^(?:(?:Unm|M)ounting (?:command|arguments):|Output:|[a-z0-9_,.;:)\]}"'/+-])/
/** A terminal that breaks lines has at least as many columns. */
const NARROWEST = 60

/** A line, and the rows that it was broken into. */
interface Broken {
  readonly line: LogLine
  text: string
  isBroken: boolean
}

/** @param rows as they were read @returns whole lines, taken apart */
export function pastedLines(rows: readonly string[]): LogLine[] {
  return objectLines(rows) ?? textLines(rows)
}

function textLines(rows: readonly string[]): LogLine[] {
  const width = Math.max(NARROWEST, ...lengthsOf(rows))
  const found: Broken[] = []
  let last: string | undefined
  for (const row of rows) {
    const isBlank = row.trim() === ''
    const before = last === undefined ? undefined : found.at(-1)
    const isFull = last !== undefined && last.length >= width
    const line = parseLine(row)
    if (before !== undefined && !isBlank && isRest(before, line, row, isFull)) {
      // A terminal breaks in the middle of a word, programs between two.
      before.text += isFull ? row : `\n${line.message}`
      before.isBroken = true
    } else if (!isBlank) found.push({ line, text: row, isBroken: false })
    last = isBlank ? undefined : row
  }
  return aboutTheirObject(
    rows,
    found.map(({ line, text, isBroken }) => (isBroken ? parseLine(text) : line)),
  )
}

/** A whole log is no paste: its longest line says nothing of a terminal. */
const MOST_ROWS_OF_A_TERMINAL = 2000

function lengthsOf(rows: readonly string[]): number[] {
  return rows.length > MOST_ROWS_OF_A_TERMINAL ? [Number.POSITIVE_INFINITY] : rows.map((row) => row.length)
}

/** What mount(8) printed: journald gives each row of it a head. */
const PRINTED = /^(?:(?:Unm|M)ounting (?:command|arguments)|Output):/

/** A row without a head is of the line before, if that has one, or is a program that failed. */
function isRest({ line, text }: Broken, next: LogLine, row: string, isFull: boolean): boolean {
  if (text.length > MAX_LINE_CHARS) return false
  if (next.format === 'plain' && PRINTED.test(next.message) && line.said.includes('exit status')) return true
  if (hasHead(next)) return false
  return hasHead(line) || (CONTINUES.test(row) && (isFull || line.said.includes('exit status')))
}

function hasHead({ format, time, host, values }: LogLine): boolean {
  return format !== 'plain' || time !== undefined || host !== undefined || values.size > 0
}

const FIELD = /^(Name|Namespace|StorageClass|Containers):\s*(\S*)/

/** Events of `kubectl describe pod` or `pvc`. */
function aboutTheirObject(rows: readonly string[], lines: LogLine[]): LogLine[] {
  const fields = new Map<string, string>()
  for (const row of rows) {
    const [, key, value] = FIELD.exec(row) ?? []
    if (key !== undefined && value !== undefined && !fields.has(key)) fields.set(key, value)
  }
  const name = fields.get('Name')
  const kind = fields.has('Containers') ? 'pod' : fields.has('StorageClass') ? 'pvc' : undefined
  if (name === undefined || kind === undefined) return lines
  const namespace = fields.get('Namespace')
  const whole = namespace === undefined ? name : `${namespace}/${name}`
  return lines.map((line) =>
    line.format === 'event' && !line.values.has('pod')
      ? { ...line, values: new Map([...line.values, [kind, whole]]) }
      : line,
  )
}

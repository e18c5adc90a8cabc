/**
 * A paste as the lines that it was before: what a terminal or a tool broke is one line again, and what a whole `kubectl describe` is
 * about is written into its events, which do not name it.
 */

import { MAX_LINE_CHARS } from './log-line.ts'
import { parseLine } from './parse-line.ts'
import { plainText } from './sentences/ways.ts'

/** How a further row of one line begins: what mount(8) printed, or anything but a new sentence. */
const CONTINUES = /^(?:(?:Unm|M)ounting (?:command|arguments):|Output:|[a-z0-9_,.;:)\]}"'/+-])/
const NARROWEST = 60
/** What follows one line without an end is no part of it. */
const MOST_CHARS = MAX_LINE_CHARS

/** @param lines as they were read @returns whole lines */
export function wholeLines(lines: readonly string[]): string[] {
  const width = Math.max(0, ...lines.map((line) => line.length))
  const found: string[] = []
  let last: string | undefined
  for (const line of lines) {
    const isFull = last !== undefined && last.length >= Math.max(width, NARROWEST)
    if (last !== undefined && line.trim() !== '' && isRest(found.at(-1) ?? '', line, isFull)) {
      // A terminal breaks in the middle of a word, programs between two.
      found.push(`${found.pop()}${isFull ? line : `\n${line.trim()}`}`)
    } else if (line.trim() !== '') found.push(line)
    last = line.trim() === '' ? undefined : line
  }
  return aboutTheirObject(found)
}

/** Without a head of its own, behind a line with one, or behind a program that failed. */
function isRest(before: string, line: string, isFull: boolean): boolean {
  if (before.length > MOST_CHARS || hasHead(line)) return false
  return hasHead(before) || (CONTINUES.test(line) && (isFull || /exit status \d+/.test(before)))
}

function hasHead(line: string): boolean {
  const { format, time, host, values } = parseLine(line)
  return format !== 'plain' || time !== undefined || host !== undefined || values.size > 0
}

const DESCRIBED = /^(Name|Namespace|Node|StorageClass|Containers):\s*(\S*)/

/** Events of `kubectl describe pod` or `pvc`. */
function aboutTheirObject(lines: readonly string[]): string[] {
  const fields = new Map<string, string>()
  for (const line of lines) {
    const [, key, value] = DESCRIBED.exec(line) ?? []
    if (key !== undefined && value !== undefined && !fields.has(key)) fields.set(key, value)
  }
  const name = fields.get('Name')
  if (name === undefined) return [...lines]
  const whole = [fields.get('Namespace'), name].filter((each) => each !== undefined && each !== '').join('/')
  const kind = fields.has('Containers') ? 'pod' : fields.has('StorageClass') ? 'pvc' : undefined
  return lines.map((line) => (kind !== undefined && isEvent(line) ? withObject(line, kind, whole) : line))
}

function isEvent(line: string): boolean {
  return parseLine(line).format === 'event'
}

function withObject(line: string, kind: 'pod' | 'pvc', name: string): string {
  if (plainText(line).includes(plainText(name))) return line
  return kind === 'pod' ? `${line} (pod "${name}")` : `${line} (persistentvolumeclaim "${name}")`
}

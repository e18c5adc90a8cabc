/**
 * Objects as `kubectl get -o yaml` or `-o json` prints them: what their status says is one line each, of that object. The rest of
 * them, names, sizes and annotations, says nothing that went wrong.
 */
import { loadAll } from 'js-yaml'
import { defined } from '../lang/defined.ts'
import { ownValue } from '../lang/own-value.ts'
import { objectKey } from './event-line.ts'
import { type LogLine, MAX_LINE_CHARS } from './log-line.ts'
import { parseLine } from './parse-line.ts'

const BEGINS = /^\s*(?:\{|(?:- )?(?:apiVersion: \S+|kind: [A-Z][A-Za-z]+|status:|items:))$/
const MOST_ROWS = 20_000
const MOST_CHARS = 2_000_000
/** Fields are looked at, and lines made of them: an alias of YAML stands for as much as it likes. */
const MOST_FIELDS = 20_000
const MOST_LINES = 500

type Field =
  | 'kind'
  | 'metadata'
  | 'name'
  | 'namespace'
  | 'items'
  | 'status'
  | 'phase'
  | 'allocatedResourceStatuses'
  | 'involvedObject'
  | 'regarding'
  | 'message'
  | 'note'
  | 'reason'
  | 'type'

type Fields = Readonly<Partial<Record<Field, unknown>>>

/** @returns undefined where the rows are no objects, or say of no object what state it is in */
export function objectLines(rows: readonly string[]): LogLine[] | undefined {
  const first = rows.find((row) => row.trim() !== '' && row.trim() !== '---')
  if (first === undefined || !BEGINS.test(first) || rows.length > MOST_ROWS) return undefined
  const text = rows.join('\n')
  if (text.length > MOST_CHARS) return undefined
  const lines = documentsOf(text).flatMap(itemsOf).flatMap(linesOf).slice(0, MOST_LINES)
  return lines.length === 0 ? undefined : lines
}

function documentsOf(text: string): unknown[] {
  try {
    return loadAll(text)
  } catch {
    return []
  }
}

function itemsOf(document: unknown): Fields[] {
  if (!isFields(document)) return []
  return Array.isArray(document.items) ? document.items.filter(isFields) : [document]
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function linesOf(object: Fields): LogLine[] {
  const kind = textOf(object.kind) ?? ''
  if (kind === 'Event') return eventLines(object)
  const about = aboutOf(kind, object.metadata)
  const status = object.status
  if (!isFields(status)) return []
  const said = [...saidIn(status), ...growingIn(status)]
  if (said.length > 0) return said.map((each) => lineOf(each, about))
  return about.length === 0 ? [] : [lineOf({ message: `${kind}: ${textOf(status.phase) ?? 'no message'}` }, about)]
}

/** What an event is about is named as by `kubectl get events`. */
function eventLines(event: Fields): LogLine[] {
  const { involvedObject, regarding, message, note, reason, type } = event
  const object = isFields(involvedObject) ? involvedObject : regarding
  const text = textOf(message) ?? textOf(note)
  if (!isFields(object) || text === undefined) return []
  const severity = type === 'Warning' ? 'warning' : 'info'
  return [
    { ...lineOf({ message: text, reason: textOf(reason) }, aboutOf(textOf(object.kind) ?? '', object)), severity },
  ]
}

interface Said {
  readonly message: string
  readonly reason?: string | undefined
}

/** Why containers are not ready is said by the containers. */
const ECHOES: ReadonlySet<string> = new Set(['ContainersNotReady'])

/** Each message below, with the reason or type that stands beside it. */
function saidIn(status: Fields): Said[] {
  const found: Said[] = []
  const open: unknown[] = [status]
  for (let looked = 0; open.length > 0 && looked < MOST_FIELDS; looked++) {
    const value = open.pop()
    if (isFields(value)) {
      const message = textOf(value.message)
      const reason = textOf(value.reason) ?? textOf(value.type)
      if (message !== undefined && !ECHOES.has(reason ?? '')) found.push({ message, reason })
    }
    if (typeof value === 'object' && value !== null)
      open.push(...Object.values(value).slice(0, MOST_LINES).toReversed())
  }
  return found
}

/** How far the growing of a claim is: a word for each resource. */
function growingIn({ allocatedResourceStatuses: growing }: Fields): Said[] {
  if (!isFields(growing)) return []
  return Object.values(growing).flatMap((value) => {
    const state = textOf(value)
    return state === undefined ? [] : [{ message: `allocatedResourceStatuses: ${state}`, reason: state }]
  })
}

const KEYS: Readonly<Record<string, string>> = { PersistentVolume: 'pv', VolumeAttachment: 'attachment' }

function aboutOf(kind: string, metadata: unknown): [string, string][] {
  const key = objectKey(kind) ?? ownValue(KEYS, kind)
  if (key === undefined || !isFields(metadata)) return []
  const name = textOf(metadata.name)
  const namespace = textOf(metadata.namespace)
  return name === undefined ? [] : [[key, namespace === undefined ? name : `${namespace}/${name}`]]
}

function lineOf({ message, reason }: Said, about: readonly [string, string][]): LogLine {
  const line = parseLine(message.slice(0, MAX_LINE_CHARS))
  return { ...line, ...defined({ reason }), values: new Map([...line.values, ...about]) }
}

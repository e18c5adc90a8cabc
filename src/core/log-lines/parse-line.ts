/**
 * One line as people paste it, from whatever tool:
 *
 *   Nov 22 20:01:02 node-1 kubelet[812]: E1122 20:01:02.123456     812 file.go:123] text, or "message" err="…" pod="ns/name"
 *   {"ts":1763841662123.4,"caller":"file.go:123","msg":"message","pod":{"name":"…","namespace":"…"},"err":"…"}
 *   Warning  FailedMount  2m (x5 over 10m)  kubelet  text
 *   time="2026-11-22T20:01:02Z" level=error msg="text" error="…"
 *   text alone
 *
 * Nothing here throws, and each part takes time in proportion to the line.
 */
import { defined } from '../lang/defined.ts'
import { ownValue } from '../lang/own-value.ts'
import { flattened, unquoteAt } from './go-quoting.ts'
import { parseJsonLine } from './json-line.ts'
import { keyValues } from './key-values.ts'
import { takePrefix } from './line-prefix.ts'
import { type LineSeverity, type LogLine, MAX_LINE_CHARS, severityOfLevel } from './log-line.ts'

const KLOG = /^([IWEF])\d{4} \d\d:\d\d:\d\d(?:\.\d+)?(?: {1,8}\d+)? {1,8}([\w.@/-]+:\d+)(?:\] ?| )/
const HEAD_CHARS = 400

export function parseLine(given: string): LogLine {
  return parsed(given.slice(0, MAX_LINE_CHARS).trim(), 0)
}

/** @param depth how many lines this one was wrapped in */
function parsed(text: string, depth: number): LogLine {
  const { head, rest } = takePrefix(text)
  const { severity, source, ...place } = head
  const line = klogLine(rest) ?? jsonLine(rest, depth) ?? eventLine(rest) ?? logfmtLine(rest) ?? plainLine(rest)
  return sentEvent({ ...defined({ severity, source }), ...line, ...place })
}

function klogLine(text: string): LogLine | undefined {
  const [header, letter, source = ''] = KLOG.exec(text.slice(0, HEAD_CHARS)) ?? []
  if (header === undefined) return undefined
  const rest = text.slice(header.length)
  return { ...(quotedLine(rest) ?? plainLine(rest)), source, ...defined({ severity: severityOfLevel(letter) }) }
}

/** A quoted message, and key="value" behind it. */
function quotedLine(text: string): LogLine | undefined {
  const quoted = text.startsWith('"') ? unquoteAt(text, 0) : undefined
  return quoted && { message: quoted.value, values: keyValues(text, quoted.end), said: flattened(text) }
}

const MOST_WRAPPINGS = 2

function jsonLine(text: string, depth: number): LogLine | undefined {
  const found = parseJsonLine(text)
  if (found === undefined) return undefined
  const { head, message, values, wrapped } = found
  if (wrapped && depth < MOST_WRAPPINGS) return { ...head, ...parsed(message.trim(), depth + 1) }
  const pairs = [...values].map(([key, value]) => ` ${key}="${value}"`)
  return { ...head, message, values, said: flattened(`${message}${pairs.join('')}`) }
}

/** What logs with logrus or slog; also a structured line whose header was not copied. */
function logfmtLine(text: string): LogLine | undefined {
  const line = quotedLine(text)
  if (line !== undefined) return line.values.size === 0 ? undefined : line
  const values = keyValues(text, 0)
  const message = values.get('msg')
  if (message === undefined) return undefined
  return { message, values, said: flattened(text), ...defined({ severity: severityOfLevel(values.get('level')) }) }
}

function plainLine(text: string): LogLine {
  return { message: text, values: new Map(), said: flattened(text) }
}

const AGE = String.raw`(?:<[a-z]+>|[\dhdmsy]+)(?: \(x\d+ over [\dhdmsy]+\))?`
const TYPE = String.raw`(?<type>Warning|Normal)\s+[A-Z][A-Za-z]+\s+`
const EVENTS = [
  // kubectl describe; with the node behind its kubelet in older versions
  new RegExp(String.raw`^\s*${TYPE}${AGE}\s+(?<program>[a-z][\w.-]*)(?:[,/] ?[\w.-]+)?\s+`),
  // kubectl get events, with -A and without
  new RegExp(
    String.raw`^\s*(?:(?<namespace>[a-z0-9][a-z0-9-]*)\s+)?${AGE}\s+${TYPE}(?<kind>[A-Za-z]+)(?:/(?<name>[a-z0-9.-]+))?\s+`,
  ),
]

function eventLine(text: string): LogLine | undefined {
  const head = text.slice(0, HEAD_CHARS)
  const match = EVENTS.map((form) => form.exec(head)).find((found) => found !== null)
  const { type, program, namespace, kind, name } = { ...match?.groups }
  if (match === undefined) return undefined
  const line = plainLine(text.slice(match[0].length).trim())
  return { ...line, ...defined({ program }), severity: eventSeverity(type), values: aboutObject(kind, namespace, name) }
}

function eventSeverity(type: string | undefined): LineSeverity {
  return type === 'Warning' ? 'warning' : 'info'
}

const KEYS: Readonly<Record<string, string>> = { pod: 'pod', persistentvolumeclaim: 'pvc' }

/** What an event is about, as the values of a line have it. */
function aboutObject(kind = '', namespace = '', name = ''): ReadonlyMap<string, string> {
  const key = ownValue(KEYS, kind.toLowerCase())
  const object = namespace === '' ? name : `${namespace}/${name}`
  return new Map(key === undefined || name === '' ? [] : [[key, object]])
}

/** client-go's log of the events that a component sends, before it was structured. */
const SENT =
  /^Event\(v1\.ObjectReference\{Kind:"(\w+)", Namespace:"([^"]{0,63})", Name:"([^"]{1,253})"[^}]{0,600}\}\): type: '(\w+)' reason: '\w+' /

/** A component's log of an event that it sends is read as the event. */
function sentEvent(line: LogLine): LogLine {
  const [head, kind, namespace, name, type] = SENT.exec(line.message) ?? []
  const event = (text: string, of: string | undefined, about: ReadonlyMap<string, string>): LogLine => ({
    ...line,
    ...plainLine(text),
    severity: eventSeverity(of),
    values: about,
  })
  if (head !== undefined) return event(line.message.slice(head.length), type, aboutObject(kind, namespace, name))
  const text = line.values.get('message')
  if (line.message !== 'Event occurred' || text === undefined) return line
  const object = line.values.get('object')
  return event(text, line.values.get('type'), aboutObject(line.values.get('kind'), '', object))
}

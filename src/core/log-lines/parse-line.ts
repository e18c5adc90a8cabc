/**
 * One line as people paste it, from whatever tool:
 *
 *   Nov 22 20:01:02 node-1 kubelet[812]: E1122 20:01:02.123456     812 file.go:123] text, or "message" err="…" pod="ns/name"
 *   {"ts":1763841662123.4,"caller":"file.go:123","msg":"message","pod":{"name":"…","namespace":"…"},"err":"…"}
 *   Warning  FailedMount  2m (x5 over 10m)  kubelet  text
 *   time="2026-11-22T20:01:02Z" level=error msg="text" error="…"       (containerd)
 *   text alone
 *
 * Nothing here throws, and each part takes time in proportion to the line.
 */
import { defined } from '../lang/defined.ts'
import { objectKey, parseEvent } from './event-line.ts'
import { flattened, unquoteAt } from './go-quoting.ts'
import { parseJsonLine } from './json-line.ts'
import { keyValues } from './key-values.ts'
import { takePrefix } from './line-prefix.ts'
import { type LogLine, MAX_LINE_CHARS } from './log-line.ts'
import { type LineSeverity, severityOfLevel } from './sentences/severity.ts'

const KLOG = /^([IWEF])(\d\d)(\d\d) (\d\d:\d\d:\d\d)(?:\.\d+)?(?: {1,8}\d+)? {1,8}([\w.@/-]+:\d+)(?:\] ?| )/
const HEADER_CHARS = 200
const SEVERITIES: Readonly<Record<string, LineSeverity>> = { I: 'info', W: 'warning', E: 'error', F: 'fatal' }

export function parseLine(given: string): LogLine {
  return parsed(given.slice(0, MAX_LINE_CHARS).trim(), given.length > MAX_LINE_CHARS, 0)
}

/** @param depth how many lines this one was wrapped in */
function parsed(text: string, cut: boolean, depth: number): LogLine {
  const { prefix, rest } = takePrefix(text)
  const { severity, source, ...place } = prefix
  const line = klogLine(rest) ?? jsonLine(rest, depth) ?? eventLine(rest) ?? logfmtLine(rest) ?? plainLine(rest)
  return ofEvent({ ...defined({ severity, source }), ...line, ...place, cut })
}

/** client-go's log of the events that a controller sends: what they are about, and that they are warnings. */
const SENT =
  /^Event\(v1\.ObjectReference\{Kind:"(\w+)", Namespace:"([^"]{0,63})", Name:"([^"]{1,253})"[^}]{0,600}\}\): type: '(\w+)' reason: '(\w+)' /

function ofEvent(line: LogLine): LogLine {
  const { message, values } = line
  const [head, kind, namespace, name, type, reason] = SENT.exec(message) ?? []
  if (head !== undefined) {
    const object = namespace === '' ? name : `${namespace}/${name}`
    const text = message.slice(head.length)
    return withEvent({ ...line, message: text, said: flattened(text) }, { kind, object, type, reason })
  }
  if (message !== 'Event occurred') return line
  const sent = {
    kind: values.get('kind'),
    object: values.get('object'),
    type: values.get('type'),
    reason: values.get('reason'),
  }
  return withEvent({ ...line, message: values.get('message') ?? message }, sent)
}

type Sent = Readonly<Record<'kind' | 'object' | 'type' | 'reason', string | undefined>>

function withEvent(line: LogLine, { kind, object, type, reason }: Sent): LogLine {
  const key = kind === undefined ? undefined : objectKey(kind)
  const about: [string, string][] = key === undefined || object === undefined ? [] : [[key, object]]
  const severity = type === 'Warning' ? 'warning' : 'info'
  return { ...line, severity, ...defined({ reason }), values: new Map([...line.values, ...about]) }
}

type Parsed = Omit<LogLine, 'cut'>

function klogLine(text: string): Parsed | undefined {
  const [header, severity = '', month, day, clock, source = ''] = KLOG.exec(text.slice(0, HEADER_CHARS)) ?? []
  if (header === undefined) return undefined
  const rest = text.slice(header.length)
  const head = { time: `${month}-${day} ${clock}`, source, ...defined({ severity: SEVERITIES[severity] }) }
  const quoted = rest.startsWith('"') ? unquoteAt(rest, 0) : undefined
  if (quoted === undefined) return { format: 'klog', ...head, message: rest, values: new Map(), said: flattened(rest) }
  const values = keyValues(rest, quoted.end)
  return { format: 'structured', ...head, message: quoted.value, values, said: flattened(rest) }
}

const MOST_WRAPPINGS = 2

function jsonLine(text: string, depth: number): Parsed | undefined {
  const found = parseJsonLine(text)
  if (found === undefined) return undefined
  const { wrapped, values, message, ...head } = found
  if (wrapped && depth < MOST_WRAPPINGS) return { ...head, ...parsed(message.trim(), false, depth + 1) }
  const pairs = [...values].map(([key, value]) => ` ${key}="${value}"`)
  return { format: 'json', ...head, message, values, said: flattened(`${message}${pairs.join('')}`) }
}

function eventLine(text: string): Parsed | undefined {
  const event = parseEvent(text)
  if (event === undefined) return undefined
  const { age, from, about, message, reason, severity } = event
  const values = new Map(about === undefined ? [] : [[about.kind, about.name]])
  return {
    format: 'event',
    time: age,
    ...defined({ program: from }),
    reason,
    severity,
    message,
    values,
    said: flattened(message),
  }
}

/** containerd, and whatever else logs with logrus or slog; also a structured line whose header was not copied. */
function logfmtLine(text: string): Parsed | undefined {
  const quoted = text.startsWith('"') ? unquoteAt(text, 0) : undefined
  if (quoted !== undefined) {
    const values = keyValues(text, quoted.end)
    return values.size === 0
      ? undefined
      : { format: 'structured', message: quoted.value, values, said: flattened(text) }
  }
  const values = keyValues(text, 0)
  const message = values.get('msg')
  if (message === undefined) return undefined
  const level = severityOfLevel(values.get('level') ?? '')
  return {
    format: 'structured',
    message,
    values,
    said: flattened(text),
    ...defined({ time: values.get('time'), severity: level }),
  }
}

function plainLine(text: string): Parsed {
  return { format: 'plain', message: text, values: new Map(), said: flattened(text) }
}

/** A line in JSON: Kubernetes' own logging format, zap's of drivers, journalctl -o json, a container runtime's log file. */
import { parseJson } from '../trust/parse-json.ts'
import { type LineSeverity, severityOfLevel } from './sentences/severity.ts'

export interface JsonLine {
  readonly message: string
  readonly time?: string
  readonly host?: string
  readonly program?: string
  readonly severity?: LineSeverity
  readonly source?: string
  readonly values: ReadonlyMap<string, string>
  /** The message is itself a whole line, with a header. */
  readonly wrapped: boolean
}

/** A collector of logs puts the whole line into its own field. */
const KLOG_HEAD = /^[IWEF]\d{4} \d\d:\d\d:\d\d/
const MESSAGES = ['msg', 'MESSAGE', 'message', 'log']
const TIMES = ['ts', 'time', 'timestamp', '__REALTIME_TIMESTAMP']
const LEVELS = ['level', 'severity']
const SOURCES = ['caller', 'source']
const PROGRAMS = ['SYSLOG_IDENTIFIER']
const HOSTS = ['_HOSTNAME']
const TAKEN: ReadonlySet<string> = new Set([...MESSAGES, ...TIMES, ...LEVELS, ...SOURCES, ...PROGRAMS, ...HOSTS])

/** @returns undefined for what is no JSON object with a message */
export function parseJsonLine(text: string): JsonLine | undefined {
  const fields = objectOf(text)
  const message = first(fields, MESSAGES)
  if (fields === undefined || message === undefined) return undefined
  const values = new Map<string, string>()
  for (const [key, value] of Object.entries(fields)) if (!TAKEN.has(key)) values.set(key, textOf(value))
  const time = first(fields, TIMES)
  const severity = severityOf(first(fields, LEVELS), values)
  return {
    message,
    values,
    wrapped: fields.log !== undefined || fields.MESSAGE !== undefined || KLOG_HEAD.test(message),
    ...(time !== undefined && { time: timeText(time) }),
    ...(severity !== undefined && { severity }),
    ...named('source', first(fields, SOURCES)),
    ...named('program', first(fields, PROGRAMS)),
    ...named('host', first(fields, HOSTS)),
  }
}

function named<K extends string>(key: K, value: string | undefined): { [P in K]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: string })
}

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.startsWith('{') || !text.endsWith('}')) return undefined
  try {
    const value: unknown = parseJson(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function first(fields: Readonly<Record<string, unknown>> | undefined, keys: readonly string[]): string | undefined {
  const key = keys.find((each) => typeof fields?.[each] === 'string' || typeof fields?.[each] === 'number')
  return key === undefined ? undefined : String(fields?.[key])
}

/** An object reference of klog as namespace/name. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  const { name, namespace } = { ...(value as { name?: unknown; namespace?: unknown } | null) }
  if (typeof name === 'string') return typeof namespace === 'string' && namespace !== '' ? `${namespace}/${name}` : name
  return JSON.stringify(value) ?? ''
}

/** Kubernetes writes no level: an error is what has err. */
function severityOf(level: string | undefined, values: ReadonlyMap<string, string>): LineSeverity | undefined {
  return severityOfLevel(level ?? '') ?? (values.has('err') ? 'error' : undefined)
}

const US_DIGITS = 16

/** Milliseconds of klog, seconds of zap, microseconds of journald; what is text already is as it is. */
function timeText(time: string): string {
  const number = Number(time)
  if (!Number.isFinite(number)) return time
  const ms = time.length >= US_DIGITS && !time.includes('.') ? number / 1000 : number < 1e11 ? number * 1000 : number
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? time : date.toISOString()
}

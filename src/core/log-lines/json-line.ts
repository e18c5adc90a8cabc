/** A line in JSON: Kubernetes' own logging format, zap's of drivers, journalctl -o json, a container runtime's log file. */
import { defined } from '../lang/defined.ts'
import { parseJson } from '../trust/parse-json.ts'
import { type LineHead, severityOfLevel } from './log-line.ts'

export interface JsonLine {
  readonly head: LineHead
  readonly message: string
  readonly values: ReadonlyMap<string, string>
  /** The message is itself a whole line, with a header. */
  readonly wrapped: boolean
}

/** A collector of logs puts the whole line into its own field. */
const KLOG_HEAD = /^[IWEF]\d{4} \d\d:\d\d:\d\d/
const FIELDS = {
  message: ['msg', 'MESSAGE', 'message', 'log'],
  level: ['level', 'severity'],
  source: ['caller', 'source'],
  program: ['SYSLOG_IDENTIFIER'],
  host: ['_HOSTNAME'],
} as const
const TAKEN: ReadonlySet<string> = new Set(Object.values(FIELDS).flat())

/** @returns undefined for what is no JSON object with a message */
export function parseJsonLine(text: string): JsonLine | undefined {
  const fields = objectOf(text)
  const first = (field: keyof typeof FIELDS): string | undefined =>
    FIELDS[field].map((key) => fields?.[key]).find((value) => typeof value === 'string')
  const message = first('message')
  if (fields === undefined || message === undefined) return undefined
  const values = new Map<string, string>()
  for (const [key, value] of Object.entries(fields)) if (!TAKEN.has(key)) values.set(key, textOf(value))
  // Kubernetes writes no level: an error is what has err.
  const severity = severityOfLevel(first('level')) ?? (values.has('err') ? 'error' : undefined)
  return {
    head: defined({ severity, source: first('source'), program: first('program'), host: first('host') }),
    message,
    values,
    wrapped: fields.log !== undefined || fields.MESSAGE !== undefined || KLOG_HEAD.test(message),
  }
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

/** An object reference of klog as namespace/name. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  const { name, namespace } = { ...(value as { name?: unknown; namespace?: unknown } | null) }
  if (typeof name === 'string') return typeof namespace === 'string' && namespace !== '' ? `${namespace}/${name}` : name
  return JSON.stringify(value) ?? ''
}

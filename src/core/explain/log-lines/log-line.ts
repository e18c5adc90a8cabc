/**
 * One line as kubelets and controllers write it, with what stands before it where it was copied from:
 *
 *   Nov 22 20:01:02 node-1 kubelet[812]: E1122 20:01:02.123456     812 file.go:123] text, or "message" err="…" pod="ns/name"
 *   {"ts":1763841662123.4,"caller":"file.go:123","msg":"message","pod":{"name":"…","namespace":"…"},"err":"…"}
 *   Warning  FailedMount  2m (x5 over 10m)  kubelet  text
 *   text alone
 *
 * What it names is taken out by take-names.ts, what it says is known by sentences.ts. Nothing here throws, and each part takes time in
 * proportion to the line.
 */
import { parseJson } from '../../trust/parse-json.ts'

export type LogLine = ReturnType<typeof parseLine>

/** Of one line; the sentence and its names stand at its beginning. */
export const MAX_LINE_CHARS = 16 * 1024
const HEAD_CHARS = 400

const TIME = String.raw`(?:\p{L}{3,10}\.? {1,2}\d{1,2} [\d:.]{8,15}|\d{4}-\d\d-\d\dT[\d:.]+\S{0,6})`
const PROGRAM = String.raw`(?<program>[\w.@/()-]{1,60})`
/** A time, or the number of the process: else it is text. */
const SYSLOG = new RegExp(
  String.raw`^(?:${TIME} (?<host>\S+) ${PROGRAM}(?:\[\d+\])?|(?:${TIME} )?(?:(?<host>[\w.-]{1,253}) )?${PROGRAM}\[\d+\]): `,
  'u',
)
/** Wherever it is: before it stands what a tool has put there. */
const KLOG = /(?<level>[IWEF])\d{4} \d\d:\d\d:\d\d(?:\.\d+)?(?: {1,8}\d+)? {1,8}(?<source>[\w.@/-]+:\d+)(?:\] ?| )/
/** Of which the beginning was not copied. */
const SOURCE = /^(?:\d{1,8} )?(?<source>[\w./@-]+\.go:\d+)\]\s*/
const AGE = String.raw`(?:<[a-z]+>|[\dhdmsy]+)(?: \(x\d+ over [\dhdmsy]+\))?`
const TYPE = String.raw`(?<level>Warning|Normal)\s+(?<reason>[A-Z][A-Za-z]+)\s+`
/** Of kubectl describe, with the node behind its kubelet in older versions; of kubectl get events, with -A and without. */
const EVENTS = [
  new RegExp(String.raw`^${TYPE}${AGE}\s+[a-z][\w.-]*(?:[,/] ?[\w.-]+)?\s+`),
  new RegExp(String.raw`^(?:[a-z0-9][a-z0-9-]*\s+)?${AGE}\s+${TYPE}(?=[A-Za-z]+/)`),
]
const SEVERITIES: Readonly<Record<string, 'info' | 'warning' | 'error'>> = {
  I: 'info',
  W: 'warning',
  E: 'error',
  F: 'error',
  Normal: 'info',
  Warning: 'warning',
}

/** What Go has in quotes, with its escapes. */
const QUOTED = String.raw`"((?:[^"\\]|\\.)*)"`
const MESSAGE = new RegExp(`^${QUOTED}(?=\\s|$)`, 's')
const ERROR = new RegExp(String.raw`\berr(?:or)?=${QUOTED}`, 's')

export function parseLine(given: string) {
  const line = jsonAsText(given.slice(0, MAX_LINE_CHARS).trim())
  const [before = '', { host, program } = {}] = headOf(line, [SYSLOG])
  const behind = line.slice(before.length)
  const [header = '', { level = '', source, reason } = {}] = headOf(behind, [KLOG, SOURCE, ...EVENTS])
  const text = behind.slice(behind.indexOf(header) + header.length).trim()
  const [, error] = ERROR.exec(text) ?? []
  return {
    /** As journald or syslog has it; mostly, but not always, the node's name. */
    host,
    /** As journald or syslog has it: kubelet, kernel. */
    program,
    severity: SEVERITIES[level],
    /** "nestedpendingoperations.go:348" */
    source,
    /** Of an event: FailedMount. */
    reason,
    /** Without header and quotes. */
    message: flattened(MESSAGE.exec(text)?.[1] ?? text),
    /** The value of err="…". */
    error: error && flattened(error),
    /** Everything after the header, quotes of any depth as plain ones: sentences and names are looked for here. */
    said: flattened(text),
  }
}

function headOf(text: string, forms: readonly RegExp[]): [found?: string, parts?: Partial<Record<string, string>>] {
  const found = forms.map((form) => form.exec(text.slice(0, HEAD_CHARS))).find((match) => match !== null)
  return found === undefined ? [] : [found[0], { ...found.groups }]
}

/** Every quote of whatever depth as a plain one, every written line break as one: `\\\"a\\\"` and `\"a\"` are "a". */
function flattened(text: string): string {
  return text.replaceAll(/(\\+)(["ntr]?)/g, (all, _, next: string) => FLAT[next] ?? all)
}

const FLAT: Readonly<Record<string, string>> = { '"': '"', n: '\n', t: ' ', r: ' ' }

/** A line in JSON (Kubernetes' own format, journalctl, the file of a container's log) as klog writes it as text. */
function jsonAsText(line: string): string {
  const { caller, _HOSTNAME: host, SYSLOG_IDENTIFIER: program, ...fields } = objectOf(line)
  const key = ['msg', 'MESSAGE', 'message', 'log'].find((each) => typeof fields[each] === 'string')
  if (key === undefined) return line
  const { [key]: message, ...values } = fields as { readonly [field: string]: unknown }
  const before = typeof host === 'string' && typeof program === 'string' ? `${host} ${program}[0]: ` : ''
  // Kubernetes writes no level: an error is what has err. A collector of logs puts the whole line into its own field.
  if (typeof caller !== 'string') return `${before}${String(message).trim()}`
  const header = `${'err' in values ? 'E' : 'I'}0101 00:00:00 ${caller}]`
  const pairs = Object.entries(values).map(([name, value]) => `${name}=${JSON.stringify(textOf(value))}`)
  return `${before}${[header, JSON.stringify(message), ...pairs].join(' ')}`
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  if (!text.startsWith('{') || !text.endsWith('}')) return {}
  try {
    return { ...(parseJson(text) as object) }
  } catch {
    return {}
  }
}

/** An object reference of klog as namespace/name. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  const { name, namespace } = { ...(value as { name?: unknown; namespace?: unknown } | null) }
  if (typeof name === 'string') return typeof namespace === 'string' && namespace !== '' ? `${namespace}/${name}` : name
  return JSON.stringify(value) ?? ''
}

/** One line of a log, or one event, as data. What it carries is taken out by take-names.ts, what it says is known by the catalogue. */

export const LINE_FORMATS = ['klog', 'structured', 'json', 'event', 'plain'] as const

/** klog: a header and text; structured: a header, a quoted message and key="value"; event: as kubectl shows events of a pod. */
export type LineFormat = (typeof LINE_FORMATS)[number]

export const LINE_SEVERITIES = ['debug', 'info', 'warning', 'error', 'fatal'] as const

export type LineSeverity = (typeof LINE_SEVERITIES)[number]

const LEVELS: Readonly<Record<string, LineSeverity>> = {
  // One letter: rook, and what writes as klog does.
  i: 'info',
  d: 'debug',
  w: 'warning',
  e: 'error',
  f: 'fatal',
  t: 'debug',
  n: 'info',
  c: 'error',
  a: 'fatal',
  trace: 'debug',
  debug: 'debug',
  // As logrus writes them for a terminal.
  debu: 'debug',
  erro: 'error',
  fata: 'fatal',
  info: 'info',
  notice: 'info',
  warn: 'warning',
  warning: 'warning',
  err: 'error',
  error: 'error',
  crit: 'error',
  maj: 'error',
  event: 'info',
  critical: 'error',
  panic: 'fatal',
  fatal: 'fatal',
}

/** @param level as a program writes it, in whatever case @returns undefined for a word that is none */
export function severityOfLevel(level: string): LineSeverity | undefined {
  const lower = level.toLowerCase()
  return Object.hasOwn(LEVELS, lower) ? LEVELS[lower] : undefined
}

export interface LogLine {
  readonly format: LineFormat
  /** As the line has it: "Nov 22 20:01:02", klog's as "11-22 20:01:02", RFC 3339; of an event its age. */
  readonly time?: string
  /** As journald or syslog has it; mostly, but not always, the node's name. */
  readonly host?: string
  /** kubelet, kernel; of an event who sent it. */
  readonly program?: string
  readonly severity?: LineSeverity
  /** "nestedpendingoperations.go:348" */
  readonly source?: string
  /** Of an event: FailedMount. */
  readonly reason?: string
  /** Without header and quotes. */
  readonly message: string
  /** Of key="value" and of JSON; an object with a name as namespace/name. */
  readonly values: ReadonlyMap<string, string>
  /** Everything after the header on one line, quotes of any depth as plain ones: sentences and names are looked for here. */
  readonly said: string
  /** It was longer than what is read of a line. */
  readonly cut: boolean
}

/** Of one line; the sentence and its names stand at its beginning. */
export const MAX_LINE_CHARS = 16 * 1024

/** How bad a program calls what it says. */
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

/** @param level as a program writes it, in whatever case @returns undefined for a word that is no level */
export function severityOfLevel(level: string): LineSeverity | undefined {
  const lower = level.toLowerCase()
  return Object.hasOwn(LEVELS, lower) ? LEVELS[lower] : undefined
}

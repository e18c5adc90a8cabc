/** One line of a log, or one event, as data. What it names is taken out by take-names.ts, what it says is known by said-by.ts. */

export type LineSeverity = 'info' | 'warning' | 'error'

const LEVELS: readonly (readonly [LineSeverity, RegExp])[] = [
  ['info', /^(?:d|debug|i|info|notice)$/i],
  ['warning', /^(?:w|warn|warning)$/i],
  ['error', /^(?:e|err|error|f|fatal|panic)$/i],
]

/** @param level as a program writes it, in whatever case @returns undefined for a word that is no level */
export function severityOfLevel(level: string | undefined): LineSeverity | undefined {
  return level === undefined ? undefined : LEVELS.find(([, words]) => words.test(level))?.[0]
}

/** What stands before the text. */
export interface LineHead {
  /** As journald or syslog has it; mostly, but not always, the node's name. */
  readonly host?: string
  /** kubelet, kernel; of an event who sent it. */
  readonly program?: string
  readonly severity?: LineSeverity
  /** "nestedpendingoperations.go:348" */
  readonly source?: string
}

export interface LogLine extends LineHead {
  /** Without header and quotes. */
  readonly message: string
  /** Of key="value" and of JSON; an object with a name as namespace/name. */
  readonly values: ReadonlyMap<string, string>
  /** Everything after the header, quotes of any depth as plain ones: sentences and names are looked for here. */
  readonly said: string
}

/** Of one line; the sentence and its names stand at its beginning. */
export const MAX_LINE_CHARS = 16 * 1024

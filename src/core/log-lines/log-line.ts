/** One line of a log, or one event, as data. What it carries is taken out by take-names.ts, what it says is known by the catalogue. */

import type { LineSeverity } from './sentences/severity.ts'

export const LINE_FORMATS = ['klog', 'structured', 'json', 'event', 'plain'] as const

/** klog: a header and text; structured: a header, a quoted message and key="value"; event: as kubectl shows events of a pod. */
export type LineFormat = (typeof LINE_FORMATS)[number]

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

/** How the time is divided in which the kubelet is down (S35). Pure. */

import { formatDuration } from '../../base/duration.ts'
import { VolctlError } from '../../base/errors.ts'

export interface AskedTimes {
  /** --max-downtime */
  readonly maxMs: number
  /** --settle */
  readonly settleMs: number
  /** --timeout, if it was given. */
  readonly timeoutMs: number | undefined
  /** Its default. */
  readonly defaultTimeoutMs: number
}

export interface TimeLimits {
  /** For one operation. */
  readonly operationMs: number
  /** Kept for the start of the kubelet. */
  readonly startMs: number
}

const START_MS = 5000
/** An operation may take a quarter of the time after the wait, so that more than one can be begun. */
const PARTS = 4
/** The start takes an eighth at most. */
const START_PARTS = 8
const LEAST_ROOM_MS = 1000

/** @throws VolctlError Usage: no operation could begin, since it could not end in time */
export function timeLimits({ maxMs, settleMs, timeoutMs, defaultTimeoutMs }: AskedTimes): TimeLimits {
  const room = maxMs - settleMs
  const startMs = Math.max(0, Math.min(START_MS, room / START_PARTS))
  const operationMs = timeoutMs ?? Math.min(defaultTimeoutMs, room / PARTS)
  // What sets up a volume may need as long again to take it back.
  const least = Math.max(LEAST_ROOM_MS, timeoutMs === undefined ? 0 : 2 * timeoutMs + START_MS)
  if (room >= least) return { operationMs, startMs }
  throw new VolctlError(
    'Usage',
    `--max-downtime ${formatDuration(maxMs)} leaves no time for an operation: volctl waits ${formatDuration(settleMs)} first${timeoutMs === undefined ? '' : `, and one may take ${formatDuration(timeoutMs)} (--timeout)`}`,
    { hint: `Give --max-downtime ${formatDuration(settleMs + 2 * least)}.` },
  )
}

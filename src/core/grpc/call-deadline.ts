/** A point in time that several calls share, on the monotonic clock (C6). */
export interface Deadline {
  /** The whole span, for messages. */
  readonly totalMs: number
  /** Whole, as timers take them; zero when it has passed. */
  remainingMs(): number
}

export function deadlineIn(totalMs: number): Deadline {
  const end = performance.now() + totalMs
  return { totalMs, remainingMs: () => Math.max(0, Math.ceil(end - performance.now())) }
}

/** The one retry policy of volctl's API requests. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from './api-error.ts'

/** client-go tries up to ten times; volctl fewer, since a person waits. */
const TRIES = 5
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000

/** Limit of Retry-After: API servers are not known to ask for more (N53). */
const MAX_RETRY_AFTER_S = 32

/**
 * May the request be repeated after this failure? After a 429 always, since the request was rejected unprocessed; otherwise
 * only if repeating does no harm. After a deadline never, since the time is spent.
 */
function isRetryable(error: unknown, idempotent: boolean): error is ApiError {
  if (!(error instanceof ApiError)) return false
  if (error.status === 429) return true
  if (!idempotent) return false
  return error.trouble === 'connection' || [500, 502, 503, 504].includes(error.status)
}

/** How long to wait before the next try: Retry-After, otherwise exponential with jitter (a fleet asks at once, N53). */
export function retryDelayMs({ retryAfter }: ApiError, attempt: number, random = Math.random): number {
  if (retryAfter !== undefined) return Math.round(Math.min(retryAfter, MAX_RETRY_AFTER_S) * 1000)
  return Math.round(Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS) * (0.5 + random() / 2))
}

export async function withRetry<T>(
  idempotent: boolean,
  signal: AbortSignal | undefined,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let tried = 0; ; tried++) {
    try {
      return await attempt()
    } catch (error) {
      if (tried + 1 >= TRIES || !isRetryable(error, idempotent)) throw error
      await sleep(retryDelayMs(error, tried), undefined, { signal }).catch(() => {})
      signal?.throwIfAborted()
    }
  }
}

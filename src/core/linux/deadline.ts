import { StepTimedOut, said } from '../messages/findings.ts'

/** Waits no longer than the deadline. @param what the error names @throws StepFailed TimedOut, stuck */
export async function withDeadline<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  const seconds = Math.round(ms / 10) / 100
  return await inTime(promise, ms, () => new StepTimedOut(said('TimedOut.call', { what, seconds }), { stuck: true }))
}

/** The same with the caller's error. @throws what `late` makes, if the deadline passes first */
export async function inTime<T>(promise: Promise<T>, ms: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), Math.ceil(ms))
  })
  promise.catch(() => {})
  try {
    return await Promise.race([promise, deadline])
  } finally {
    clearTimeout(timer)
  }
}

/** Waits for this long, or until the signal is aborted. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, Math.ceil(ms))
    signal?.addEventListener('abort', end)
  })
}

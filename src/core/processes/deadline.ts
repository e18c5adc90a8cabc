import { StepFailed } from '../errors/operation-error.ts'

/** Waits no longer than the deadline. @param what the error names @throws StepFailed TimedOut, stuck */
export async function withDeadline<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const message = `${what} did not answer within ${Math.round(ms / 10) / 100} s and was abandoned`
      reject(
        new StepFailed('TimedOut', message, {
          stuck: true,
          hint: 'The call may still end by itself; plan again later.',
        }),
      )
    }, ms)
  })
  promise.catch(() => {})
  try {
    return await Promise.race([promise, late])
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
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}

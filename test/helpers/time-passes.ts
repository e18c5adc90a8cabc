import { vi } from 'vitest'

/** Waits for what waits for time of a test that has taken over the clock. */
export async function timePasses<T>(work: Promise<T>): Promise<T> {
  let over = false
  const end = (): void => {
    over = true
  }
  void work.then(end, end)
  await vi.advanceTimersByTimeAsync(0)
  while (!over) await vi.advanceTimersToNextTimerAsync()
  return await work
}

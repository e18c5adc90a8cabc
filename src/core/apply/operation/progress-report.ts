/** Reports the progress of long work: first after 30 s, then every 60 s (P32). */
const FIRST_MS = 30_000
const NEXT_MS = 60_000

/**
 * @param say called with the count whenever it is time
 * @param now a monotonic clock, in milliseconds
 * @returns a function to call with the count so far, as often as one likes
 */
export function progressReport(
  say: (count: number) => void,
  now: () => number = () => performance.now(),
): (count: number) => void {
  let due = now() + FIRST_MS
  return (count) => {
    const at = now()
    if (at < due) return
    due = at + NEXT_MS
    say(count)
  }
}

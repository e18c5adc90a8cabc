/** What is done when the tests of a file have ended, whoever of its helpers asked for it, and whenever. */
type End = () => unknown

const ends: End[] = []

export function atFileEnd(end: End): void {
  ends.push(end)
}

/** Does it, the last first. */
export async function endFile(): Promise<void> {
  for (const end of ends.splice(0).toReversed()) await end()
}

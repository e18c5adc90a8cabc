import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until something holds, no longer than ten seconds. */
export async function waitFor(what: string, holds: () => boolean): Promise<void> {
  const until = Date.now() + 10_000
  while (!holds()) {
    if (Date.now() > until) throw new Error(`waited in vain for ${what}`)
    await sleep(10)
  }
}

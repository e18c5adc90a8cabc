import { describe } from 'vitest'

/** Scenes that this machine may not allow: they are left out then, and their title says why. */
export function describeUnless(why: string | undefined, title: string, scenes: () => void): void {
  describe.skipIf(why !== undefined)(why === undefined ? title : `${title} (${why})`, scenes)
}

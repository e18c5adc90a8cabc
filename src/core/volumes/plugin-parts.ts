/** What plugins are made of: a volume's name on disk, and whether a wanted volume is there. */

import type { MountEvidence, SpecSource } from './plugin.ts'

/** The volume's name on disk (R005). */
export function specNameOf({ persistentVolume, source }: SpecSource): string {
  return persistentVolume?.metadata.name ?? source?.name ?? ''
}

// Whether a wanted volume is there.

export const MOUNTED: MountEvidence = { state: 'mounted' }
export const SATISFIED: MountEvidence = { state: 'satisfied' }

export function notMounted(why: string): MountEvidence {
  return { state: 'notMounted', why }
}

/** @param why it is not */
export function mountedUnless(why: string | false | undefined): MountEvidence {
  return why ? notMounted(why) : MOUNTED
}

/** What plugins that give every pod its own directory have in common: nothing is attached, shared or mapped. */
import { podVolumeDir } from './paths.ts'
import type { VolumePlugin } from './plugin.ts'

export const PER_POD = {
  block: false,
  refreshes: false,
  podPath: podVolumeDir,
  globalPath: () => undefined,
} as const satisfies Partial<VolumePlugin>

/** What the plugins have in common that give every pod a directory of its own: nothing is attached, shared or mapped. */
import { podVolumeDir } from './paths.ts'
import type { VolumePlugin } from './plugin.ts'

export const PER_POD = {
  block: false,
  refreshes: false,
  podPath: podVolumeDir,
  globalPath: () => undefined,
} as const satisfies Partial<VolumePlugin>

import type { Operation } from '../../plan/plan.ts'
import { pluginNamed } from '../../volumes/registry.ts'

/** True for an emptyDir, and the volumes built on it: their content is data (S13). */
export function isEmptyDir({ volume }: Operation): boolean {
  return volume !== undefined && pluginNamed(volume.plugin).tearDown === 'emptyDir'
}

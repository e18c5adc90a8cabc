/** Stands in for a plugin that this version does not know: one of an older Kubernetes, or none at all (P3, P4, R514). */
import { mountEvidence } from './evidence.ts'
import { podPathOf } from './paths.ts'
import type { VolumePlugin } from './plugin.ts'

export const unknown: VolumePlugin = {
  name: 'unknown',
  about: {
    tearDown: 'unmounted, and removed when empty',
    setUp: 'never: volctl does not know the plugin',
  },
  block: false,
  refreshes: false,
  reconstructs: false,
  tearDown: 'mount',
  facts: () => undefined,
  podPath: podPathOf,
  globalPath: () => undefined,
  mountsOver: () => true,
  evidence: mountEvidence,
  setUp: (_, { plugin }) => ({
    steps: [],
    blocked: {
      code: 'PluginUnsupported',
      message: `neither this version of Kubernetes nor volctl has a volume plugin ${plugin}`,
      hint: 'Use a volume of a plugin that Kubernetes still has.',
    },
  }),
}

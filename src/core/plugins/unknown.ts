/** What bears a plugin's name that nothing here knows: of an older Kubernetes, or nobody's (P3, P4, R514). */
import { mountEvidence } from './evidence.ts'
import { podPathOf } from './paths.ts'
import type { VolumePlugin } from './plugin.ts'

export const unknown: VolumePlugin = {
  name: 'unknown',
  about: {
    tearDown: 'unmounted, and removed when empty',
    setUp: 'never: nothing here knows how',
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
      code: 'PluginRemoved',
      message: `neither this version of Kubernetes nor volctl has a volume plugin ${plugin}`,
      hint: 'Move the pod to a volume of a kind that Kubernetes still has.',
    },
  }),
}

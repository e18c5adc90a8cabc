/** What the plugins of LUNs, iscsi and fc, have in common (P83, P98). */
import { linkEvidence, mountEvidence } from './evidence.ts'
import { mapEvidence } from './map-steps.ts'
import { podPathOf } from './paths.ts'
import type { VolumePlugin } from './plugin.ts'

type LunKind = Pick<
  VolumePlugin,
  'name' | 'source' | 'about' | 'facts' | 'sourceText' | 'device' | 'globalPath' | 'setUp'
>

/** The plugin of LUNs of one kind. */
export function lunPlugin(kind: LunKind): VolumePlugin {
  return {
    ...kind,
    block: true,
    refreshes: false,
    reconstructs: true,
    tearDown: 'mount',
    podPath: podPathOf,
    mountsOver: ({ mode }) => mode === 'Filesystem',
    takesLabel: () => true,
    evidence: (inputs, volume) => {
      if (volume.mode === 'Filesystem') return mountEvidence(inputs, volume)
      const global = kind.globalPath(volume)
      return global === undefined ? linkEvidence(inputs, volume) : mapEvidence(inputs, volume, global)
    },
  }
}

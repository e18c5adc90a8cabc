/** hostPath: the container gets the path itself; the kubelet only looks at its type (P57-P59, O33). */
import { SATISFIED } from './evidence.ts'
import { perPodFacts, sharedSources, specNameOf } from './facts.ts'
import { podVolumeDir } from './paths.ts'
import type { VolumePlugin } from './plugin.ts'

const NAME = 'kubernetes.io/host-path'

export const hostPath: VolumePlugin = {
  name: NAME,
  about: {
    tearDown: 'nothing is mounted; sub-path mounts of it are unmounted',
    setUp: 'its type is checked as the kubelet does',
  },
  attachability: 'notAttachable',
  deviceMountable: false,
  block: false,
  refreshes: false,
  reconstructs: false,
  tearDown: 'nothing',
  refusesMountOptions: true,
  facts: (spec, context) =>
    sharedSources(spec).hostPath == null ? undefined : perPodFacts(NAME, specNameOf(spec), context),
  podPath: podVolumeDir,
  globalPath: () => undefined,
  mountsOver: () => false,
  evidence: () => SATISFIED,
  setUp: () => ({ steps: [] }),
}

/** emptyDir: a directory, a tmpfs or a hugetlbfs of the pod's own (P35-P45). */

import type { VolumeToMount } from '../desired/desired-state.ts'
import { notSupportedYet } from '../reconcile/draft.ts'
import { emptyDirSteps } from './empty-dir-steps.ts'
import { directoryEvidence, fsTypeEvidence } from './evidence.ts'
import { inlineOf, perPodFacts } from './facts.ts'
import { ownershipOf } from './ownership.ts'
import { podVolumeDir } from './paths.ts'
import type { VolumePlugin } from './plugin.ts'

const NAME = 'kubernetes.io/empty-dir'

export const emptyDir: VolumePlugin = {
  name: NAME,
  about: {
    tearDown: 'unmounted where it is in memory; its data is counted, and deleted with --orphans alone',
    setUp: 'directory, tmpfs or hugetlbfs, with the sizes and the group that the pod asks for',
  },
  attachability: 'notAttachable',
  deviceMountable: false,
  block: false,
  refreshes: false,
  reconstructs: true,
  tearDown: 'emptyDir',
  facts: (spec, context) => {
    const inline = inlineOf(spec)
    return inline?.emptyDir == null ? undefined : perPodFacts(NAME, inline.name, context)
  },
  podPath: podVolumeDir,
  globalPath: () => undefined,
  mountsOver: (volume) => mediumOf(volume) !== '',
  evidence: (inputs, volume) => {
    const medium = mediumOf(volume)
    if (medium === '') return directoryEvidence(inputs, volume, volume.specName)
    return fsTypeEvidence(inputs, volume, medium.startsWith('HugePages') ? 'hugetlbfs' : 'tmpfs')
  },
  setUp: (context, volume) => ({
    steps: emptyDirSteps(
      context,
      volume,
      { mount: mediumOf(volume) === '' ? undefined : { fsType: 'tmpfs', options: [] }, marker: volume.specName },
      ownershipOf(volume, context.inputs.absolute(podVolumeDir(volume)), { ignorePolicy: true, ignoreErrors: true }),
    ),
    ...(mediumOf(volume) === '' ? {} : { blocked: notSupportedYet('Start the kubelet: it mounts the volume.') }),
  }),
}

function mediumOf({ source }: VolumeToMount): string {
  return source?.emptyDir?.medium ?? ''
}

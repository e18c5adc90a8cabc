/** fc: a Fibre Channel LUN that the host's adapters see (P79-P82). */
import { FC_PLUGIN } from '../fc-disk.ts'
import type { SharedSources } from '../model/objects.ts'
import { notSupportedYet } from '../reconcile/draft.ts'
import { linkEvidence, mountEvidence } from './evidence.ts'
import { sharedNameFacts, sharedSources } from './facts.ts'
import { podPathOf } from './paths.ts'
import type { SpecFacts, SpecFailure, VolumePlugin } from './plugin.ts'

export const fc: VolumePlugin = {
  name: FC_PLUGIN,
  about: {
    tearDown: 'unmounted, its disks flushed and removed where nothing else uses them',
    setUp: 'found among the disks, checked and mounted, never formatted',
  },
  attachability: 'attachable',
  deviceMountable: true,
  block: true,
  refreshes: false,
  reconstructs: true,
  tearDown: 'mount',
  facts: (spec) => {
    const source = sharedSources(spec).fc
    return source == null ? undefined : fcFacts(source)
  },
  podPath: podPathOf,
  globalPath: () => undefined,
  mountsOver: ({ mode }) => mode === 'Filesystem',
  evidence: (inputs, volume) =>
    volume.mode === 'Block' ? linkEvidence(inputs, volume) : mountEvidence(inputs, volume),
  setUp: (context, volume) => ({
    steps: [{ op: volume.mode === 'Block' ? 'symlink' : 'mount', target: context.inputs.absolute(podPathOf(volume)) }],
    blocked: notSupportedYet('Start the kubelet: it mounts the volume.'),
  }),
}

/** Brackets and blanks are literal: Go's print of a list (R013). */
function fcFacts({ targetWWNs, lun, wwids }: NonNullable<SharedSources['fc']>): SpecFacts | SpecFailure {
  const list = (names: readonly string[]) => `[${names.join(' ')}]`
  if (targetWWNs?.length && lun != null) {
    return sharedNameFacts(FC_PLUGIN, `${list(targetWWNs)}:${lun}`, 'attachable')
  }
  if (wwids?.length) return sharedNameFacts(FC_PLUGIN, list(wwids), 'attachable')
  return { error: 'its fc source names neither WWNs with a LUN nor WWIDs' }
}

/** iscsi: a LUN that the node logs in to (P72-P78). */
import { ISCSI_PLUGIN } from '../iscsi-disk.ts'
import type { SharedSources } from '../model/objects.ts'
import { notSupportedYet } from '../reconcile/draft.ts'
import { linkEvidence, mountEvidence } from './evidence.ts'
import { sharedNameFacts, sharedSources } from './facts.ts'
import { podPathOf } from './paths.ts'
import type { VolumePlugin } from './plugin.ts'

export const iscsi: VolumePlugin = {
  name: ISCSI_PLUGIN,
  about: {
    tearDown: 'unmounted, its disks removed and its session ended where nothing else uses them',
    setUp: 'logged in to, checked and mounted, never formatted',
  },
  attachability: 'attachable',
  deviceMountable: true,
  block: true,
  refreshes: false,
  reconstructs: true,
  tearDown: 'mount',
  facts: (spec) => {
    const source = sharedSources(spec).iscsi
    return source == null ? undefined : sharedNameFacts(ISCSI_PLUGIN, iscsiName(source), 'attachable')
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

/** The portal exactly as it was written: a missing port stays missing (R014). */
function iscsiName({ targetPortal, iqn, lun }: NonNullable<SharedSources['iscsi']>): string {
  return `${targetPortal}:${iqn}:${lun ?? 0}`
}

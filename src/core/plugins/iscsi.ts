/** iscsi: a LUN that the node logs in to (P72-P78). */

import type { VolumeToMount } from '../desired/desired-state.ts'
import { ISCSI_PLUGIN } from '../iscsi-disk.ts'
import { type IscsiTarget, iscsiDirectory, iscsiTargetOf } from '../iscsi-target.ts'
import type { SharedSources } from '../model/objects.ts'
import type { Obstacle } from '../reconcile/draft.ts'
import { sharedNameFacts, sharedSources } from './facts.ts'
import { lunEvidence, lunSteps } from './lun-steps.ts'
import { podPathOf } from './paths.ts'
import type { VolumePlugin } from './plugin.ts'

type IscsiSource = NonNullable<SharedSources['iscsi']>

export const iscsi: VolumePlugin = {
  name: ISCSI_PLUGIN,
  about: {
    tearDown: 'unmounted, its disks removed and its session ended where nothing else uses them',
    setUp: 'logged in to, checked and mounted, never formatted; raw block is mapped',
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
  globalPath: globalPathOf,
  mountsOver: ({ mode }) => mode === 'Filesystem',
  evidence: (inputs, volume) => lunEvidence(inputs, volume, globalPathOf(volume)),
  setUp: (context, volume, first) => {
    const target = targetOf(volume)
    if ('error' in target) {
      const hint = 'Correct the source; then plan again.'
      return { steps: [], blocked: { code: 'InvalidSource', message: target.error, hint } }
    }
    const source = sourceOf(volume)
    const lun = {
      global: iscsiDirectory(target, volume.mode),
      fsType: source?.fsType,
      readOnly: source?.readOnly,
      // The record comes first: whatever ends volctl then, the next tear-down knows what to log out of (R837).
      find: (global: string) => [
        { op: 'write', target: `${global}/iscsi.json` } as const,
        { op: 'iscsiLogin', target: global } as const,
      ],
    }
    const blocked = chapObstacle(source)
    return { steps: lunSteps(context, volume, lun, first), ...(blocked === undefined ? {} : { blocked }) }
  },
}

/** The portal exactly as it was written: a missing port stays missing (R014). */
function iscsiName({ targetPortal, iqn, lun }: IscsiSource): string {
  return `${targetPortal}:${iqn}:${lun ?? 0}`
}

function globalPathOf(volume: VolumeToMount): string | undefined {
  const target = targetOf(volume)
  return 'error' in target ? undefined : iscsiDirectory(target, volume.mode)
}

function sourceOf({ persistentVolume, source }: VolumeToMount): IscsiSource | undefined {
  return (persistentVolume?.spec ?? source)?.iscsi
}

function targetOf(volume: VolumeToMount): IscsiTarget | { readonly error: string } {
  const source = sourceOf(volume)
  return source == null ? { error: 'it has no iscsi source' } : iscsiTargetOf(volume.specName, source)
}

/**
 * iscsiadm takes a password as an argument, which everybody on the host can read while it runs; where it keeps its
 * records is each build's own, so that nobody else may write one into them.
 */
function chapObstacle(source: IscsiSource | undefined): Obstacle | undefined {
  if (!source?.chapAuthDiscovery && !source?.chapAuthSession) return undefined
  return {
    code: 'ChapNotSupported',
    message: `target ${source.iqn} is logged in to with CHAP, and iscsiadm takes the password on its command line alone`,
    hint: 'Start the kubelet: it mounts the volume.',
  }
}

/** fc: a Fibre Channel LUN that the host's adapters see (P79-P82). */

import type { VolumeToMount } from '../desired/desired-state.ts'
import { FC_PLUGIN, type FcDisk, fcDirectory, fcDiskOf } from '../fc-disk.ts'
import type { SharedSources } from '../model/objects.ts'
import { sharedNameFacts, sharedSources } from './facts.ts'
import { lunEvidence, lunSteps } from './lun-steps.ts'
import { podPathOf } from './paths.ts'
import type { SpecFacts, SpecFailure, VolumePlugin } from './plugin.ts'

type FcSource = NonNullable<SharedSources['fc']>

export const fc: VolumePlugin = {
  name: FC_PLUGIN,
  about: {
    tearDown: 'unmounted, its disks flushed and removed where nothing else uses them',
    setUp: 'found among the disks, checked and mounted, never formatted; raw block is mapped',
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
  globalPath: globalPathOf,
  mountsOver: ({ mode }) => mode === 'Filesystem',
  evidence: (inputs, volume) => lunEvidence(inputs, volume, globalPathOf(volume)),
  setUp: (context, volume, first) => {
    const disk = diskOf(volume)
    if ('error' in disk) {
      const hint = 'Correct the source; then plan again.'
      return { steps: [], blocked: { code: 'InvalidSource', message: disk.error, hint } }
    }
    const { fsType, readOnly } = sourceOf(volume) ?? {}
    const lun = {
      global: fcDirectory(disk, volume.mode),
      fsType,
      readOnly,
      find: (global: string) => [{ op: 'fcFind', target: global } as const],
    }
    return { steps: lunSteps(context, volume, lun, first) }
  },
}

/** Brackets and blanks are literal: Go's print of a list (R013). */
function fcFacts({ targetWWNs, lun, wwids }: FcSource): SpecFacts | SpecFailure {
  const list = (names: readonly string[]) => `[${names.join(' ')}]`
  if (targetWWNs?.length && lun != null) {
    return sharedNameFacts(FC_PLUGIN, `${list(targetWWNs)}:${lun}`, 'attachable')
  }
  if (wwids?.length) return sharedNameFacts(FC_PLUGIN, list(wwids), 'attachable')
  return { error: 'its fc source names neither WWNs with a LUN nor WWIDs' }
}

function globalPathOf(volume: VolumeToMount): string | undefined {
  const disk = diskOf(volume)
  return 'error' in disk ? undefined : fcDirectory(disk, volume.mode)
}

function sourceOf({ persistentVolume, source }: VolumeToMount): FcSource | undefined {
  return (persistentVolume?.spec ?? source)?.fc
}

function diskOf(volume: VolumeToMount): FcDisk | { readonly error: string } {
  const source = sourceOf(volume)
  return source == null ? { error: 'it has no fc source' } : fcDiskOf(source)
}

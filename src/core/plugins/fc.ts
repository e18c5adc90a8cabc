/** fc: a Fibre Channel LUN that the host's adapters see (P79-P82). */

import { sharedSourcesOf } from '../desired/shared-sources.ts'
import type { SharedSources } from '../model/objects.ts'
import { FC_PLUGIN, fcDirectory, fcDiskOf } from '../names/fc-disk.ts'
import { sharedNameFacts, sharedSources } from './facts.ts'
import { lunPlugin } from './lun-steps.ts'
import type { SpecFacts, SpecFailure } from './plugin.ts'

type FcSource = NonNullable<SharedSources['fc']>

export const fc = lunPlugin({
  name: FC_PLUGIN,
  about: {
    tearDown: 'unmounted, its disks flushed and removed where nothing else uses them',
    setUp: 'found among the disks, checked and mounted, never formatted; raw block is mapped',
  },
  facts: (spec) => {
    const source = sharedSources(spec).fc
    return source == null ? undefined : fcFacts(source)
  },
  lunOf: (volume) => {
    const source = sharedSourcesOf(volume).fc
    if (source == null) return { error: 'the volume has no fc source' }
    const disk = fcDiskOf(source)
    if ('error' in disk) return disk
    return {
      global: fcDirectory(disk, volume.mode),
      fsType: source.fsType,
      readOnly: source.readOnly,
      find: (global) => [{ op: 'fcFind', target: global }],
    }
  },
})

/** Brackets and blanks are literal, as Go prints a list (R013). */
function fcFacts({ targetWWNs, lun, wwids }: FcSource): SpecFacts | SpecFailure {
  const list = (names: readonly string[]) => `[${names.join(' ')}]`
  if (targetWWNs?.length && lun != null) {
    return sharedNameFacts(FC_PLUGIN, `${list(targetWWNs)}:${lun}`, 'attachable')
  }
  if (wwids?.length) return sharedNameFacts(FC_PLUGIN, list(wwids), 'attachable')
  return { error: 'its fc source names neither WWNs with a LUN nor WWIDs' }
}

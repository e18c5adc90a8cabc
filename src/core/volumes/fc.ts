/** fc: a Fibre Channel LUN that the host's adapters see (P79-P82). */

import { posix } from 'node:path'
import type { SharedSources } from '../kube/api/objects.ts'
import { sharedSourcesOf } from './desired-state.ts'
import { sharedNameFacts } from './facts.ts'
import { FC_PLUGIN, fcDirectory, fcUniqueName, parseFcDirectory } from './fc-disk.ts'
import { lunPlugin } from './map-steps.ts'
import type { SpecFacts, SpecFailure } from './plugin.ts'

type FcSource = NonNullable<SharedSources['fc']>

const BASE = `plugins/${FC_PLUGIN}`

export const fc = lunPlugin({
  name: FC_PLUGIN,
  source: 'fc',
  about: {
    tearDown: 'unmounted, its disks flushed and removed where nothing else uses them',
    setUp: 'left to the kubelet',
  },
  facts: (spec) => {
    const source = sharedSourcesOf(spec).fc
    return source == null ? undefined : fcFacts(source)
  },
  sourceText: ({ fc: source }) =>
    source == null ? undefined : `Fibre Channel ${[...(source.targetWWNs ?? []), ...(source.wwids ?? [])].join(', ')}`,
  device: {
    base: BASE,
    ownerOf: (parts) => (parts.length === 1 && parts[0] !== 'volumeDevices' ? FC_PLUGIN : undefined),
    depths: [1],
    maps: { base: `${BASE}/volumeDevices`, depth: 1, namedAfter: 'device' },
    isOf: (volume, name) => {
      const source = sharedSourcesOf(volume).fc
      return source == null || isFcOf(source, name)
    },
    uniqueName: (path) => {
      const disk = parseFcDirectory(posix.basename(path))
      return disk === undefined ? undefined : fcUniqueName(disk)
    },
    release: (target) => [{ op: 'removeFcDisks', target }],
  },
  globalPath: (volume) => {
    const source = sharedSourcesOf(volume).fc
    return source == null ? undefined : fcDirectory(source, volume.mode)
  },
  setUp: { leftToKubelet: 'Fibre Channel' },
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

/** One WWN or WWID in common is enough: a PersistentVolume may list them in another order, or with others (P96). */
function isFcOf({ targetWWNs = [], lun, wwids = [] }: FcSource, name: string): boolean {
  const disk = parseFcDirectory(name)
  const escaped = wwids.map((wwid) => wwid.replaceAll(' ', '_'))
  if (disk === undefined || escaped.join('-') === name) return true
  if (disk.wwns === undefined) return disk.wwids.some((wwid) => escaped.includes(wwid))
  const wwns = targetWWNs.map((wwn) => wwn.toLowerCase())
  return String(lun) === disk.lun && disk.wwns.some((wwn) => wwns.includes(wwn.toLowerCase()))
}

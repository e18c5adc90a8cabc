/** iscsi: a LUN of a target that the node logs in to (P72-P78). */

import type { SharedSources } from '../kube/api/objects.ts'
import { sharedSourcesOf } from './desired-state.ts'
import { sharedNameFacts } from './facts.ts'
import { ISCSI_PLUGIN, ISCSI_RECORD, iscsiDirectory, iscsiUniqueName, parseIscsiDirectory } from './iscsi-disk.ts'
import { lunPlugin } from './map-steps.ts'

type IscsiSource = NonNullable<SharedSources['iscsi']>

const BASE = `plugins/${ISCSI_PLUGIN}`

export const iscsi = lunPlugin({
  name: ISCSI_PLUGIN,
  source: 'iscsi',
  about: {
    tearDown: 'unmounted, its disks removed and its session ended where nothing else uses them',
    setUp: 'left to the kubelet',
  },
  facts: (spec) => {
    const source = sharedSourcesOf(spec).iscsi
    return source == null ? undefined : sharedNameFacts(ISCSI_PLUGIN, iscsiName(source), 'attachable')
  },
  sourceText: ({ iscsi: source }) =>
    source == null ? undefined : `iSCSI ${source.iqn} LUN ${source.lun ?? 0} at ${source.targetPortal}`,
  device: {
    base: BASE,
    ownerOf: ([iface, ...rest]) => (rest.length === 1 && iface?.startsWith('iface-') ? ISCSI_PLUGIN : undefined),
    depths: [2],
    maps: { base: `${BASE}/volumeDevices`, depth: 2, namedAfter: 'device' },
    // With any portal: one LUN behind two portals is one disk.
    isOf: (volume, name) => {
      const source = sharedSourcesOf(volume).iscsi
      return source == null || name.endsWith(`-${source.iqn}-lun-${source.lun ?? 0}`)
    },
    uniqueName: (path) => {
      const disk = parseIscsiDirectory(path)
      return disk === undefined ? undefined : iscsiUniqueName(disk)
    },
    record: { name: ISCSI_RECORD, volumeNameIn },
    // In the kubelet's order: devices, log-out, and only then the record that the log-out needs (R837).
    release: (target) => [
      { op: 'removeIscsiDisks', target },
      { op: 'iscsiLogout', target, detail: 'unless another LUN of the session is in use' },
      { op: 'unlink', target: `${target}/${ISCSI_RECORD}` },
    ],
    session: (target) => {
      const disk = parseIscsiDirectory(target)
      return disk === undefined ? undefined : `target ${disk.iqn}`
    },
  },
  globalPath: (volume) => {
    const source = sharedSourcesOf(volume).iscsi
    return source == null ? undefined : iscsiDirectory(volume, source)
  },
  setUp: { leftToKubelet: 'iSCSI' },
})

/** The portal exactly as it was written: a missing port stays missing (R014). */
function iscsiName({ targetPortal, iqn, lun }: IscsiSource): string {
  return `${targetPortal}:${iqn}:${lun ?? 0}`
}

function volumeNameIn(text: string): string | undefined {
  try {
    const { VolName } = JSON.parse(text) as { VolName?: unknown }
    return typeof VolName === 'string' ? VolName : undefined
  } catch {
    return undefined
  }
}

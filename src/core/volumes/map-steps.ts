/** The map of a raw block volume: map file, the pod's link, loop device (P98, P99, R805); and what iSCSI and FC have in common. */
import type { ActualInputs } from '../facts/actual/actual-inputs.ts'
import { mapFileOf } from '../facts/actual/block-volume.ts'
import type { Step } from '../plan/plan.ts'
import type { VolumeToMount } from './desired-state.ts'
import { MOUNTED, mountEvidence, notMounted } from './evidence.ts'
import { podDeviceLink, podPathOf } from './paths.ts'
import type { MountEvidence, VolumePlugin } from './plugin.ts'

/**
 * The steps of a map, in the kubelet's order. Each step leaves what exists as it is.
 *
 * @param mapDir the volume's global map directory, relative to the root directory
 * @param device its path
 */
export function mapSteps(inputs: ActualInputs, volume: VolumeToMount, mapDir: string, device: string): Step[] {
  const directory = inputs.absolute(mapDir)
  const map = `${directory}/${volume.podUid}`
  return [
    { op: 'mkdir', target: directory, mode: '0750' },
    { op: 'mapDevice', target: map, source: device },
    { op: 'symlink', target: inputs.absolute(podDeviceLink(volume)) },
    { op: 'losetup -f', target: map },
  ]
}

/**
 * Mapped if all three parts are there, the loop device as far as that is known.
 *
 * @param mapDir undefined: not known; then the pod's link is enough
 */
export function mapEvidence(inputs: ActualInputs, volume: VolumeToMount, mapDir: string | undefined): MountEvidence {
  if (inputs.tree.get(podDeviceLink(volume))?.type !== 'link')
    return notMounted("the pod's link to the device is missing")
  if (mapDir === undefined) return MOUNTED
  const { mapLayers, loops } = mapFileOf(inputs, mapDir, volume.podUid)
  if (mapLayers.length === 0) return notMounted('no device is mapped for the pod')
  return loops.length > 0 || hasUnknownLoop(inputs) ? MOUNTED : notMounted('no loop device holds its device open')
}

/** The kernel shows "/" for a backing file that is not visible in this mount namespace: that may be this map's device. */
function hasUnknownLoop({ snapshot: { blockDevices } }: ActualInputs): boolean {
  return blockDevices === undefined || blockDevices.some(({ backingFile }) => backingFile === '/')
}

// What the plugins of LUNs, iscsi and fc, have in common (P83, P98).

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
    evidence: (inputs, volume) =>
      volume.mode === 'Filesystem'
        ? mountEvidence(inputs, volume)
        : mapEvidence(inputs, volume, kind.globalPath(volume)),
  }
}

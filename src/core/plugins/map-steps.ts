/** A raw block volume of the plugins that publish nothing: map file, the pod's link, loop device (P98, P99, R805). */

import type { ActualInputs } from '../actual/actual-inputs.ts'
import { mapFileOf } from '../actual/map-files.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
import { defined } from '../lang/defined.ts'
import type { Step } from '../plan/plan.ts'
import { MOUNTED, notMounted } from './evidence.ts'
import { podDeviceLink } from './paths.ts'
import type { MountEvidence } from './plugin.ts'

/**
 * In the kubelet's order. Each step leaves what is there already as it is.
 *
 * @param mapDir the volume's global map directory, relative to the root directory
 * @param device its path; undefined: the device that a step before has found
 */
export function mapSteps(inputs: ActualInputs, volume: VolumeToMount, mapDir: string, device?: string): Step[] {
  const directory = inputs.absolute(mapDir)
  const map = `${directory}/${volume.podUid}`
  return [
    { op: 'mkdir', target: directory, mode: '0750' },
    { op: 'mapDevice', target: map, ...defined({ source: device }) },
    { op: 'symlink', target: inputs.absolute(podDeviceLink(volume)) },
    { op: 'losetup -f', target: map },
  ]
}

/** All three parts, as far as the third can be told. */
export function mapEvidence(inputs: ActualInputs, volume: VolumeToMount, mapDir: string): MountEvidence {
  if (inputs.tree.get(podDeviceLink(volume))?.type !== 'link')
    return notMounted("the pod's link to the device is missing")
  const { mapLayers, loops } = mapFileOf(inputs, mapDir, volume.podUid)
  if (mapLayers.length === 0) return notMounted('no device is mapped for the pod')
  return loops.length > 0 || hasUnknownLoop(inputs) ? MOUNTED : notMounted('no loop device holds its device open')
}

/** The kernel says "/" of a backing file that it cannot show in this mount namespace: it may be this one. */
function hasUnknownLoop({ snapshot: { blockDevices } }: ActualInputs): boolean {
  return blockDevices === undefined || blockDevices.some(({ backingFile }) => backingFile === '/')
}

/** How a LUN that iscsi or fc brings to the node becomes a pod's volume (P14, P75, P81, P83, P99). */

import type { ActualInputs } from '../actual/actual-inputs.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
import type { Step } from '../plan/plan.ts'
import type { PlanContext } from '../reconcile/context.ts'
import { linkEvidence, mountEvidence } from './evidence.ts'
import { mapEvidence, mapSteps } from './map-steps.ts'
import { joinMountOptions, mountOptions } from './mount-options.ts'
import { ownershipOf } from './ownership.ts'
import { podVolumeDir } from './paths.ts'
import type { MountEvidence } from './plugin.ts'

export interface Lun {
  /** The global directory, of the mount or of the maps, relative to the root directory. */
  readonly global: string
  readonly fsType: string | undefined
  /** Of an inline source; a PersistentVolume is read-only by its claim. */
  readonly readOnly: boolean | undefined
  /** What brings the device to the node, given the global directory, which is there by then. */
  find(global: string): readonly Step[]
}

/** @param global undefined where the source names none */
export function lunEvidence(inputs: ActualInputs, volume: VolumeToMount, global: string | undefined): MountEvidence {
  if (volume.mode === 'Filesystem') return mountEvidence(inputs, volume)
  return global === undefined ? linkEvidence(inputs, volume) : mapEvidence(inputs, volume, global)
}

/**
 * The device is found for every pod that has it as it is, and once for the global mount. One that is there is compared
 * with the device, as the kubelet logs in anew for every pod (P14).
 *
 * @param first whether the global mount is part of it
 */
export function lunSteps({ inputs }: PlanContext, volume: VolumeToMount, lun: Lun, first: boolean): Step[] {
  const global = inputs.absolute(lun.global)
  if (volume.mode === 'Filesystem') {
    const ro = isReadOnly(volume, lun) ? ['ro'] : []
    return [...(first ? deviceSteps(volume, lun, global, ro) : []), ...podSteps(inputs, volume, global, ro)]
  }
  const [directory, ...map] = mapSteps(inputs, volume, lun.global)
  return [...(directory === undefined ? [] : [directory]), ...lun.find(global), ...map]
}

function deviceSteps(volume: VolumeToMount, { fsType, find }: Lun, target: string, own: readonly string[]): Step[] {
  const options = mountOptions(volume, own)
  return [
    { op: 'mkdir', target, mode: '0750' },
    ...find(target),
    { op: 'mountDevice', target, ...(fsType ? { fsType } : {}), ...(options.length === 0 ? {} : { options }) },
  ]
}

function podSteps(inputs: ActualInputs, volume: VolumeToMount, source: string, ro: readonly string[]): Step[] {
  const target = inputs.absolute(podVolumeDir(volume))
  return [
    { op: 'mkdir', target, mode: '0750' },
    { op: 'mount', target, source, options: joinMountOptions(mountOptions(volume, []), ['bind', ...ro]) },
    ...(ro.length > 0 ? [] : ownershipOf(volume, target, { ignoreErrors: true })),
  ]
}

function isReadOnly({ persistentVolume, readOnly }: VolumeToMount, lun: Lun): boolean {
  return persistentVolume === undefined ? lun.readOnly === true : readOnly
}

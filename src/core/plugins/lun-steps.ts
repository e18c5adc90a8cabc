/** How a LUN that iscsi or fc brings to the node becomes a pod's volume (P14, P75, P81, P83, P99). */

import type { ActualInputs } from '../actual/actual-inputs.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
import { labelOption } from '../desired/selinux-label.ts'
import { isReadOnlyFor } from '../desired/shared-sources.ts'
import { defined } from '../lang/defined.ts'
import type { Obstacle } from '../plan/draft.ts'
import type { Step } from '../plan/plan.ts'
import { linkEvidence, mountEvidence } from './evidence.ts'
import { mapEvidence, mapSteps } from './map-steps.ts'
import { bindOptions, mountOptions } from './mount-options.ts'
import { ownershipOf } from './ownership.ts'
import { podPathOf, podVolumeDir } from './paths.ts'
import type { MountEvidence, PluginDevice, SetUpContext, SpecFailure, VolumePlugin } from './plugin.ts'

export interface Lun {
  /** The global directory, of the mount or of the maps, relative to the root directory. */
  readonly global: string
  readonly fsType: string | undefined
  /** `readOnly` of an inline source; a PersistentVolume is read-only by its claim. */
  readonly readOnly: boolean | undefined
  /** Steps that bring the device to the node. The global directory exists by then. */
  find(global: string): readonly Step[]
}

export interface LunKind {
  readonly name: string
  readonly about: VolumePlugin['about']
  readonly source: NonNullable<VolumePlugin['source']>
  readonly facts: VolumePlugin['facts']
  readonly sourceText: NonNullable<VolumePlugin['sourceText']>
  readonly device: PluginDevice
  /** The LUN that the volume's source names, or why it names none. */
  lunOf(volume: VolumeToMount): Lun | SpecFailure
  /** What else prevents the set-up. */
  obstacle?(volume: VolumeToMount): Obstacle | undefined
}

/** The plugin of LUNs of one kind. */
export function lunPlugin({ lunOf, obstacle = () => undefined, ...kind }: LunKind): VolumePlugin {
  const globalPath = (volume: VolumeToMount): string | undefined => {
    const lun = lunOf(volume)
    return 'error' in lun ? undefined : lun.global
  }
  return {
    ...kind,
    block: true,
    refreshes: false,
    reconstructs: true,
    tearDown: 'mount',
    podPath: podPathOf,
    globalPath,
    mountsOver: ({ mode }) => mode === 'Filesystem',
    takesLabel: () => true,
    evidence: (inputs, volume) => lunEvidence(inputs, volume, globalPath(volume)),
    setUp: (context, volume, first) => {
      const lun = lunOf(volume)
      if ('error' in lun) {
        const hint = "Correct the volume's source; then plan again."
        return { steps: [], blocked: { code: 'InvalidVolume', message: lun.error, hint } }
      }
      const blocked = obstacle(volume)
      return { steps: lunSteps(context, volume, lun, first), ...defined({ blocked }) }
    },
  }
}

/** @param global undefined where the source names none */
function lunEvidence(inputs: ActualInputs, volume: VolumeToMount, global: string | undefined): MountEvidence {
  if (volume.mode === 'Filesystem') return mountEvidence(inputs, volume)
  return global === undefined ? linkEvidence(inputs, volume) : mapEvidence(inputs, volume, global)
}

/**
 * The device is found once for the global mount, or again for every pod that gets the raw device. An existing global mount is
 * compared with the device, since the kubelet logs in again for every pod (P14).
 *
 * @param first whether the steps include the global mount
 */
function lunSteps(context: SetUpContext, volume: VolumeToMount, lun: Lun, first: boolean): Step[] {
  const { inputs } = context
  const global = inputs.absolute(lun.global)
  if (volume.mode === 'Filesystem') {
    const ro = isReadOnlyFor(volume, lun.readOnly) ? ['ro'] : []
    return [
      ...(first ? deviceSteps(volume, lun, global, [...ro, ...labelOption(context.label)]) : []),
      ...podSteps(inputs, volume, global, ro),
    ]
  }
  const [directory, ...map] = mapSteps(inputs, volume, lun.global)
  return [...(directory === undefined ? [] : [directory]), ...lun.find(global), ...map]
}

function deviceSteps(volume: VolumeToMount, { fsType, find }: Lun, target: string, own: readonly string[]): Step[] {
  const options = mountOptions(volume, own)
  return [
    { op: 'mkdir', target, mode: '0750' },
    ...find(target),
    {
      op: 'mountDevice',
      target,
      ...defined({ fsType: fsType || undefined, options: options.length === 0 ? undefined : options }),
    },
  ]
}

function podSteps(inputs: ActualInputs, volume: VolumeToMount, source: string, ro: readonly string[]): Step[] {
  const target = inputs.absolute(podVolumeDir(volume))
  return [
    { op: 'mkdir', target, mode: '0750' },
    { op: 'mount', target, source, options: bindOptions(volume, ro) },
    ...(ro.length > 0 ? [] : ownershipOf(volume, target, { ignoreErrors: true })),
  ]
}

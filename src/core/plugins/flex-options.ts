/** The JSON that a flexVolume driver is given (P87). Never with a secret: volumes that have one are not mounted. */

import type { VolumeToMount } from '../desired/desired-state.ts'
import { podNamespace } from '../desired/pods.ts'
import { isReadOnlyFor, sharedSourcesOf } from '../desired/shared-sources.ts'
import { defined } from '../lang/defined.ts'
import type { SharedSources } from '../model/objects.ts'

type FlexSource = NonNullable<SharedSources['flexVolume']>

export function flexSourceOf(volume: VolumeToMount): FlexSource | undefined {
  return sharedSourcesOf(volume).flexVolume ?? undefined
}

export function isFlexReadOnly(volume: VolumeToMount): boolean {
  return isReadOnlyFor(volume, flexSourceOf(volume)?.readOnly)
}

/** For the device: options of the volume alone, since all its pods share the device. */
export function flexDeviceOptions(volume: VolumeToMount): string {
  return optionsOf(volume, {})
}

/** For a pod's mount. */
export function flexMountOptions(volume: VolumeToMount): string {
  const { pod, podUid } = volume
  const fsGroup = pod.spec.securityContext?.fsGroup
  return optionsOf(volume, {
    'kubernetes.io/pod.name': pod.metadata.name,
    'kubernetes.io/pod.namespace': podNamespace(pod),
    'kubernetes.io/pod.uid': podUid,
    'kubernetes.io/serviceAccount.name': pod.spec.serviceAccountName ?? '',
    ...defined({ 'kubernetes.io/mounterArgs.FsGroup': fsGroup == null ? undefined : String(fsGroup) }),
  })
}

/** Sorted by name, as Go prints a map; the source's own options win. */
function optionsOf(volume: VolumeToMount, more: Readonly<Record<string, string>>): string {
  const source = flexSourceOf(volume)
  const options = {
    'kubernetes.io/fsType': source?.fsType ?? '',
    'kubernetes.io/readwrite': isFlexReadOnly(volume) ? 'ro' : 'rw',
    'kubernetes.io/pvOrVolumeName': volume.specName,
    ...more,
    ...source?.options,
  }
  return JSON.stringify(Object.fromEntries(Object.entries(options).toSorted(([a], [b]) => (a < b ? -1 : 1))))
}

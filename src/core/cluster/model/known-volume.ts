/** A volume that could be attached, as its unique name identifies it: all PersistentVolumes of one driver and handle are one (R818). */

import { compareText } from '../../base/compare-text.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import type { PersistentVolume } from '../../kube/api/objects.ts'
import type { ClusterVolumeRef } from '../../plan/cluster-plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import type { ClusterState, ClusterVolume } from './cluster-state.ts'

type Fields = 'driver' | 'handle' | 'attachability' | 'accessModes' | 'claim' | 'migratedFrom'

/** Almost every volume has one PersistentVolume, and is its record. */
export interface KnownVolume extends Pick<ClusterVolume, Fields> {
  readonly uniqueName: string
  readonly plugin: string
  /** Its PersistentVolume, of several the first; absent for a volume in the spec of a pod. */
  readonly name?: string
  /** Of several PersistentVolumes one may be on one node only. */
  readonly exclusive?: boolean
  /** The synthetic PersistentVolume's spec of a translated in-tree volume in the spec of a pod (R153). */
  readonly inlineSpec?: PersistentVolume['spec']
}

/** R740: a volume without access modes, or with ReadWriteMany or ReadOnlyMany, may be attached to several nodes. */
export function isExclusive({ exclusive, accessModes }: Pick<KnownVolume, 'exclusive' | 'accessModes'>): boolean {
  const isShared = accessModes.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany')
  return exclusive ?? (accessModes.length > 0 && !isShared)
}

/** Every PersistentVolume that a plugin can name, by unique name. */
export function knownVolumes(state: ClusterState): ReadonlyMap<string, KnownVolume> {
  const known = new Map<string, KnownVolume>()
  for (const volume of state.volumes) {
    if (!isNamed(volume)) continue
    const before = known.get(volume.uniqueName)
    known.set(volume.uniqueName, before === undefined ? volume : joined(before, volume))
  }
  return known
}

function isNamed(volume: ClusterVolume): volume is ClusterVolume & KnownVolume {
  return volume.uniqueName !== undefined && volume.plugin !== undefined
}

/** The stricter of both: exclusive if one is, attachable if one is. */
function joined(a: KnownVolume, b: KnownVolume): KnownVolume {
  const first = compareText(a.name ?? '', b.name ?? '') <= 0 ? a : b
  const both = [a.attachability, b.attachability]
  return {
    ...first,
    attachability: both.includes('attachable') ? 'attachable' : both.includes('unknown') ? 'unknown' : 'notAttachable',
    exclusive: isExclusive(a) || isExclusive(b),
  }
}

/** As a plan names it. */
export function volumeRef(volume: KnownVolume): ClusterVolumeRef {
  const { name, uniqueName, plugin, driver, handle, claim, accessModes } = volume
  return {
    name: name ?? handle ?? uniqueName,
    uniqueName,
    plugin,
    ...omitUndefined({ driver, handle, claim: claim && namespacedName(claim), persistentVolume: name }),
    accessModes,
  }
}

/** In messages: its PersistentVolume, and the claim. */
export function volumeLabel(volume: ClusterVolumeRef): string {
  return volume.claim === undefined ? volume.name : `${volume.name} (claim ${volume.claim})`
}

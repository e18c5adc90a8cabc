/** A volume that could be attached, as its unique name identifies it: all PersistentVolumes of one driver and handle are one (R818). */

import { compareText } from '../../lang/compare-text.ts'
import { defined } from '../../lang/defined.ts'
import type { PersistentVolume } from '../../model/objects.ts'
import type { ClusterVolumeRef } from '../../plan/cluster-plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import type { Attachability } from '../../volumes/desired-state.ts'
import type { ClusterState, ClusterVolume } from './cluster-state.ts'

export interface KnownVolume {
  readonly uniqueName: string
  readonly plugin: string
  readonly driver?: string | undefined
  readonly handle?: string | undefined
  readonly attachability: Attachability
  readonly accessModes: readonly string[]
  /** R740: only one node at a time may have it. */
  readonly exclusive: boolean
  /** Sorted; empty for a volume in the spec of a pod. */
  readonly persistentVolumes: readonly string[]
  /** namespace/name */
  readonly claim?: string | undefined
  /** The synthetic PersistentVolume's spec of a translated in-tree volume in the spec of a pod (R153). */
  readonly inlineSpec?: PersistentVolume['spec']
  /** The in-tree plugin that it was translated from. */
  readonly migratedFrom?: string | undefined
}

/**
 * R740: a volume without access modes, or with ReadWriteMany or ReadOnlyMany, may be attached to several nodes.
 * One of an unknown PersistentVolume counts as exclusive: the caller gives it no modes, and asks nothing here.
 */
export function isExclusive(accessModes: readonly string[]): boolean {
  return accessModes.length > 0 && !accessModes.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany')
}

/** Every PersistentVolume that a plugin can name, by unique name. */
export function knownVolumes(state: ClusterState): ReadonlyMap<string, KnownVolume> {
  const known = new Map<string, KnownVolume>()
  for (const volume of state.volumes) {
    const made = knownVolume(volume)
    if (made === undefined) continue
    const before = known.get(made.uniqueName)
    known.set(made.uniqueName, before === undefined ? made : joined(before, made))
  }
  return known
}

function knownVolume(volume: ClusterVolume): KnownVolume | undefined {
  const { uniqueName, plugin } = volume
  return uniqueName === undefined || plugin === undefined ? undefined : new OnlyVolume(volume, uniqueName, plugin)
}

/** Of one PersistentVolume, as almost every volume is: a view of its record, since 50,000 copies of the same texts take room. */
class OnlyVolume implements KnownVolume {
  readonly uniqueName: string
  readonly plugin: string
  readonly #record: ClusterVolume

  constructor(record: ClusterVolume, uniqueName: string, plugin: string) {
    this.#record = record
    this.uniqueName = uniqueName
    this.plugin = plugin
  }

  get driver(): string | undefined {
    return this.#record.driver
  }

  get handle(): string | undefined {
    return this.#record.handle
  }

  get attachability(): Attachability {
    return this.#record.attachability
  }

  get accessModes(): readonly string[] {
    return this.#record.accessModes
  }

  get exclusive(): boolean {
    return isExclusive(this.#record.accessModes)
  }

  get persistentVolumes(): readonly string[] {
    return [this.#record.name]
  }

  get claim(): string | undefined {
    const { claim } = this.#record
    return claim && namespacedName(claim)
  }

  get migratedFrom(): string | undefined {
    return this.#record.migratedFrom
  }
}

/** The stricter of both: exclusive if one is, attachable if one is. */
function joined(a: KnownVolume, b: KnownVolume): KnownVolume {
  const [first, second] = compareText(a.persistentVolumes[0] ?? '', b.persistentVolumes[0] ?? '') <= 0 ? [a, b] : [b, a]
  const { uniqueName, plugin, driver, handle, accessModes, claim, migratedFrom } = first
  const both = [a.attachability, b.attachability]
  return {
    ...{ uniqueName, plugin, driver, handle, accessModes, claim, migratedFrom },
    attachability: both.includes('attachable') ? 'attachable' : both.includes('unknown') ? 'unknown' : 'notAttachable',
    exclusive: a.exclusive || b.exclusive,
    persistentVolumes: [...first.persistentVolumes, ...second.persistentVolumes].toSorted(compareText),
  }
}

/** As a plan names it. */
export function volumeRef(volume: KnownVolume): ClusterVolumeRef {
  const { uniqueName, plugin, driver, handle, claim, accessModes, persistentVolumes } = volume
  const [persistentVolume] = persistentVolumes
  return {
    name: persistentVolume ?? handle ?? uniqueName,
    uniqueName,
    plugin,
    ...defined({ driver, handle, claim, persistentVolume }),
    accessModes,
  }
}

/** In messages: its PersistentVolume, and the claim. */
export function volumeLabel(volume: ClusterVolumeRef): string {
  return volume.claim === undefined ? volume.name : `${volume.name} (claim ${volume.claim})`
}

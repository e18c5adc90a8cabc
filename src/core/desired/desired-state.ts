/** The desired state of the world: which volumes which pods of this node need. */
import type { Pod } from '../model/objects.ts'
import type { MayBe } from './may-be.ts'
import type { VolumeSpec } from './volume-spec.ts'

/** One volume of one pod (VolumeToMount). Two names in the pod's spec may share one (R004). */
export interface VolumeToMount extends VolumeSpec {
  /** The UID used on disk: for a mirror pod the static pod's (R225, R226). */
  readonly podUid: string
  readonly pod: Pod
  readonly podVolumeNames: readonly string[]
}

/**
 * A volume of a pod that could not be resolved (S4).
 * `Absent`: the claim or PersistentVolume is proved not to exist. `Unbound`: the claim is proved not to be bound.
 * `Unusable`: the volume is known, but cannot be used as the pod asks. `Unknown`: anything else (403, time-out …).
 */
export interface UnresolvedVolume {
  readonly podUid: string
  readonly pod: Pod
  readonly podVolumeName: string
  readonly cause: 'Absent' | 'Unbound' | 'Unusable' | 'Unknown'
  /** Which volumes of this node this may be: operations on those are held back. */
  readonly mayBe: MayBe
  readonly message: string
  readonly claimName?: string
  readonly persistentVolumeName?: string
}

export interface DesiredState {
  readonly volumes: readonly VolumeToMount[]
  readonly unresolved: readonly UnresolvedVolume[]
}

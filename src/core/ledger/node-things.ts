/** What pods have on disk, found once for each pod that is asked about: a plan asks about few of a node's pods. */
import type { ActualInputs } from '../actual/actual-inputs.ts'
import type { PodVolume, SubPaths } from '../actual/pod-volume.ts'
import { podSubPaths, podVolumes } from '../actual/pod-volumes.ts'

export class NodeThings {
  readonly #inputs: ActualInputs
  readonly #volumes = new Map<string, readonly PodVolume[]>()
  readonly #leaked = new Map<string, readonly SubPaths[]>()

  constructor(inputs: ActualInputs) {
    this.#inputs = inputs
  }

  podVolumes(uid: string): readonly PodVolume[] {
    const known = this.#volumes.get(uid)
    if (known !== undefined) return known
    const found = podVolumes(this.#inputs, uid)
    this.#volumes.set(uid, found)
    return found
  }

  /** Mounted sub-paths whose volume has no directory any more: the kubelet never finds them (O17, O18, P142). */
  leakedSubPaths(uid: string): readonly SubPaths[] {
    const known = this.#leaked.get(uid)
    if (known !== undefined) return known
    const owned = new Set(this.podVolumes(uid).map(({ name }) => name))
    const found = [...podSubPaths(this.#inputs, uid).values()].filter(
      ({ volumeName, leaves, foreign }) =>
        !owned.has(volumeName) && (foreign.length > 0 || leaves.some(({ layers }) => layers.length > 0)),
    )
    this.#leaked.set(uid, found)
    return found
  }
}

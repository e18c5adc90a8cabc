/** Handles from state files, PersistentVolumes and the node's status, by the staging directory of each (C10, C95). */
import { csiSourceOf } from '../desired/csi-translation/translate.ts'
import { volumesInStatus } from '../desired/node-status.ts'
import type { NodeSnapshot } from '../model/snapshot.ts'
import { csiGlobalDir, parseCsiUniqueName } from '../names/volume-names.ts'
import type { CsiIdentity } from './identified.ts'

export class KnownHandles {
  readonly #snapshot: NodeSnapshot
  readonly #recorded: readonly CsiIdentity[]
  #byDirectory: ReadonlyMap<string, CsiIdentity> | undefined

  /** @param recorded volumes that a state file on this node names */
  constructor(snapshot: NodeSnapshot, recorded: readonly CsiIdentity[]) {
    this.#snapshot = snapshot
    this.#recorded = recorded
  }

  /** The volume whose driver and handle give this directory its name. Every handle is hashed once. */
  stagedIn(directory: string): CsiIdentity | undefined {
    this.#byDirectory ??= this.#hashed()
    return this.#byDirectory.get(directory)
  }

  #hashed(): ReadonlyMap<string, CsiIdentity> {
    const known = new Map<string, CsiIdentity>()
    for (const identity of [...this.#recorded, ...this.#ofPersistentVolumes(), ...this.#ofNodeStatus()]) {
      const dir = csiGlobalDir(identity.driver, identity.handle)
      if (!known.has(dir)) known.set(dir, identity)
    }
    return known
  }

  #ofPersistentVolumes(): CsiIdentity[] {
    return (this.#snapshot.api?.persistentVolumes ?? []).flatMap((volume) => {
      const csi = csiSourceOf(volume)
      return csi === undefined
        ? []
        : [{ driver: csi.driver, handle: csi.volumeHandle, from: `PersistentVolume ${volume.metadata.name}` }]
    })
  }

  /** The last trace of a volume whose PersistentVolume and state file are both gone (N64). */
  #ofNodeStatus(): CsiIdentity[] {
    return volumesInStatus(this.#snapshot.api?.node).flatMap((name) => {
      const volume = parseCsiUniqueName(name)
      return volume === undefined ? [] : [{ ...volume, from: "the node's status" }]
    })
  }
}

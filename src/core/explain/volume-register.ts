import type { PersistentVolume } from '../model/objects.ts'
import { csiUniqueName } from '../names/volume-names.ts'
import type { Identified } from '../reconcile/identity/identified.ts'
import { NodeVolume } from './node-volume.ts'

/** Volumes, and the names by which what comes later finds the one that it is of. */
export class VolumeRegister {
  readonly all: NodeVolume[] = []
  /** By a directory or file relative to the root directory. */
  readonly byDirectory = new Map<string, NodeVolume>()
  readonly byAttachment = new Map<string, NodeVolume>()
  readonly byPersistentVolume = new Map<string, NodeVolume>()
  readonly #byName = new Map<string, NodeVolume>()

  /** The volume of this unique name, created if there is none yet. */
  named(uniqueName: string): NodeVolume {
    const known = this.#byName.get(uniqueName)
    if (known !== undefined) return known
    const made = this.alone(uniqueName)
    this.#byName.set(uniqueName, made)
    return made
  }

  /** A volume that nothing else is found to be of. */
  alone(uniqueName?: string): NodeVolume {
    const made = new NodeVolume(uniqueName)
    this.all.push(made)
    return made
  }

  /** A CSI volume by its identity; alone where that is not known. */
  identified(identified: Identified): NodeVolume {
    if (!('identity' in identified)) {
      const volume = this.alone()
      volume.unidentified = identified.unconfirmed
      return volume
    }
    const { identity } = identified
    const volume = this.named(csiUniqueName(identity.driver, identity.handle))
    volume.identity ??= identity
    return volume
  }

  noteObject(object: PersistentVolume, volume: NodeVolume): void {
    volume.persistentVolume ??= object
    this.byPersistentVolume.set(object.metadata.name, volume)
  }
}

import type { PersistentVolume } from '../model/objects.ts'
import { csiUniqueName, escapeQualifiedName } from '../names/volume-names.ts'
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
  readonly #byDevice = new Map<string, NodeVolume>()
  #bySpecName: Map<string, NodeVolume> | undefined

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

  /** The first volume that is mounted for the whole node on a device stays the one of it. */
  noteDevice(plugin: string, dev: string, volume: NodeVolume): void {
    const key = `${plugin} ${dev}`
    if (!this.#byDevice.has(key)) this.#byDevice.set(key, volume)
  }

  onDevice(plugin: string, dev: string | undefined): NodeVolume | undefined {
    return dev === undefined ? undefined : this.#byDevice.get(`${plugin} ${dev}`)
  }

  /** A volume of a pod in the API by its spec name, as its sub-paths are called; asked once those volumes are noted. */
  ofSpecName(podUid: string, escaped: string): NodeVolume | undefined {
    this.#bySpecName ??= new Map(
      this.all
        .toReversed()
        .flatMap((volume) =>
          [...volume.wanted, ...volume.ended].map(
            ({ podUid: uid, specName }) => [`${uid} ${escapeQualifiedName(specName)}`, volume] as const,
          ),
        ),
    )
    return this.#bySpecName.get(`${podUid} ${escaped}`)
  }

  noteObject(object: PersistentVolume, volume: NodeVolume): void {
    volume.persistentVolume ??= object
    this.byPersistentVolume.set(object.metadata.name, volume)
  }
}

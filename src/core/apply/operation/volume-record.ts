/** What one apply has found out about a volume, for a later detach (S21). */
import type { ExpectedMount } from '../../plan/plan.ts'

/** A mount of the volume, as the plan saw it. */
export interface SeenLayer extends Omit<ExpectedMount['layers'][number], 'id'> {
  /** "major:minor" of the block devices below the file system, if its own number is not one of theirs (btrfs). */
  readonly behind: readonly string[]
  /** Set if this is only a directory of a file system: the mount point where somebody else has mounted all of it. */
  readonly keptAt?: string
}

/** Thousands of volumes have no device (secrets, config maps), so each collection is made once it is asked for. */
export class VolumeRecord {
  #devices: Map<string, string | undefined> | undefined
  #found: Set<string> | undefined
  #below: Map<string, ReadonlyMap<string, string | undefined>> | undefined
  #mounted: Map<string, string | undefined> | undefined
  #overlays: Set<string> | undefined
  #layers: Map<string, SeenLayer> | undefined
  unstaged = false
  touched = false
  readonly #sequenceOf: (dev: string) => string | undefined
  readonly #madeOf: (dev: string) => readonly string[]

  /** @param madeOf the devices that a device is built on, "major:minor" */
  constructor(sequenceOf: (dev: string) => string | undefined, madeOf: (dev: string) => readonly string[]) {
    this.#sequenceOf = sequenceOf
    this.#madeOf = madeOf
  }

  /**
   * Every device on which the volume was seen, "major:minor", with the sequence number of its disk when this apply first saw
   * it; undefined if the kernel has none. The number may belong to another disk by now (loop devices).
   */
  get devices(): Map<string, string | undefined> {
    this.#devices ??= new Map()
    return this.#devices
  }

  /** The devices among them that no mount or map showed, and that were found by name (find-volume-device.ts). */
  get found(): Set<string> {
    this.#found ??= new Set()
    return this.#found
  }

  /** The devices that each device was built on at that time: an unstage may close the mapping that leads to the disk. */
  get below(): Map<string, ReadonlyMap<string, string | undefined>> {
    this.#below ??= new Map()
    return this.#below
  }

  /** The devices among them whose mounts an operation of this apply found and is about to unmount. */
  get mounted(): Map<string, string | undefined> {
    this.#mounted ??= new Map()
    return this.#mounted
  }

  /** "major:minor" of overlays with a layer in the volume (file-system-users.ts). */
  get overlays(): Set<string> {
    this.#overlays ??= new Set()
    return this.#overlays
  }

  /** Mounts on which the volume was seen; each file system and directory once. */
  get layers(): readonly SeenLayer[] {
    return [...(this.#layers?.values() ?? [])]
  }

  /** Records a device that a mount, a map or --device shows. */
  note(dev: string): void {
    if (this.devices.has(dev)) return
    this.devices.set(dev, this.#sequenceOf(dev))
    this.below.set(dev, new Map(this.#madeOf(dev).map((each) => [each, this.#sequenceOf(each)])))
  }

  noteFound(dev: string): void {
    if (!this.devices.has(dev)) this.found.add(dev)
    this.note(dev)
  }

  /** Forgets devices that were found by name: --device says which device it is, or that there is none. */
  forgetFound(): void {
    for (const dev of this.found) {
      this.devices.delete(dev)
      this.below.delete(dev)
    }
    this.found.clear()
  }

  noteLayer(layer: SeenLayer): void {
    const key = JSON.stringify([layer.dev, layer.root, layer.source])
    this.#layers ??= new Map()
    if (!this.#layers.has(key)) this.#layers.set(key, layer)
    for (const dev of layer.behind.length === 0 ? [layer.dev] : layer.behind) this.note(dev)
  }

  noteMounted(dev: string): void {
    if (!this.mounted.has(dev)) this.mounted.set(dev, this.#sequenceOf(dev))
  }
}

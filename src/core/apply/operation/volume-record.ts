/** What one apply has learnt of a volume, for the detach that comes after (S21). */
import type { ExpectedMount } from '../../plan/plan.ts'

/** A mount of the volume, as the plan saw it. */
export interface SeenLayer extends Omit<ExpectedMount['layers'][number], 'id'> {
  /** "major:minor" of the block devices that it is on, where the file system's number is not one of theirs. */
  readonly behind: readonly string[]
  /** Where somebody else keeps the whole file system that this is a directory of. */
  readonly keptAt?: string
}

export class VolumeRecord {
  /**
   * Every device that showed the volume, "major:minor", with the sequence number of its disk when this apply first saw
   * the device; undefined where the kernel gives none. A number may belong to another disk meanwhile (loop devices).
   */
  readonly devices = new Map<string, string | undefined>()
  /** Of these, the ones that no mount or map showed: looked for by name (find-device.ts). */
  readonly found = new Set<string>()
  /** What each of the devices was made of then, in the same way: an unstage may close the mapping that leads to the disk. */
  readonly below = new Map<string, ReadonlyMap<string, string | undefined>>()
  /** Of these, the ones whose mounts an operation of this apply found there, and is to take away. */
  readonly mounted = new Map<string, string | undefined>()
  /** "major:minor" of overlays that had a layer in what was mounted (directory-users.ts). */
  readonly overlays = new Set<string>()
  unstaged = false
  touched = false
  readonly #layers = new Map<string, SeenLayer>()
  readonly #sequenceOf: (dev: string) => string | undefined
  readonly #madeOf: (dev: string) => readonly string[]

  /** @param madeOf the devices that a device is made of, "major:minor" */
  constructor(sequenceOf: (dev: string) => string | undefined, madeOf: (dev: string) => readonly string[]) {
    this.#sequenceOf = sequenceOf
    this.#madeOf = madeOf
  }

  /** File systems that the volume was seen on, each directory of one once. */
  get layers(): readonly SeenLayer[] {
    return [...this.#layers.values()]
  }

  /** By a mount, a map, or a person. */
  note(dev: string): void {
    if (this.devices.has(dev)) return
    this.devices.set(dev, this.#sequenceOf(dev))
    this.below.set(dev, new Map(this.#madeOf(dev).map((each) => [each, this.#sequenceOf(each)])))
  }

  noteFound(dev: string): void {
    if (!this.devices.has(dev)) this.found.add(dev)
    this.note(dev)
  }

  /** A person has said which device it is, or that there is none. */
  forgetFound(): void {
    for (const dev of this.found) {
      this.devices.delete(dev)
      this.below.delete(dev)
    }
    this.found.clear()
  }

  noteLayer(layer: SeenLayer): void {
    const key = JSON.stringify([layer.dev, layer.root, layer.source])
    if (!this.#layers.has(key)) this.#layers.set(key, layer)
    for (const dev of layer.behind.length === 0 ? [layer.dev] : layer.behind) this.note(dev)
  }

  noteMounted(dev: string): void {
    if (!this.mounted.has(dev)) this.mounted.set(dev, this.#sequenceOf(dev))
  }
}

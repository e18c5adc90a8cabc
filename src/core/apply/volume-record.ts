/** What one apply has learnt of a volume, for the detach that comes after (S21). */
export class VolumeRecord {
  /**
   * Every device that showed the volume, "major:minor", with the sequence number of its disk when this apply first saw
   * the device; undefined where the kernel gives none. A number may belong to another disk meanwhile (loop devices).
   */
  readonly devices = new Map<string, string | undefined>()
  /** Of these, the ones whose mounts an operation of this apply found there, and is to take away. */
  readonly mounted = new Map<string, string | undefined>()
  unstaged = false
  touched = false
  readonly #sequenceOf: (dev: string) => string | undefined

  constructor(sequenceOf: (dev: string) => string | undefined) {
    this.#sequenceOf = sequenceOf
  }

  note(dev: string): void {
    if (!this.devices.has(dev)) this.devices.set(dev, this.#sequenceOf(dev))
  }

  noteMounted(dev: string): void {
    if (!this.mounted.has(dev)) this.mounted.set(dev, this.#sequenceOf(dev))
  }
}

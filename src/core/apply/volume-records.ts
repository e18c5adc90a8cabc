/** What one apply learns of each volume, for the detach that comes after (S21). */
import type { Operation, Plan } from '../plan/plan.ts'
import { noteDevices } from './detach-devices.ts'
import type { Host } from './host.ts'
import { VolumeRecord } from './volume-record.ts'

export class VolumeRecords {
  readonly #plan: Plan
  readonly #host: Host
  readonly #records = new Map<string, VolumeRecord>()
  /** Of devices, when first seen. */
  readonly #sequences = new Map<string, string | undefined>()

  constructor(plan: Plan, host: Host) {
    this.#plan = plan
    this.#host = host
  }

  /** The record of the operation's volume, with the devices that the operation was decided on. */
  of(operation: Operation): VolumeRecord {
    const key = operation.volume?.uniqueName ?? operation.id
    const record = this.#records.get(key) ?? new VolumeRecord((dev) => this.#sequenceOf(dev))
    this.#records.set(key, record)
    if (operation.kind !== 'DetachVolume') {
      record.touched = true
      noteDevices(operation, record, this.#host)
      return record
    }
    // What comes before a detach is about the same device, under whatever name (a leaked sub-path has another).
    const before = new Set(operation.after)
    for (const each of this.#plan.operations) if (before.has(each.id)) noteDevices(each, record, this.#host)
    return record
  }

  #sequenceOf(dev: string): string | undefined {
    // Anonymous devices (tmpfs, network file systems) are no disks, and a batch has thousands.
    if (dev.startsWith('0:')) return undefined
    if (!this.#sequences.has(dev)) this.#sequences.set(dev, this.#host.diskSequence(dev))
    return this.#sequences.get(dev)
  }
}

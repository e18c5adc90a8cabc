/** What one apply finds out about each volume, for a later detach (S21). */

import { CSI_PLUGIN } from '../facts/actual/volume-names.ts'
import { EVERYTHING, nodeOf, withWhatItIsMadeOf } from '../linux/block/whole-disk.ts'
import type { MountTable } from '../linux/mount-table.ts'
import type { Host } from '../node/host.ts'
import type { ExpectedMount, Operation, Plan } from '../plan/plan.ts'
import type { TeardownFamily } from '../volumes/plugin.ts'
import { pluginNamed } from '../volumes/registry.ts'
import { deviceBehind, namesBehind } from './disk-users.ts'
import { type SeenDevices, type SeenLayer, VolumeRecord } from './machine-facts.ts'
import { keeperOf } from './node-stack.ts'

type Layer = ExpectedMount['layers'][number]

/** Families of volumes that the kubelet makes of files or memory. */
const MADE_BY_KUBELET: ReadonlySet<string> = new Set<TeardownFamily>(['emptyDir', 'projected'])

/** Such a volume (a secret, an emptyDir) is a pod's own and on no device, so no detach will ask; a node may have thousands. */
function isMadeByKubelet({ volume }: Operation): boolean {
  return volume !== undefined && MADE_BY_KUBELET.has(pluginNamed(volume.plugin).tearDown)
}

export class VolumeRecords implements SeenDevices {
  readonly #plan: Plan
  readonly #host: Host
  readonly #records = new Map<string, VolumeRecord>()
  /** Mounts by operation, as they were when it began: they are gone by the time of the detach. */
  readonly #layers = new Map<string, readonly SeenLayer[]>()
  /** Sequence numbers of devices, when first seen. */
  readonly #sequences = new Map<string, string | undefined>()

  constructor(plan: Plan, host: Host) {
    this.#plan = plan
    this.#host = host
  }

  /**
   * The record of the operation's volume, with the devices that the operation was planned for.
   *
   * @param table as it is before the operation
   */
  of(operation: Operation, table: () => MountTable): VolumeRecord {
    const key = operation.volume?.uniqueName ?? operation.id
    const record = this.#records.get(key) ?? new VolumeRecord(this)
    this.#records.set(key, record)
    if (operation.kind !== 'DetachVolume') {
      record.touched = true
      if (isMadeByKubelet(operation)) return record
      this.#note(operation, record, table)
      return record
    }
    // The operations before a detach concern the same device, even under another name (a leaked sub-path).
    const before = new Set(operation.after)
    for (const each of this.#plan.operations) if (before.has(each.id)) this.#note(each, record, table)
    this.#note(operation, record, table)
    return record
  }

  /**
   * Records the devices of all mounts that the operation was planned for; a bind mount of a device node counts as that
   * device.
   */
  #note(operation: Operation, record: VolumeRecord, table: () => MountTable): void {
    const layers = (operation.expects ?? []).flatMap((each) => each.layers)
    const seen = this.#layers.get(operation.id) ?? layers.map((layer) => this.#see(layer, operation, table))
    this.#layers.set(operation.id, seen)
    for (const layer of seen) record.noteLayer(layer)
    const named = /^(\d+:\d+)\b/.exec(operation.volume?.device ?? '')?.[1]
    if (named !== undefined && !layers.some(({ fsType }) => fsType === 'devtmpfs')) record.note(named)
  }

  #see(layer: Layer, { volume }: Operation, table: () => MountTable): SeenLayer {
    const { id, dev, root, fsType, source = '' } = layer
    const { blockTree } = this.#host
    if (fsType === 'devtmpfs') {
      const device = deviceBehind(layer, this.#host)
      return { dev, root, fsType, source, behind: device === undefined ? [] : [device] }
    }
    const behind = namesBehind({ dev, root, fsType, source }, blockTree).flatMap(
      (name) => blockTree.node(name)?.dev ?? [],
    )
    // Only for volumes that can be detached: a batch has thousands of mounts.
    const mount = volume?.plugin === CSI_PLUGIN && root !== '/' ? table().byId(id) : undefined
    const keeper = mount === undefined ? undefined : keeperOf(mount, table(), this.#plan.rootDir)
    return { dev, root, fsType, source, behind, ...(keeper && { keptAt: keeper.mountPoint }) }
  }

  madeOf(dev: string): string[] {
    if (dev.startsWith('0:')) return []
    const { blockTree } = this.#host
    const [, ...below] = withWhatItIsMadeOf(nodeOf(dev, blockTree), blockTree, EVERYTHING)
    return below.map((node) => node.dev)
  }

  sequenceOf(dev: string): string | undefined {
    // Anonymous devices (tmpfs, network file systems) are not disks, and a batch has thousands.
    if (dev.startsWith('0:')) return undefined
    if (!this.#sequences.has(dev)) this.#sequences.set(dev, this.#host.diskSequence(dev))
    return this.#sequences.get(dev)
  }
}

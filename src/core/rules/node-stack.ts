/**
 * The node's own file systems (of its system directories and of fstab) and the devices below its system directories. They
 * are never a volume, whatever is on them (O36).
 */

import { memoize, once } from '../base/collections.ts'
import { EVERYTHING, nodeOf, wholeDisk, withWhatItIsMadeOf } from '../linux/block/whole-disk.ts'
import type { MountInfo, MountTable } from '../linux/mount-table.ts'
import { isWithin } from '../linux/paths.ts'
import type { Operation, Plan } from '../plan/plan.ts'
import { decodeOctal } from '../trust/kernel.ts'
import { parentsOf } from '../volumes/payload-entries.ts'
import type { TeardownFamily } from '../volumes/plugin.ts'
import { pluginNamed } from '../volumes/registry.ts'
import type { ExpectedMount } from '../volumes/steps.ts'
import { CSI_PLUGIN } from '../volumes/volume-names.ts'
import { deviceBehind, namesBehind } from './disk-users.ts'
import { layersOf } from './expected-mounts.ts'
import type { Host } from './host.ts'
import { type MachineFacts, type SeenDevice, type SeenLayer, VolumeRecord } from './machine-facts.ts'

/** With the directories above each. */
const SYSTEM = ['/boot/efi', '/etc', '/usr', '/home', '/opt', '/var/log', '/var/lib/containerd', '/var/lib/docker']

/** As it is now. The file system of the kubelet's root directory is the node's own as well. */
export function ownOf({ around: { table, others }, plan: { rootDir }, host }: MachineFacts) {
  const { blockTree } = host
  // If the kubelet runs in a container, the machine's own root is in the mount namespace of PID 1.
  const tables = [table, ...others.filter(({ pid }) => pid === 1).map((each) => each.table)]
  const at = (places: readonly string[]): ReadonlySet<MountInfo> =>
    new Set(places.flatMap((place) => tables.flatMap((each) => each.top(place || '/') ?? [])))
  const system = at([...SYSTEM, rootDir].flatMap((path) => [...parentsOf(path), path]))
  const kept = at(fstabOf(host).places)
  const numbers = new Set([...system].flatMap((mount) => [mount.dev, ...numbersBehind(mount, blockTree)]))
  const nodes = [...numbers].filter((dev) => !dev.startsWith('0:')).map((dev) => nodeOf(dev, blockTree))
  const below = nodes.flatMap((node) => withWhatItIsMadeOf(node, blockTree, EVERYTHING))
  return {
    /** "major:minor" of file systems. A directory of one may be a volume, the whole file system never is. */
    fileSystems: new Set([...system, ...kept].map(({ dev }) => dev)),
    /** Kernel names of the devices below system directories, and of everything that those are built on, down to the disks. */
    devices: new Set(below.map(({ name }) => name)),
  }
}

/** "major:minor" of the devices behind a mount whose own number differs from theirs. */
function numbersBehind(mount: Parameters<typeof namesBehind>[0], tree: Host['blockTree']): string[] {
  return namesBehind(mount, tree).flatMap((name) => tree.node(name)?.dev ?? [])
}

/** What fstab(5) names, the machine's own and never a volume's: kernel names of devices, those of swap areas included, and mount points. */
export function fstabOf({ blockTree, readSmallFile }: Host) {
  const lines = (readSmallFile('/etc/fstab') ?? '').split('\n').map((line) => line.trim().split(/\s+/))
  const devices = lines.flatMap(([source = '']) => {
    const [, kind = '', value = ''] = /^(UUID|LABEL|PARTUUID|PARTLABEL)="?([^"]+)"?$/.exec(source) ?? []
    const file = kind === '' ? source : `/dev/disk/by-${kind.toLowerCase()}/${value}`
    return blockTree.nameOfFile(file) ?? []
  })
  // It writes blanks as \040.
  const places = lines.flatMap(([source = '#', place = '']) =>
    place.startsWith('/') && !source.startsWith('#') ? [decodeOctal(place)] : [],
  )
  return { devices, places }
}

/**
 * True if there is an earlier mount of the whole file system, outside the kubelet's root directory: a driver uses a directory of it as the
 * volume.
 */
function isKept(mount: MountInfo, table: MountTable, rootDir: string): boolean {
  return table
    .ofDevice(mount.dev)
    .some(
      ({ root, mountPoint, index }) =>
        root === '/' && index < mount.index && !isWithin(mountPoint, rootDir) && !KUBELETS.test(`${mountPoint}/`),
    )
}

/** A path like that of a kubelet's volume, below any root directory (S8). */
const KUBELETS = /\/(?:plugins\/kubernetes\.io|pods\/[^/]+\/volumes?(?:Devices|-subpaths)?)\//

/**
 * What must be unused before a volume is unmapped, unstaged or detached (S21, O36). Only a detach takes away what is below the volume's own
 * devices.
 */
export function devicesOf(facts: MachineFacts) {
  const { record, host, operation } = facts
  const { blockTree } = host
  const isDetach = operation.kind === 'DetachVolume'
  const own = ownOf(facts)
  const layers = [...record.layers.values()].filter(({ fsType }) => fsType !== 'devtmpfs')
  const whole = new Set(layers.filter(({ root }) => root === '/').map(({ dev }) => dev))
  const { directories = [], others = [] } = Object.groupBy(layers, ({ dev, isKept }) =>
    !whole.has(dev) && (isKept || own.fileSystems.has(dev)) ? 'directories' : 'others',
  )
  const numbersOf = (of: readonly SeenLayer[]) => new Set(of.flatMap(({ dev, behind }) => [dev, ...behind]))
  const kept = numbersOf(directories).difference(numbersOf(others))
  const isStill = ([dev, before]: readonly [string, string | undefined]): boolean => isSame(dev, before, host)
  const disks = [...record.devices].filter(([dev]) => !dev.startsWith('0:') && !kept.has(dev))
  const below = disks
    .flatMap(([, seen]) => (isDetach ? [...seen.below] : []))
    .filter((each) => isStill(each) && !own.devices.has(blockTree.nameOf(each[0]) ?? ''))
  const there = disks.filter(([dev, { sequence }]) => isStill([dev, sequence]))
  const anonymous = [...record.devices.keys()]
    .filter((dev) => dev.startsWith('0:') && !layers.some((layer) => layer.dev === dev))
    .map((dev): SeenLayer => ({ dev, root: '/', fsType: '', source: '', behind: [] }))
  return {
    /** The whole disks; of a detach also by what its devices were built on when first seen. */
    nodes: wholeDisk(
      [...there, ...below].map(([dev]) => dev),
      blockTree,
      { own: own.devices, throughLvm: isDetach },
    ),
    /** Without a block device: of a server, in memory. */
    fileSystems: [...others.filter(({ dev, behind }) => dev.startsWith('0:') && behind.length === 0), ...anonymous],
    /** In one of the node's own file systems: only use of the directory itself counts. */
    directories,
  }
}

/**
 * True if the device number still belongs to the same disk, by its sequence number. Without a sequence number nothing is
 * proved, and the disk counts as the same: the disk may be gone while its file system is still mounted.
 */
export function isSame(dev: string, before: string | undefined, host: Host): boolean {
  const now = host.diskSequence(dev)
  return before === undefined || now === undefined || now === before
}

const byId = memoize(({ operations }: Plan) => new Map(operations.map((operation) => [operation.id, operation])))

/** All that come first, those before them included. */
export function allBefore(operation: Operation, plan: Plan, found = new Set<Operation>()): ReadonlySet<Operation> {
  for (const id of operation.after) {
    const each = byId(plan).get(id)
    if (each === undefined || found.has(each)) continue
    found.add(each)
    allBefore(each, plan, found)
  }
  return found
}

// What one apply finds out about each volume, for a later detach (S21).

type Layer = ExpectedMount['layers'][number]

/** Families of volumes that the kubelet makes of files or memory: a pod's own and on no device, so no detach will ask; a node may have thousands. */
const MADE_BY_KUBELET: ReadonlySet<string> = new Set<TeardownFamily>(['emptyDir', 'projected'])

export class VolumeRecords {
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
    const record = once(this.#records, key, () => new VolumeRecord((dev) => this.#seeDevice(dev)))
    if (operation.kind === 'DetachVolume') {
      // The operations before it concern the same device, even under another name (a leaked sub-path).
      const before = new Set(operation.after)
      for (const each of this.#plan.operations) if (before.has(each.id)) this.#note(each, record, table)
    } else if (MADE_BY_KUBELET.has(pluginNamed(operation.volume?.plugin ?? '').tearDown)) return record
    this.#note(operation, record, table)
    return record
  }

  /**
   * Records the devices of all mounts that the operation was planned for; a bind mount of a device node counts as that
   * device.
   */
  #note(operation: Operation, record: VolumeRecord, table: () => MountTable): void {
    const layers = layersOf(operation)
    const seen = once(this.#layers, operation.id, () => layers.map((layer) => this.#see(layer, operation, table)))
    for (const layer of seen) record.noteLayer(layer)
    const named = /^(\d+:\d+)\b/.exec(operation.volume?.device ?? '')?.[1]
    if (named !== undefined && !layers.some(({ fsType }) => fsType === 'devtmpfs')) record.note(named)
  }

  #see(layer: Layer, { volume }: Operation, table: () => MountTable): SeenLayer {
    const { id, root, fsType } = layer
    const behind =
      fsType === 'devtmpfs'
        ? [deviceBehind(layer, this.#host) ?? []].flat()
        : numbersBehind(layer, this.#host.blockTree)
    // Only for volumes that can be detached: a batch has thousands of mounts.
    const mount = volume?.plugin === CSI_PLUGIN && root !== '/' ? table().byId(id) : undefined
    return { ...layer, behind, isKept: mount && isKept(mount, table(), this.#plan.rootDir) }
  }

  #seeDevice(dev: string): SeenDevice {
    const { blockTree, diskSequence } = this.#host
    const sequenceOf = (each: string): string | undefined => once(this.#sequences, each, () => diskSequence(each))
    // Anew for each volume: a number that was freed meanwhile may be another mapping's.
    const [, ...below] = withWhatItIsMadeOf(nodeOf(dev, blockTree), blockTree, EVERYTHING)
    return { sequence: sequenceOf(dev), below: new Map(below.map((node) => [node.dev, sequenceOf(node.dev)])) }
  }
}

/** Who holds some paths and devices of this node, just now. Reads /proc and sysfs, opens nothing, and touches no mount. */
import { openersOf } from '../apply/device-openers.ts'
import { readOtherNamespaces } from '../apply/other-namespaces.ts'
import { errorMessage } from '../errors.ts'
import type { MountTable } from '../mountinfo/mount-table.ts'
import { kernelTextIfAny, listIfAny } from '../trust/kernel.ts'
import { findHolders, type HolderSearch, type Holders } from './find-holders.ts'
import { type Holder, holder, isDenied } from './process-files.ts'

export interface Held {
  /** Absolute: mount points and directories. */
  readonly heldAt: readonly string[]
  /** Names of device files in /dev: those of raw block volumes, and what was asked about. */
  readonly devices: readonly string[]
}

export interface FoundHolders extends Holders {
  /** What the kernel has on the devices, in words. */
  readonly kernel: readonly string[]
}

export async function liveHolders(
  { heldAt, devices }: Held,
  search: Pick<HolderSearch, 'table' | 'loops' | 'maps'>,
): Promise<FoundHolders> {
  const { table } = search
  const others = readOtherNamespaces(false)
  const found = await findHolders({ ...search, paths: heldAt, others })
  const openers = devices.length === 0 ? NONE : deviceOpeners(devices, table, others)
  return {
    ...found,
    processes: [...found.processes, ...openers.holders].toSorted((a, b) => a.pid - b.pid),
    unseen: [...found.unseen, ...openers.unseen],
    kernel: kernelHolders([
      ...devices.flatMap(numberOf),
      ...heldAt.flatMap((path) => table.at(path).map(({ dev }) => dev)),
    ]),
  }
}

interface Openers {
  readonly holders: readonly Holder[]
  readonly unseen: readonly string[]
}

const NONE: Openers = { holders: [], unseen: [] }

function deviceOpeners(devices: readonly string[], table: MountTable, others: HolderSearch['others']): Openers {
  const names = new Map(devices.flatMap((name) => numberOf(name).map((dev) => [dev, name] as const)))
  try {
    const holders = openersOf(new Set(names.keys()), table, others).map(({ pid, dev }) =>
      holder(pid, 'device', `/dev/${names.get(dev)}`),
    )
    return { holders, unseen: [] }
  } catch (error) {
    const why = isDenied(error) ? 'not root' : errorMessage(error)
    return {
      holders: [],
      unseen: [`${why}: who has ${devices.map((name) => `/dev/${name}`).join(', ')} open cannot be seen`],
    }
  }
}

/** "major:minor" */
function numberOf(device: string): string[] {
  const dev = kernelTextIfAny(`/sys/class/block/${device.replaceAll('/', '!')}/dev`)
  return dev === undefined ? [] : [dev]
}

/** Devices that are made of these: LVM volumes, open LUKS mappings, arrays. */
function kernelHolders(devs: readonly string[]): string[] {
  return [...new Set(devs)].flatMap((dev) =>
    dev.startsWith('0:')
      ? []
      : listIfAny(`/sys/dev/block/${dev}/holders`).map((holder) => `device ${holder}, which is made of ${dev}`),
  )
}

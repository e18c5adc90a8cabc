/** Who holds given paths and devices of this node at this moment. Reads /proc and sysfs, opens nothing, touches no mount. */
import { openersOf } from '../block/device-openers.ts'
import { errorMessage } from '../errors/errors.ts'
import { locate } from '../mountinfo/location.ts'
import type { MountTable } from '../mountinfo/mount-table.ts'
import { readOtherNamespaces, unseenNamespaces } from '../processes/mount-namespaces.ts'
import { kernelTextIfAny, listIfAny } from '../trust/kernel.ts'
import { type Content, contentHolders } from './content-holders.ts'
import { type ContentLook, lookForUsers } from './content-look.ts'
import { findHolders, type HolderSearch, type Holders } from './find-holders.ts'
import type { MapReader } from './mapped-files.ts'
import { type Holder, holder, isDenied } from './process-files.ts'

export interface Held {
  /** Absolute: mount points and directories. */
  readonly heldAt: readonly string[]
  /** Of these, directories whose content an operation would delete, or whose tmpfs it would unmount. */
  readonly content: readonly Omit<Content, 'rootDir'>[]
  readonly rootDir: string
  /** Names of device files in /dev: those of raw block volumes, and those that were asked about. */
  readonly devices: readonly string[]
}

export interface LiveSearch extends Pick<HolderSearch, 'table' | 'loops'> {
  readonly maps: MapReader
}

/** For content that would be deleted, the same users that an apply looks for; for everything else, who keeps it busy. */
export async function liveHolders(held: Held, search: LiveSearch): Promise<Holders> {
  const { heldAt, devices } = held
  const { table } = search
  const others = readOtherNamespaces(held.content.length > 0)
  // At once: while a child reads the memory maps, which serve both, the other looks at open files.
  const look = contentLook(held, search, others)
  const known = look.then(
    (content) => content?.processes.maps,
    () => undefined,
  )
  const [found, users] = await Promise.all([
    findHolders({ ...search, paths: heldAt, others, known }),
    contentUsers(held, look),
  ])
  const openers = devices.length === 0 ? NONE : deviceOpeners(devices, table, others)
  return {
    processes: once([...[found, ...users].flatMap(({ processes }) => processes), ...openers.holders]).toSorted(
      (a, b) => a.pid - b.pid,
    ),
    namespaces: once([found, ...users].flatMap(({ namespaces }) => namespaces)),
    loops: once([found, ...users].flatMap(({ loops }) => loops)),
    unseen: once([
      ...unseenNamespaces(others),
      ...[found, ...users].flatMap(({ unseen }) => unseen),
      ...openers.unseen,
    ]),
    kernel: once([
      ...users.flatMap(({ kernel }) => kernel),
      ...kernelHolders([
        ...devices.flatMap(numberOf),
        ...heldAt.flatMap((path) => table.at(path).map(({ dev }) => dev)),
      ]),
    ]),
  }
}

async function contentLook(
  { content }: Held,
  { table, maps }: LiveSearch,
  others: HolderSearch['others'],
): Promise<ContentLook | undefined> {
  if (content.length === 0) return undefined
  const devices = new Set(content.flatMap(({ path }) => locate(table, path)?.dev ?? []))
  return lookForUsers({ table, devices: [...devices], maps, others })
}

async function contentUsers({ content, rootDir }: Held, looking: Promise<ContentLook | undefined>): Promise<Holders[]> {
  const look = await looking
  return look === undefined ? [] : Promise.all(content.map((each) => contentHolders(look, { ...each, rootDir })))
}

/** Each holder only once, whichever search found it. */
function once<T>(found: readonly T[]): T[] {
  return [...new Map(found.map((each) => [JSON.stringify(each), each])).values()]
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
    const why = isDenied(error) ? 'volctl does not run as root' : errorMessage(error)
    return {
      holders: [],
      unseen: [
        `${why}: the processes that have ${devices.map((name) => `/dev/${name}`).join(', ')} open cannot be read`,
      ],
    }
  }
}

/** "major:minor" */
function numberOf(device: string): string[] {
  const dev = kernelTextIfAny(`/sys/class/block/${device.replaceAll('/', '!')}/dev`)
  return dev === undefined ? [] : [dev]
}

/** Devices that are built on these: LVM volumes, open LUKS mappings, arrays. */
function kernelHolders(devs: readonly string[]): string[] {
  return [...new Set(devs)].flatMap((dev) =>
    dev.startsWith('0:')
      ? []
      : listIfAny(`/sys/dev/block/${dev}/holders`).map((holder) => `device ${holder}, which is built on ${dev}`),
  )
}

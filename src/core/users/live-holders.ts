/** Who holds given paths and devices of this node at this moment. Reads /proc and sysfs, opens nothing, touches no mount. */
import { readLoops } from '../linux/block/device-use.ts'
import { numberOf } from '../linux/follow-links.ts'
import { readOtherNamespaces } from '../linux/mount-namespaces.ts'
import { listIfAny } from '../trust/kernel.ts'
import { askProcesses, type ProcessReader } from './ask-processes.ts'
import { type Content, contentHolders } from './content-holders.ts'
import { lookForUsers } from './content-look.ts'
import { fileSystemsAt, findHolders, type HolderSearch, type Holders, kernelFiles, together } from './find-holders.ts'
import type { NamedPath } from './mount-uses.ts'
import { holder } from './uses.ts'

export interface Held {
  /** Absolute: mount points and directories. */
  readonly heldAt: readonly string[]
  /** Of these, directories whose content an operation would delete, or whose tmpfs it would unmount. */
  readonly content: readonly Omit<Content, 'rootDir'>[]
  readonly rootDir: string
  /** Names of device files in /dev: those of raw block volumes, and those that were asked about. */
  readonly devices: readonly string[]
}

interface LiveSearch extends Pick<HolderSearch, 'table'> {
  /** HostPaths of pods. */
  readonly named: readonly NamedPath[]
  readonly reader: ProcessReader
}

/** For content that would be deleted, the same users that an apply looks for; for everything else, who keeps it busy. */
export async function liveHolders(held: Held, { table, named, reader }: LiveSearch): Promise<Holders> {
  const { heldAt, devices, content, rootDir } = held
  const others = readOtherNamespaces()
  const names = new Map(devices.map((name) => [numberOf(name) ?? '', name]))
  const fileSystems = fileSystemsAt(table, [...heldAt, ...content.map(({ path }) => path)])
  const uses = await askProcesses({ table, others, fileSystems, devices: names.keys() }, reader)
  const { signal } = reader
  const look = content.length === 0 ? undefined : await lookForUsers({ table, others, processes: uses, named, signal })
  const users =
    look === undefined ? [] : await Promise.all(content.map((each) => contentHolders(look, { ...each, rootDir })))
  const openers = uses
    .openers(new Set(names.keys()))
    .map(({ pid, dev }) => holder(pid, 'device', `/dev/${names.get(dev)}`))
  const mounted = heldAt.flatMap((path) => table.at(path).map(({ dev }) => dev))
  // LVM volumes, open LUKS mappings, arrays.
  const built = [...new Set([...names.keys(), ...mounted])].flatMap((dev) =>
    listIfAny(`/sys/dev/block/${dev}/holders`).map((name) => `device ${name}, which is built on ${dev}`),
  )
  return together([
    findHolders({ table, paths: heldAt, others, files: kernelFiles(readLoops(), table), uses }),
    ...users,
    { processes: openers, kernel: built },
  ])
}

/**
 * Where a path in some mount namespace leads, name by name and by descriptors. A name is only looked up in a directory that is in a mount
 * of a file system that cannot hang, whatever anybody mounts or links there meanwhile (S36). Nothing is opened (O_PATH).
 */
import { posix } from 'node:path'
import { memoize } from '../base/collections.ts'
import { kernelTextIfAny } from '../trust/kernel.ts'
import { walkAsFar } from '../trust/walk.ts'
import { readLoops } from './block/device-use.ts'
import { cannotHang, containingMount, type Location, locate } from './location.ts'
import { type OtherNamespace, ofTheNode } from './mount-namespaces.ts'
import type { MountInfo, MountTable } from './mount-table.ts'
import { plainPath } from './paths.ts'

/** A mount namespace, and a path that leads to its root from here. */
export interface View {
  readonly table: MountTable
  /** "" for our own, "/proc/PID/root" of a process for another. */
  readonly root: string
  /** Device numbers of file systems that cannot hang. */
  readonly local: ReadonlySet<string>
}

/** Of the node: no path means anything in the others (S39). @returns our own first */
export function viewsOf(table: MountTable, others: readonly OtherNamespace[]): readonly [View, ...View[]] {
  return viewsBeside(others)(table)
}

const viewsBeside = memoize((others: readonly OtherNamespace[]) =>
  memoize((table: MountTable): readonly [View, ...View[]] => {
    const nodes = ofTheNode(others)
    const local = localDevices([table, ...nodes.map((other) => other.table)])
    return [
      { table, root: '', local },
      ...nodes.map((other) => ({ table: other.table, root: `/proc/${other.pid}/root`, local })),
    ]
  }),
)

/** True if the path is in a mount that cannot hang, and so is every mount on the way. */
export function isLocal({ table, local }: View, path: string): boolean {
  for (let at = path; ; ) {
    const mount = containingMount(table, at)
    if (mount === undefined || !local.has(mount.dev)) return false
    if (mount.mountPoint === '/') return true
    at = posix.dirname(mount.mountPoint)
  }
}

/**
 * Links in /proc, which lead each process elsewhere, are not followed.
 *
 * @param path absolute
 * @returns the path with its links resolved: from a missing name on, or one in a file system that may hang, it is left unresolved; and what
 * is there, unless nothing is, or asking could hang
 */
export function follow(view: View, path: string) {
  const { table, root, local } = view
  return walkAsFar(root, path, {
    opens: (at) => isLocal(view, at),
    asks: (mount) => local.has(table.byId(mount)?.dev ?? ''),
    follows: (mount) => table.byId(mount)?.fsType !== 'proc',
  })
}

/** Where a path leads, with links followed and without. */
export function placesAt(view: View, path: string): Location[] {
  return [...new Set([path, follow(view, path).real])].flatMap((each) => locate(view.table, each) ?? [])
}

/** The node's own overlays, made of system extensions, by the initial RAM disk, or by what runs a node as a container. */
const OF_SYSTEM = ['/', '/usr', '/opt', '/etc']

/** Whose layers are in a namespace that is gone, or is not the node's. */
export function systemMounts(table: MountTable): MountInfo[] {
  return OF_SYSTEM.flatMap((path) => table.at(path))
}

/**
 * Device numbers of file systems that cannot hang, in tables of the node: they are of a local kind, and so is all that they stand on
 * (S36). Layers of overlays, and the files of loop devices, are looked for by their text alone. A relative layer is where the absolute
 * ones are: who mounted it is root.
 *
 * @param tables our own first
 */
function localDevices(tables: readonly [MountTable, ...MountTable[]]): ReadonlySet<string> {
  const [ours] = tables
  const files = new Map(
    readLoops().map(({ device, backingFile }) => [numberOf(device.slice('/dev/'.length)), backingFile]),
  )
  const known = new Map(systemMounts(ours).map(({ dev, fsType }) => [dev, cannotHang(fsType)]))
  const isLocal = (table: MountTable, mount: MountInfo | undefined): boolean => {
    if (mount === undefined || !cannotHang(mount.fsType)) return false
    const before = known.get(mount.dev)
    if (before !== undefined) return before
    // Until that is known, what stands on itself may hang.
    known.set(mount.dev, false)
    const layers = layersByDevice(table)
      .get(mount.dev)
      ?.filter((layer) => layer.path.startsWith('/'))
    const file = files.get(mount.dev)
    const is =
      (mount.fsType !== 'overlay' || (layers !== undefined && layers.length > 0)) &&
      (layers ?? []).every((layer) => isLocal(table, containingMount(table, layer.path))) &&
      (file === undefined || isLocal(ours, containingMount(ours, file)))
    known.set(mount.dev, is)
    return is
  }
  for (const table of tables) for (const mount of table.all) if (cannotHang(mount.fsType)) isLocal(table, mount)
  return new Set([...known].flatMap(([dev, is]) => (is ? dev : [])))
}

export const layersByDevice = memoize((table: MountTable) =>
  Map.groupBy(overlayLayers(table), ({ mount }) => mount.dev),
)

/** "major:minor" of a device by its name in /dev. */
export function numberOf(name: string): string | undefined {
  return kernelTextIfAny(`/sys/class/block/${name.replaceAll('/', '!')}/dev`)
}

// The directories that overlay mounts are made of, by the options that the kernel shows (ovl_show_options).
// The paths are those given to mount(2), in the namespace and working directory of the process that mounted, which the kernel does not
// show. mountinfo's own escapes are decoded already. Overlay adds another escape (a backslash before a colon, a comma or a backslash), but
// newer kernels use it in some options only. So both readings count.

export interface Layer {
  readonly mount: MountInfo
  /** lowerdir, upperdir, workdir, datadir */
  readonly option: string
  /** Normalised; without a slash at its beginning it is relative to an unknown directory. */
  readonly path: string
}

const OPTIONS = /^(lowerdir|upperdir|workdir|datadir)(\+?)=(.*)$/s

/** Of every overlay mount of a table. */
export const overlayLayers = memoize((table: MountTable): readonly Layer[] =>
  table.all.flatMap((mount) => (mount.fsType === 'overlay' ? layersOf(mount) : [])),
)

function layersOf(mount: MountInfo): Layer[] {
  return mount.superOptions.flatMap((text) => {
    const [, option, one, value = ''] = OPTIONS.exec(text) ?? []
    if (option === undefined) return []
    const isList = option === 'lowerdir' && one === ''
    const paths = isList ? listed(value) : readings(value)
    return [...new Set(paths)].map((path) => ({ mount, option, path }))
  })
}

/** The list of lower directories, at colons (two come before data-only ones). A few kernels do not escape colons in a name, so the whole value counts too. */
function listed(value: string): string[] {
  const parts = value.split(/(?<!(?<!\\)(?:\\\\)*\\):/).flatMap(readings)
  return value.startsWith('/') ? [...parts, ...readings(value)] : parts
}

function readings(value: string): string[] {
  const paths = value === '' ? [] : [value, value.replaceAll(/\\(.)/gs, '$1')]
  return paths.map((path) => plainPath(posix.normalize(path)))
}

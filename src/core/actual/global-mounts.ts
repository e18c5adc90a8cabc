/**
 * Global mounts of plugins other than CSI, found by the directory tree and by the mount table (R022, P67, P72, P79, P86).
 *
 * A directory with nothing mounted on it counts, too: an interrupted tear-down leaves one (R837).
 */
import { compareText } from '../lang/compare-text.ts'
import type { TreeEntry } from '../model/snapshot.ts'
import type { MountInfo } from '../mountinfo/mount-table.ts'
import { FC_PLUGIN } from '../names/fc-disk.ts'
import { ISCSI_PLUGIN } from '../names/iscsi-disk.ts'
import type { ActualInputs } from './actual-inputs.ts'
import { baseName } from './tree.ts'

export const LOCAL_PLUGIN = 'kubernetes.io/local-volume'

export interface GlobalMount {
  /** For flexVolume the driver's own name. */
  readonly plugin: string
  readonly flex: boolean
  readonly name: string
  /** Relative to the root directory. */
  readonly path: string
  /** Oldest first; empty: nothing is mounted. */
  readonly layers: readonly MountInfo[]
  /** Mounts below the directory, which the kubelet did not make. */
  readonly foreign: readonly MountInfo[]
  /** Entries in the unmounted directory. */
  readonly content: readonly TreeEntry[]
}

/** Sorted by path. */
export function globalMounts(inputs: ActualInputs): GlobalMount[] {
  const found = new Map<string, Owner>()
  const note = (path: string): void => {
    const owner = ownerOf(path)
    if (owner !== undefined) found.set(path, owner)
  }
  for (const path of directories(inputs)) note(path)
  for (const mount of inputs.pluginMounts()) note(inputs.relative(inputs.plain(mount.mountPoint)))
  return [...found]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([path, owner]) => {
      const target = inputs.absolute(path)
      const within = inputs.mountsWithin(path)
      const layers = within.filter((mount) => inputs.plain(mount.mountPoint) === target)
      return {
        ...owner,
        name: baseName(path),
        path,
        layers,
        foreign: within.filter((mount) => inputs.plain(mount.mountPoint) !== target),
        content: layers.length > 0 ? [] : inputs.tree.descendants(path),
      }
    })
}

interface Owner {
  readonly plugin: string
  readonly flex: boolean
}

/** By the form of the path alone: any other mount below these directories is foreign. */
function ownerOf(path: string): Owner | undefined {
  const [top, vendor, plugin, ...rest] = path.split('/')
  if (top !== 'plugins' || vendor !== 'kubernetes.io') return undefined
  if (plugin === 'local-volume' && rest.length === 2 && rest[0] === 'mounts')
    return { plugin: LOCAL_PLUGIN, flex: false }
  if (plugin === 'iscsi' && rest.length === 2 && rest[0]?.startsWith('iface-'))
    return { plugin: ISCSI_PLUGIN, flex: false }
  if (plugin === 'fc' && rest.length === 1 && rest[0] !== 'volumeDevices') return { plugin: FC_PLUGIN, flex: false }
  // VENDOR/DRIVER/mounts/NAME, or DRIVER/mounts/NAME for a driver without a vendor (P85, P86).
  if (plugin === 'flexvolume' && rest.at(-2) === 'mounts' && (rest.length === 3 || rest.length === 4))
    return { plugin: rest.slice(0, -2).join('/'), flex: true }
  return undefined
}

/** Without those of local volumes: such a directory has no session and no state, and the kubelet creates it again. */
function directories({ tree }: ActualInputs): string[] {
  const base = 'plugins/kubernetes.io'
  const below = (path: string): string[] => tree.childDirs(path).map((name) => `${path}/${name}`)
  return [
    ...below(`${base}/iscsi`).flatMap(below),
    ...below(`${base}/fc`),
    ...below(`${base}/flexvolume`).flatMap((first) =>
      [first, ...below(first)].flatMap((each) => below(`${each}/mounts`)),
    ),
  ]
}

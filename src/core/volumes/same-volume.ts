/**
 * S38: whether what is at a volume's place is that volume. What is there (device, root within it, source, type of file) is compared with
 * what proves the volume: its record, its staged mount, the PersistentVolume. What cannot be compared agrees.
 */

import { posix } from 'node:path'
import { memoize } from '../base/collections.ts'
import { areOtherExports, cannotHang, locate, locationIn } from '../linux/location.ts'
import { isSameMount, type MountInfo } from '../linux/mount-table.ts'
import { isWithin, undeletedRoot } from '../linux/paths.ts'
import { type Handle, isSameVolume } from './api-objects.ts'
import {
  CSI_BLOCK_DIR,
  csiPlaces,
  sharedSourcesOf,
  VOLUME_DATA,
  type VolumeSpec,
  type VolumeToMount,
} from './desired-state.ts'
import { csiSourceOf } from './in-tree-volumes.ts'
import { allowsSeveralNodes } from './node-affinity.ts'
import type { ActualInputs } from './on-disk/actual-inputs.ts'
import { driverOf, type StagedVolume, stagedShownBy, stagedUnder, stagedVolumes } from './on-disk/staged-volumes.ts'
import { DRIVER_DIRECTORIES, parentOf, pathForms } from './on-disk/tree.ts'
import { CSI_PLUGIN, type VolumeData } from './volume-names.ts'

export interface OtherVolume {
  /** Relative to the root directory: its state file here, or where it is mounted. */
  readonly path: string
  /** What is there: DRIVER^HANDLE, or a device and what is known of it. */
  readonly name: string
  /** What should be there, where it is more than the volume's name. */
  readonly expected?: string
  /** By the state file; else by what is mounted. */
  readonly isRecord?: true
}

/** A volume, by what it is proved by. */
export type Claimed = Pick<VolumeSpec, 'plugin' | 'specName' | 'persistentVolume' | 'source' | 'driver' | 'handle'>

/** A mount point of a volume; all paths are relative to the root directory. */
interface MountPlace {
  readonly path: string
  /** Where the volume is mounted for the whole node. */
  readonly staged: readonly string[]
  /** The volume is this directory, which may be mounted on itself. */
  readonly isDirectory?: boolean
}

/**
 * What is recorded in this volume's place, if that is another volume: the PersistentVolume was deleted and created again under
 * the same name, or its source has changed. Undefined: this volume, or no usable record.
 */
export function otherOnRecord({ tree }: ActualInputs, volume: VolumeToMount): OtherVolume | undefined {
  if (volume.plugin !== CSI_PLUGIN) return undefined
  const path = csiPlaces(volume).stateFile
  const data = tree.stateFile(path)?.data
  return data === undefined || isSameVolume(data, volume) ? undefined : { path, name: nameOf(data), isRecord: true }
}

/** What is mounted in a volume's place, if that is not the volume. */
export function otherMounted(inputs: ActualInputs, volume: Claimed, place: MountPlace): OtherVolume | undefined {
  const shown = inputs.top(place.path)
  if (shown === undefined) return undefined
  const found = differs(inputs, shown, volume, place)
  if (found !== undefined) return { path: place.path, ...found }
  const own = stagedFor(inputs, volume).find((staged) => stagedShownBy([staged], shown).length > 0)
  return own && otherStaged(inputs, own.target)
}

/** What is staged there, if no driver stages that: the node's own disk, or a device from which another volume is staged. */
export function otherStaged(inputs: ActualInputs, path: string): OtherVolume | undefined {
  const top = inputs.top(path)
  const other = top && (nodesOwn(inputs, top) ?? twins(inputs).get(path))
  return other && { path, ...other }
}

/**
 * What a raw block volume's pod has instead of its device.
 *
 * @param map the file on which the device is mounted for the pod
 * @param published where the driver has published it; CSI only
 */
export function otherMapped(
  inputs: ActualInputs,
  volume: Claimed,
  map: string,
  published?: string,
): OtherVolume | undefined {
  const path = published ?? map
  const [shown, mapped] = [inputs.top(path), inputs.top(map)]
  const other =
    mapDiffers(inputs, mapped, shown, path) ??
    (mapped && (otherThanLocal(inputs, mapped, volume) ?? nodesDisk(inputs, mapped, volume))) ??
    twins(inputs).get(parentOf(parentOf(map)))
  return other && { path, ...other }
}

function mapDiffers(
  inputs: ActualInputs,
  mapped: MountInfo | undefined,
  shown: MountInfo | undefined,
  path: string,
): Differs | undefined {
  // What the pod has may still be the device, of which the driver's part is gone.
  const isFile = mapped !== undefined && mapped.fsType !== 'devtmpfs' && mapped.dev !== inputs.mounts.top('/dev')?.dev
  const isSame = shown === undefined || isSameMount(mapped, shown)
  if (isFile && isSame && inputs.tree.get(path)?.type === 'file')
    return {
      name: `a regular file, ${inputs.absolute(path)},`,
      expected: 'a device; what is written goes to that file',
    }
  const gone = [shown, mapped].find((each) => each !== undefined && isDeleted(each))
  if (gone !== undefined) return { name: `/dev${undeletedRoot(gone.root)}, a device that is gone,` }
  if (mapped === undefined || isSame) return undefined
  return { name: placeText(mapped), expected: `${placeText(shown)}, which its driver published` }
}

/** The disk from which the root file system is mounted, or the one that its partition is on: `/dev/sda2`, `/dev/nvme0n1p2`. */
function nodesDisk(
  { mounts }: ActualInputs,
  { fsType, root }: MountInfo,
  { persistentVolume }: Claimed,
): Differs | undefined {
  const source = mounts.top('/')?.source
  const disk = `/dev${root}`
  if (fsType !== 'devtmpfs' || persistentVolume?.spec.local?.path === disk) return undefined
  const isNodes = source === disk || source?.replace(PARTITION, '') === disk
  return isNodes ? { name: `${disk}, the disk of the node's root file system,` } : undefined
}

const PARTITION = /(?<=\d)p\d+$|(?<=\D)\d+$/

/** `/dev/vdb (8:16 /data)`: the device, or what a network file system is mounted from. */
function placeText({ source, fsType, dev, root }: MountInfo): string {
  if (fsType === 'devtmpfs') return `/dev${root}`
  return `${source === 'none' ? fsType : source} (${dev}${root === '/' ? '' : ` ${root}`})`
}

type Differs = Pick<OtherVolume, 'name' | 'expected'>

/** The judgement of one mount. Undefined: it agrees, or nothing that proves the volume can be compared with it. */
function differs(inputs: ActualInputs, shown: MountInfo, volume: Claimed, place: MountPlace): Differs | undefined {
  const directory = volume.persistentVolume?.spec.local?.path
  const own = directory === undefined ? undefined : locate(inputs.mounts, posix.resolve('/', directory))
  if (own?.dev === shown.dev && own.path === shown.root) return undefined
  const node = nodesOwn(inputs, shown, place.isDirectory ? place.path : undefined)
  if (node !== undefined) return node
  if (isDeleted(shown)) return { name: `${placeText(shown)}, a directory that was deleted,` }
  return (
    otherThanLocal(inputs, shown, volume) ??
    otherThanExport(shown, volume) ??
    otherThanOwnStaged(inputs, shown, volume, place.staged) ??
    otherOnTop(inputs, shown, volume, place)
  )
}

/** What is mounted where the volume is staged. @param more where, besides the staging directories of CSI */
function stagedMounts(inputs: ActualInputs, volume: Claimed, more: readonly string[]): MountInfo[] {
  const paths = [...stagedFor(inputs, volume).map(({ target }) => target), ...more]
  return paths.flatMap((path) => inputs.at(path))
}

/** A disk or a tmpfs over what was mounted there, of a volume that is staged nowhere: nobody publishes a volume twice from two of them. */
function otherOnTop(
  inputs: ActualInputs,
  shown: MountInfo,
  volume: Claimed,
  { path, staged }: MountPlace,
): Differs | undefined {
  const below = inputs.at(path).at(-2)
  if (below === undefined || below.dev === shown.dev || !cannotHang(shown.fsType)) return undefined
  if (volume.persistentVolume === undefined || stagedMounts(inputs, volume, staged).length > 0) return undefined
  return { name: placeText(shown), expected: `${placeText(below)}, over which it is mounted` }
}

/**
 * A directory is compared where it is a mount point: another path may lead through links, and to a disk that is mounted no more. A device
 * by the kernel's name for a disk of its kind: any other name may be a link.
 */
function otherThanLocal(
  { mounts, rootDir }: ActualInputs,
  shown: MountInfo,
  { persistentVolume }: Claimed,
): Differs | undefined {
  const named = persistentVolume?.spec.local?.path
  if (named === undefined) return undefined
  const mount = mounts.top(posix.resolve('/', named))
  if (isSameMount(mount, shown)) return undefined
  const device = shown.fsType === 'devtmpfs' ? `/dev${shown.root}` : shown.source
  const kind = DISK.exec(named)?.[1]
  const isOtherDisk = kind !== undefined && device !== named && DISK.exec(device)?.[1] === kind
  // A directory is bound from where its file system is mounted.
  const isOnlyHere =
    shown.fsType === 'tmpfs' && mounts.ofDevice(shown.dev).every((each) => isWithin(each.mountPoint, rootDir))
  if (mount === undefined && !isOtherDisk && !isOnlyHere) return undefined
  const expected =
    mount === undefined ? `${named}, which its PersistentVolume names` : `${named}, which is ${placeText(mount)}`
  return { name: placeText(shown), expected }
}

const DISK = /^\/dev\/(sd|vd|xvd|nvme)[a-z\d]+$/

/** The source that a PersistentVolume or a pod names: the kubelet's own NFS, and attributes `server` and `share` of a driver's. */
function otherThanExport(shown: MountInfo, volume: Claimed): Differs | undefined {
  const { nfs } = sharedSourcesOf(volume)
  const { server, share, source } = volume.persistentVolume?.spec.csi?.volumeAttributes ?? {}
  const isNfs = /^nfs4?$/.test(shown.fsType)
  const ofDriver = isNfs ? server && share && `${server}:${share}` : shown.fsType === 'cifs' && source
  const named = nfs == null ? ofDriver : `${nfs.server}:${nfs.path}`
  if (!named || ((isNfs || nfs == null) && !areOtherExports(shown.source, named))) return undefined
  return {
    name: placeText(shown),
    expected: `${named}, which ${volume.persistentVolume ? 'its PersistentVolume' : 'it'} names`,
  }
}

/** A driver and a kubelet publish from where the volume is staged; without that, only the very same directory is another volume's. */
export function otherThanOwnStaged(
  inputs: ActualInputs,
  shown: MountInfo,
  volume: Claimed,
  staged: readonly string[] = [],
): Differs | undefined {
  const showing = stagedShownBy(stagedVolumes(inputs), shown)
  if (stagedFor(inputs, volume).some((each) => showing.includes(each))) return undefined
  const own = stagedMounts(inputs, volume, staged)
  // Of network file systems one device number says nothing.
  const isOne = volume.plugin === CSI_PLUGIN && (cannotHang(shown.fsType) || shown.fsType.startsWith('fuse'))
  const other = isOne ? showing.find(({ layers }) => layers.some(({ root }) => root === shown.root)) : undefined
  if (other === undefined && (own.length === 0 || own.some((each) => !isUnlike(shown, each)))) return undefined
  const top = own.at(-1)
  const data = (other ?? showing[0])?.stateFile?.data
  const claimed = volume.driver === undefined ? volume.specName : `${volume.driver}^${volume.handle}`
  return {
    name: `${placeText(shown)}${data === undefined ? '' : ` of ${nameOf(data)}`}`,
    expected: top && `${claimed}, which is staged from ${placeText(top)}`,
  }
}

/** At today's path and at the one of before 1.24 (C11). */
export function stagedFor(inputs: ActualInputs, { driver, handle }: Partial<Handle>): readonly StagedVolume[] {
  if (driver === undefined || handle === undefined) return []
  return stagedUnder(stagedVolumes(inputs), handle).filter((each) => driverOf(each) === driver)
}

/**
 * Of another device, or another tree of the same one. Only two exports of network file systems are compared, whose mounts of one export
 * may have several device numbers; FUSE may have a mount for each pod, and the layers of an overlay lie anywhere.
 */
export function isUnlike(shown: MountInfo, staged: MountInfo): boolean {
  if (shown.dev === staged.dev) {
    // All exports of a server may have one device number, and the root "/".
    const isBelow = isWithin(undeletedRoot(shown.root), undeletedRoot(staged.root))
    return !isBelow || areOtherExports(shown.source, staged.source)
  }
  if ([shown, staged].some(({ fsType }) => fsType.startsWith('fuse') || fsType === 'overlay')) return false
  return cannotHang(shown.fsType) || cannotHang(staged.fsType) || areOtherExports(shown.source, staged.source)
}

/**
 * What no driver mounts for a volume: the node's whole root file system or the kubelet's, a staging directory on which nothing was
 * mounted, a directory of some pod's volume.
 *
 * @param own the directory that the volume is, relative to the root directory
 */
function nodesOwn(inputs: ActualInputs, shown: MountInfo, own?: string): Differs | undefined {
  const { mounts } = inputs
  const root = mounts.top('/')
  // All mounts of a server may have one device number, and the root "/".
  const isSame = shown.dev === root?.dev && (cannotHang(shown.fsType) || shown.source === root.source)
  if (root !== undefined && isSame && isWithin(locationIn(root, '/').path, shown.root))
    return { name: `${placeText(shown)}, the root file system of the node,` }
  if (!cannotHang(shown.fsType)) return undefined
  for (const { base, at } of kubeletsOwn(inputs)) {
    if (at?.dev !== shown.dev) continue
    if (isWithin(at.path, shown.root))
      return { name: `${placeText(shown)}, the file system of the kubelet's own directories,` }
    if (!isWithin(shown.root, at.path)) continue
    const path = posix.join(base, posix.relative(at.path, shown.root))
    if (path === own) continue
    if (isForStaging(path)) return { name: `${placeText(shown)}, a staging directory on which nothing was mounted,` }
    if (OF_POD.test(path))
      return { name: `${placeText(shown)}, the directory of a pod's volume on the node's own disk,` }
  }
  return undefined
}

/** Where the kubelet's directories are: each may be a link, or on a disk of its own. */
const kubeletsOwn = memoize((inputs: ActualInputs) =>
  ['.', 'pods', 'plugins'].map((base) => ({ base, at: locate(inputs.mounts, inputs.absolute(base)) })),
)

/** Those of CSI volumes; of other plugins all that is there. */
function isForStaging(path: string): boolean {
  const isCsi = path.startsWith(`${DRIVER_DIRECTORIES}/`)
  return isCsi ? OF_CSI.test(path) : path.startsWith(PLUGINS) && path !== PLUGINS
}

const PLUGINS = 'plugins/kubernetes.io/'
const OF_CSI = pathForms(`${DRIVER_DIRECTORIES}/*/*`, `${DRIVER_DIRECTORIES}/*/*/globalmount`)
const OF_POD = pathForms(
  'pods/*',
  'pods/*/volumes',
  'pods/*/volumes/*',
  'pods/*/volumes/*/*',
  'pods/*/volumes/*/*/mount',
)

function isDeleted({ root }: MountInfo): boolean {
  return undeletedRoot(root) !== root
}

/**
 * ReadWriteOnce volumes that have one device: by the path where it is staged, or the directory of the map, what is known of the device. Of
 * network file systems one device number says nothing.
 */
const twins = memoize((inputs: ActualInputs): ReadonlyMap<string, Differs> => {
  const { tree } = inputs
  const staged = stagedVolumes(inputs).flatMap(({ target: path, layers, stateFile }) => {
    const mount = layers.at(-1)
    if (mount === undefined || (mount.dev.startsWith('0:') && !cannotHang(mount.fsType))) return []
    return { path, mount, key: `${mount.dev} ${mount.root}`, data: stateFile?.data }
  })
  const whole = new Map(staged.flatMap(({ mount, key }) => (mount.root === '/' ? [[mount.source, key]] : [])))
  // A raw block volume shows its device by name alone.
  const mapped = tree.directoriesBelow(CSI_BLOCK_DIR, 1).flatMap((path) => {
    const mount = inputs.mountsWithin(`${path}/dev`).find(({ fsType }) => fsType === 'devtmpfs')
    const data = tree.stateFile(`${path}/data/${VOLUME_DATA}`)?.data
    return mount === undefined ? [] : { path, mount, key: whole.get(placeText(mount)) ?? placeText(mount), data }
  })
  const known = [...staged, ...mapped].flatMap(({ data, ...each }) => (data ? { ...each, volume: nameOf(data) } : []))
  const found = new Map<string, Differs>()
  for (const all of Map.groupBy(known, ({ key }) => key).values()) {
    const volumes = new Set(all.map(({ volume }) => volume))
    if (volumes.size < 2 || [...volumes].some((volume) => isShared(inputs, volume))) continue
    for (const { path, volume, mount } of all) {
      const others = [...volumes].filter((each) => each !== volume)
      found.set(path, { name: `${placeText(mount)}, which is ${others.join(' and ')} as well,` })
    }
  }
  return found
})

function isShared({ snapshot: { api } }: ActualInputs, volume: string): boolean {
  return (api?.persistentVolumes ?? []).some((object) => {
    const csi = csiSourceOf(object)
    return csi !== undefined && `${csi.driver}^${csi.volumeHandle}` === volume && allowsSeveralNodes(object)
  })
}

function nameOf({ driver, handle }: VolumeData): string {
  return `${driver}^${handle}`
}

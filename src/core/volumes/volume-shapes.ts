/**
 * What the path of a mount point shows about its volume, below whatever root directory (S8): one that was moved, on a second
 * disk, in another mount namespace. Knowing volctl's own root directory does not help there.
 *
 * @see C10 and C11 for the names
 */
import { present } from '../base/text.ts'
import type { MountInfo } from '../linux/mount-table.ts'
import { undeletedPath } from '../linux/paths.ts'
import type { Handle } from './api-objects.ts'
import { formsWithin } from './on-disk/tree.ts'
import { escapeQualifiedName, sha256Hex } from './volume-names.ts'

/** What the path of one mount point shows. */
interface VolumeShape {
  /** Of a staging directory: hex SHA-256 of the handle, and the driver if the path contains it. */
  readonly key?: string
  readonly driver?: string
  /** Names in the path (as on disk) that may be a PersistentVolume's. */
  readonly names: readonly string[]
}

/** The volume that is looked for; driver and handle may be unknown. */
export interface SoughtVolume extends Partial<Handle> {
  /** Names of its PersistentVolumes, not escaped. */
  readonly names: readonly string[]
}

/** The directories above may have any name, if they are behind a link. */
const STAGED = formsWithin('kubernetes.io/csi/*/HASH')
/** If the driver's directory is a link, the resolved path only has the hash and the last name. */
const STAGED_BEHIND_LINK = formsWithin('HASH/globalmount')
/** The layout before 1.24. */
const STAGED_BY_NAME = formsWithin('csi/pv/*/globalmount')
/** The directory volumeDevices may be a link, too, so the path before it does not matter. */
const BLOCK = formsWithin('volumeDevices/*/*', 'volumeDevices/*')
const PUBLISHED = formsWithin('volumes/*~*/*', 'volumeDevices/*~*/*')
const SUB_PATH = formsWithin('volume-subpaths/*/*/*$')
/** Plugins whose volumes a CSI driver attaches: CSI itself, and migrated in-tree plugins (C1). */
const ATTACHING: ReadonlySet<string> = new Set([
  'kubernetes.io~csi',
  'kubernetes.io~aws-ebs',
  'kubernetes.io~gce-pd',
  'kubernetes.io~azure-disk',
  'kubernetes.io~azure-file',
  'kubernetes.io~cinder',
  'kubernetes.io~vsphere-volume',
  'kubernetes.io~portworx-volume',
  'kubernetes.io~rbd',
])

const OF_POD = formsWithin('pods/*/volumes/*', 'pods/*/volumeDevices/*', 'pods/*/volume-subpaths/*')

/** Quickly rules out nearly every path of a node. */
const ANY = ['kubernetes.io', '/volumeDevices/', '/volume-subpaths/', '/globalmount']

/** Mounts whose path is one of a volume's, with what it shows, nothing of a volume that no driver attaches, and the pod whose it is. */
export function shapedMounts(mounts: readonly MountInfo[]) {
  return mounts.flatMap((mount) => {
    const path = undeletedPath(mount.mountPoint)
    const shape = shapeOf(path)
    const [podUid] = OF_POD(path)
    return (shape.key ?? shape.names[0] ?? podUid) === undefined ? [] : { mount, path, podUid, ...shape }
  })
}

function shapeOf(mountPoint: string): VolumeShape {
  if (!ANY.some((each) => mountPoint.includes(each))) return { names: [] }
  const [driver, hash] = STAGED(mountPoint)
  const [key = hash] = hash === undefined ? STAGED_BEHIND_LINK(mountPoint) : []
  const [block = '', inShared] = BLOCK(mountPoint)
  const [vendor, plugin, published] = PUBLISHED(mountPoint)
  const names = [
    ...STAGED_BY_NAME(mountPoint),
    // A volume may itself be called "staging" or "publish".
    ...present(block, ['staging', 'publish'].includes(block) && inShared),
    ...present(ATTACHING.has(`${vendor}~${plugin}`) && published),
    ...SUB_PATH(mountPoint).slice(0, 1),
  ]
  return { key, driver, names }
}

/**
 * A function that says by what a shape matches the volume; undefined: it does not. Created once, and called for many shapes. A name alone
 * proves nothing, but is reason enough to leave the volume alone.
 */
export function shapeMatcher({ driver, handle, names }: SoughtVolume) {
  const hash = handle === undefined ? undefined : sha256Hex(handle)
  const escaped = new Set(names.map(escapeQualifiedName))
  return ({ key, driver: its, names: found }: VolumeShape): 'handle' | 'name' | undefined => {
    const isDriver = its === undefined || driver === undefined || its === driver
    if (hash !== undefined && key === hash && isDriver) return 'handle'
    return found.some((name) => escaped.has(name)) ? 'name' : undefined
  }
}

/**
 * What a mount point's path says about the volume behind it, wherever the path begins (S8): below a root directory that was
 * moved, on a second disk, in another mount namespace. What volctl knows of its own root directory says nothing there.
 *
 * @see C10 and C11 for the names
 */
import { escapeQualifiedName, sha256Hex } from './volume-names.ts'

/** Of one mount point. */
export interface VolumeShape {
  /** A staging directory: hex SHA-256 of the handle, and the driver where the path tells it. */
  readonly staged?: { readonly key: string; readonly driver: string | undefined }
  /** Names, as on disk, of which a PersistentVolume may have one. */
  readonly names: readonly string[]
}

/** What is looked for: either may be unknown. */
export interface SoughtVolume {
  readonly driver?: string | undefined
  readonly handle?: string | undefined
  /** Names of its PersistentVolumes, not escaped. */
  readonly names: readonly string[]
}

/** What lies above may have any name, where it is behind a link. */
const STAGED = /\/kubernetes\.io\/csi\/([^/]+)\/([0-9a-f]{64})(?=\/|$)/
/** Where DRIVER is a link to another place, only the hash and the last name are left of it. */
const STAGED_BEHIND_LINK = /\/([0-9a-f]{64})\/globalmount(?=\/|$)/
/** The layout before 1.24. */
const STAGED_BY_NAME = /\/csi\/pv\/([^/]+)\/globalmount(?=\/|$)/
/** The directory of all block volumes may be a link, too, so that nothing before its name is asked for. */
const BLOCK = /\/volumeDevices\/(?:(staging|publish)\/)?([^/]+)/
const PUBLISHED = /\/(?:volumes|volumeDevices)\/([^/]+~[^/]+)\/([^/]+)/
const SUB_PATH = /\/volume-subpaths\/([^/]+)\/[^/]+\/[^/]+$/
/** Plugins whose volumes are attached by a CSI driver: their own, and those that were in the tree (C1). */
const ATTACHING =
  /^kubernetes\.io~(?:csi|aws-ebs|gce-pd|azure-disk|azure-file|cinder|vsphere-volume|portworx-volume|rbd)$/

/** A quick no for nearly every path of a node. */
const ANY = /kubernetes\.io|\/volumeDevices\/|\/volume-subpaths\/|\/globalmount/

/** @param mountPoint absolute, without the kernel's " (deleted)" */
export function shapeOf(mountPoint: string): VolumeShape | undefined {
  if (!ANY.test(mountPoint)) return undefined
  const [, driver, hash] = STAGED.exec(mountPoint) ?? []
  const key = hash ?? STAGED_BEHIND_LINK.exec(mountPoint)?.[1]
  const block = BLOCK.exec(mountPoint)
  const [, plugin = '', published] = PUBLISHED.exec(mountPoint) ?? []
  const names = [
    STAGED_BY_NAME.exec(mountPoint)?.[1],
    // A volume may be called like the directory that volumes share.
    block?.[1],
    block?.[2],
    ATTACHING.test(plugin) ? published : undefined,
    SUB_PATH.exec(mountPoint)?.[1],
  ].filter((name) => name !== undefined)
  if (key === undefined) return names.length === 0 ? undefined : { names }
  return { staged: { key, driver }, names }
}

/** How a shape is of the volume; undefined: it is another's. A name alone is no proof, and reason enough to leave it. */
export type ShapeMatch = 'handle' | 'name' | undefined

/** Made once for a volume, and asked of many shapes. */
export function shapeMatcher({ driver, handle, names }: SoughtVolume): (shape: VolumeShape) => ShapeMatch {
  const key = handle === undefined ? undefined : sha256Hex(handle)
  const escaped = new Set(names.map(escapeQualifiedName))
  return ({ staged, names: found }) => {
    const isDriver = staged?.driver === undefined || driver === undefined || staged.driver === driver
    if (key !== undefined && staged?.key === key && isDriver) return 'handle'
    return found.some((name) => escaped.has(name)) ? 'name' : undefined
  }
}

/** Names and paths of volumes, as the kubelet computes them (R001-R019, C31-C33), and its vol_data.json. */
import { hash } from 'node:crypto'
import { memoize } from '../base/collections.ts'
import type { TreeEntry } from './snapshot.ts'

/** `kubernetes.io/csi` to `kubernetes.io~csi` (R002). */
export function escapeQualifiedName(name: string): string {
  return name.replaceAll('/', '~')
}

/** The reverse; not injective (R002). */
export function unescapeQualifiedName(name: string): string {
  return name.replaceAll('~', '/')
}

export function sha256Hex(text: string): string {
  return hash('sha256', text)
}

/** Name of the VolumeAttachment of a volume on a node (R007, C33). */
export function attachmentName(handle: string, driver: string, nodeName: string): string {
  return `csi-${sha256Hex(handle + driver + nodeName)}`
}

/** Generated handle of an inline ephemeral CSI volume (R008, C32). */
export function inlineCsiHandle(podUid: string, podVolumeName: string): string {
  return `csi-${sha256Hex(podUid + podVolumeName)}`
}

/** Unique name of a volume that is attachable or device-mountable (R019). */
export function uniqueVolumeName(plugin: string, volumeName: string): string {
  return `${plugin}/${volumeName}`
}

/** Unique name of a volume that is neither attachable nor device-mountable: one per pod (R019). */
export function uniquePodVolumeName(plugin: string, podUid: string, specName: string): string {
  return `${plugin}/${podUid}-${specName}`
}

/** `kubernetes.io/csi/<driver>^<handle>` (C31). */
export function csiUniqueName(driver: string, handle: string): string {
  return `${CSI_PLUGIN}/${driver}^${handle}`
}

/** The reverse; undefined for the names of other plugins. */
export function parseCsiUniqueName(name: string): { driver: string; handle: string } | undefined {
  const separator = name.indexOf('^')
  if (!name.startsWith(`${CSI_PLUGIN}/`) || separator < 0) return undefined
  return { driver: name.slice(CSI_PLUGIN.length + 1, separator), handle: name.slice(separator + 1) }
}

export const CSI_PLUGIN = 'kubernetes.io/csi'

/** Plugins whose volumes an atomic writer fills from the API (P28): nobody's data. */
export const API_CONTENT: ReadonlySet<string> = new Set(
  ['configmap', 'secret', 'projected', 'downward-api'].map((name) => `kubernetes.io/${name}`),
)

/** True for the name of one generation of an atomic writer's data, ..YYYY_MM_DD_HH_MM_SS.random (P28). */
export function isGeneration(name: string): boolean {
  return /^\.\.\d{4}(_\d\d){5}\.\d+$/.test(name)
}

/** Directory of a staged CSI file system, relative to the root directory (C10). */
export function csiGlobalDir(driver: string, handle: string): string {
  return `plugins/${CSI_PLUGIN}/${driver}/${sha256Hex(handle)}`
}

export type VolumeMode = 'Filesystem' | 'Block'

// vol_data.json, which the kubelet writes beside a CSI mount (R024, C12-C14).

export interface VolumeData {
  /** driverName, volumeHandle. */
  readonly driver: string
  readonly handle: string
  /** Absent in the file beside a global mount (C13). */
  readonly specVolID?: string
  readonly volumeLifecycleMode?: string
  /** SELinux label that the volume is mounted with (C68). */
  readonly seLinuxMountContext?: string
}

/** A state file found on disk. `corrupt`: why it cannot be used (C94); corrupt never means absent. */
export type StateFile = { readonly path: string; readonly mtime: number | undefined } & (
  | { readonly data: VolumeData; readonly corrupt?: undefined }
  | { readonly data?: undefined; readonly corrupt: string }
)

/** In words what is in the place of a state file. */
export function notAFile({ type }: TreeEntry): string {
  return `a ${type}, not a file`
}

/**
 * Reads a vol_data.json. A file without driver or handle is corrupt: the kubelet would look in the wrong directory (C94). Parsed once:
 * several phases of a pass use each file.
 */
export const readStateFile = memoize((entry: TreeEntry): StateFile => {
  const at = { path: entry.path, mtime: entry.mtime }
  if (entry.type !== 'file') return { ...at, corrupt: notAFile(entry) }
  if (entry.content === undefined) return { ...at, corrupt: entry.error ?? 'the content could not be read' }
  return { ...at, ...parse(entry.content) }
})

function parse(content: string): { data: VolumeData } | { corrupt: string } {
  if (content.trim() === '') return { corrupt: 'the file is empty' }
  const value = firstJsonValue(content)
  if (value === undefined) return { corrupt: 'the file is not JSON' }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { corrupt: 'the file contains no JSON object' }
  const odd = Object.entries(value).find(([, field]) => typeof field !== 'string')
  if (odd) return { corrupt: `${odd[0]} is not a string` }
  const fields = value as Readonly<Record<string, string | undefined>>
  const { driverName: driver, volumeHandle: handle, specVolID, volumeLifecycleMode, seLinuxMountContext } = fields
  if (!driver) return { corrupt: 'the file names no driver' }
  if (!handle) return { corrupt: 'the file names no volume handle' }
  return { data: { driver, handle, specVolID, volumeLifecycleMode, seLinuxMountContext } }
}

/**
 * The kubelet's decoder takes the first JSON value and ignores what follows it (C12). The engine says where that begins; if it said so in
 * other words, such a file would be corrupt.
 */
function firstJsonValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const [, end] = /after JSON at position (\d+)/.exec(String(error)) ?? []
    return end === undefined ? undefined : JSON.parse(text.slice(0, Number(end)))
  }
}

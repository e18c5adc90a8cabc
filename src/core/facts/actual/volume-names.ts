/** Names and paths of volumes, as the kubelet computes them (R001-R019, C31-C33). */
import { hash } from 'node:crypto'

/** Prefix of the user names of nodes (N29). */
export const NODE_USER = 'system:node:'

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

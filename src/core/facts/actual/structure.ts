/** Directories that a kubelet makes, by path relative to the root directory. */
import { CSI_PLUGIN } from './volume-names.ts'

/** Created once and never removed; parents first. */
export const STRUCTURE: readonly string[] = [
  'pods',
  'plugins_registry',
  'plugins',
  'plugins/kubernetes.io',
  `plugins/${CSI_PLUGIN}`,
]

/** Has a directory for each driver, `pv` (the layout before 1.24), and `volumeDevices`, which are never removed either. */
export const DRIVER_DIRECTORIES = `plugins/${CSI_PLUGIN}`

/**
 * True if a link may be in this directory's place and is followed, as the kubelet does. Only directories that volctl never
 * removes.
 */
export function mayBeLink(path: string): boolean {
  return STRUCTURE.includes(path) || /^plugins\/kubernetes\.io\/csi\/[^/]+$/.test(path)
}

/**
 * Directories that may contain a volume: if one is a link that is not followed, anything may be behind it. Without those
 * where drivers and older kubelets put other links (a target, a device's map).
 */
const EXPECTED: readonly RegExp[] = [
  /^plugins\/kubernetes\.io~?[^/]*$/,
  /^plugins\/kubernetes\.io\/csi\/(?:pv\/[^/]+|[^/]+\/[0-9a-f]{64})(?:\/globalmount)?$/,
  /^plugins\/kubernetes\.io\/csi\/volumeDevices\/[^/]+(?:\/(?:dev|data))?$/,
  /^plugins\/kubernetes\.io\/csi\/volumeDevices\/(?:staging|publish)\/[^/]+$/,
  /^plugins\/kubernetes\.io~[^/]+\/volumeDevices(?:\/[^/]+)?$/,
  /^pods\/[^/]+$/,
  /^pods\/[^/]+\/(?:volumes|volumeDevices|volume-subpaths)(?:\/[^/]+)?$/,
  /^pods\/[^/]+\/volumes\/[^/]+\/[^/]+$/,
  /^pods\/[^/]+\/volume-subpaths\/[^/]+\/[^/]+$/,
]

/** True if a kubelet expects a real directory at this path. */
export function isExpectedDirectory(path: string): boolean {
  return mayBeLink(path) || EXPECTED.some((shape) => shape.test(path))
}

/** Directories that a kubelet makes and expects to be directories, by their paths relative to the root directory (layout). */
import { CSI_PLUGIN } from './volume-names.ts'

/** Made once and never removed, those above before those below. */
export const STRUCTURE: readonly string[] = [
  'pods',
  'plugins_registry',
  'plugins',
  'plugins/kubernetes.io',
  `plugins/${CSI_PLUGIN}`,
]

/** In it one for each driver, `pv` of the layout before 1.24, and `volumeDevices`, which stay as well. */
export const DRIVER_DIRECTORIES = `plugins/${CSI_PLUGIN}`

/** May a link be there and be gone through, as the kubelet does: nothing that volctl removes. */
export function mayBeLink(path: string): boolean {
  return STRUCTURE.includes(path) || /^plugins\/kubernetes\.io\/csi\/[^/]+$/.test(path)
}

/**
 * Directories below which a volume may be: where one is a link that is not gone through, anything may be behind it. Not
 * those in which drivers and older kubelets put links of their own: a target, a device's map.
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

/** Would a kubelet take what is there for a directory of its own. */
export function isExpectedDirectory(path: string): boolean {
  return mayBeLink(path) || EXPECTED.some((shape) => shape.test(path))
}

/** How the volumes of each plugin come down, as far as plans differ (R437, P22, P42). */
import type { TreeEntry } from '../model/snapshot.ts'
import { isGeneration } from '../names.ts'
import { ownValue } from '../own-value.ts'

export type TeardownFamily = 'csi' | 'emptyDir' | 'projected' | 'mount' | 'nothing'

const FAMILIES: Readonly<Record<string, TeardownFamily>> = {
  'kubernetes.io/csi': 'csi',
  'kubernetes.io/empty-dir': 'emptyDir',
  'kubernetes.io/secret': 'projected',
  'kubernetes.io/configmap': 'projected',
  'kubernetes.io/downward-api': 'projected',
  'kubernetes.io/projected': 'projected',
  'kubernetes.io/git-repo': 'emptyDir',
  'kubernetes.io/host-path': 'nothing',
  'kubernetes.io/image': 'nothing',
}

/** Names volctl does not know are plain mounts: unmounted, and removed when empty (R514). */
export function teardownFamily(plugin: string): TeardownFamily {
  return ownValue(FAMILIES, plugin) ?? 'mount'
}

/** Plugins whose directory tells the kubelet which volume it was (R507); the others go the way of R514. */
export function isReconstructable(plugin: string): boolean {
  return RECONSTRUCTABLE.has(plugin)
}

/** The kubelet's own plugins; any other name is a flexVolume driver's, or one of an older version (P1). */
export function isInTree(plugin: string): boolean {
  return FAMILIES[plugin] !== undefined || RECONSTRUCTABLE.has(plugin) || plugin === 'kubernetes.io/local-volume'
}

/** A local volume's reconstruction fails for a directory source (P70, O32), and volctl cannot tell it from a device. */
const RECONSTRUCTABLE = new Set([
  'kubernetes.io/csi',
  'kubernetes.io/empty-dir',
  'kubernetes.io/secret',
  'kubernetes.io/configmap',
  'kubernetes.io/downward-api',
  'kubernetes.io/projected',
  'kubernetes.io/git-repo',
  'kubernetes.io/nfs',
  'kubernetes.io/iscsi',
  'kubernetes.io/fc',
])

/** What the kubelet mounts on a directory of these families; anything else there is not the volume. */
export function allowedFsTypes(family: TeardownFamily): readonly string[] | undefined {
  if (family === 'emptyDir') return ['tmpfs', 'hugetlbfs']
  return family === 'projected' ? ['tmpfs'] : undefined
}

/**
 * Is this entry of a projected volume one that the kubelet's atomic writer makes (section 2.5 of the plugin rules)?
 * Generations with what is in them, `..data`, links through it, and directories for nested mounts (P26).
 * @param name path relative to the volume's directory
 */
export function madeByAtomicWriter(entry: TreeEntry, name: string): boolean {
  const [top = '', ...rest] = name.split('/')
  if (top === '..data' || top === '..data_tmp') return entry.type === 'link' && rest.length === 0
  if (isGeneration(top)) return entry.type === 'dir' || (rest.length > 0 && entry.type === 'file')
  if (entry.type === 'dir') return true
  return entry.type === 'link' && (entry.target ?? '').startsWith('..data/')
}

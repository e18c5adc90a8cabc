/** Is an in-tree volume left to its CSI driver on a node (R150, R709)? */
import type { ClusterNode } from '../model/cluster-state.ts'
import type { KnownVolume } from '../model/known-volume.ts'

/** The first version whose kubelet migrates every in-tree plugin, whatever CSINode lists. */
const ALL_MIGRATED_MINOR = 33

/**
 * What CSINode lists decides; where it lists nothing, the version of the kubelet does. An unknown CSINode does not make a volume
 * unmigrated: nothing is attached to such a node anyway.
 */
export function migratesOn(node: ClusterNode, { migratedFrom }: Pick<KnownVolume, 'migratedFrom'>): boolean {
  if (migratedFrom === undefined || node.csi.state !== 'known') return true
  const { migrated } = node.csi
  if (migrated.length > 0) return migrated.includes(migratedFrom)
  const found = /^v?(\d+)\.(\d+)/.exec(node.kubeletVersion ?? '')
  return found === null || Number(found[1]) > 1 || Number(found[2]) >= ALL_MIGRATED_MINOR
}

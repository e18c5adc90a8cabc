/** In-tree volumes that this kubelet itself mounts, because it is too old to migrate their plugin to CSI (R150). */

import { kubeletVersion, TESTED_MINORS } from '../../facts/actual/kubelet-version.ts'
import type { NodeSnapshot } from '../../facts/actual/snapshot.ts'
import type { ApiObjects } from '../../volumes/api-objects.ts'
import type { VolumeToMount } from '../../volumes/desired-state.ts'
import { IN_TREE, inTreePluginOf, migratedPlugins } from '../../volumes/in-tree-volumes.ts'

/**
 * The in-tree plugin of a wanted volume that volctl treats as a CSI volume and this node's kubelet does not; undefined if the
 * kubelet does, too. Kubelets of the tested versions migrate all plugins, whatever CSINode lists.
 */
export function notMigrated(
  {
    inputs: { snapshot },
    objects,
  }: { readonly inputs: { readonly snapshot: NodeSnapshot }; readonly objects: ApiObjects },
  volume: VolumeToMount,
): string | undefined {
  const plugin = pluginOf(volume, objects)
  return plugin === undefined || migrates(snapshot, plugin) ? undefined : plugin
}

/** True if this kubelet migrates every in-tree plugin. */
export function migratesAll(snapshot: NodeSnapshot): boolean {
  return Object.values(IN_TREE).every(({ plugin }) => migrates(snapshot, plugin))
}

function migrates({ api }: NodeSnapshot, plugin: string): boolean {
  const listed = migratedPlugins(api?.csiNode)
  if (listed !== undefined) return listed.includes(plugin)
  // Without a CSINode, or its annotation, only the version shows that.
  const version = kubeletVersion(api?.node)
  return version === undefined || version.major > 1 || version.minor >= TESTED_MINORS.first
}

function pluginOf({ source, specName, inlineMigrated, claim }: VolumeToMount, objects: ApiObjects): string | undefined {
  if (inlineMigrated) return inTreePluginOf(source)
  return claim === undefined ? undefined : inTreePluginOf(objects.persistentVolume(specName)?.spec)
}

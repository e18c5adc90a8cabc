/** How this node's kubelet is configured to treat attachments and the volumes of pods that have ended (N8-N10, R702, R710). */

import { kubeletVersion, TESTED_MINORS } from '../../facts/actual/kubelet-version.ts'
import type { NodeSnapshot } from '../../facts/actual/snapshot.ts'
import { KEEPS_TERMINATED, MANAGED } from '../../kube/api/names.ts'
import type { ApiObjects } from '../../volumes/api-objects.ts'
import type { VolumeToMount } from '../../volumes/desired-state.ts'
import { IN_TREE, inTreePluginOf, migratedPlugins } from '../../volumes/in-tree-volumes.ts'

type Facts = Pick<NodeSnapshot, 'api' | 'kubelet'>

/**
 * Why the attach/detach controller does not attach and detach for this node, in words; undefined if it does, or if the Node
 * could not be read. A kubelet configured to attach volumes itself removes the annotation when it starts (N8).
 */
export function whyNotManaged({ api, kubelet }: Facts): string | undefined {
  const node = api?.node
  if (node === undefined || node === null) return undefined
  if (node.metadata.annotations?.[MANAGED] === undefined)
    return `node ${node.metadata.name} has no annotation ${MANAGED}`
  return setting(kubelet, 'enableControllerAttachDetach', 'enable-controller-attach-detach') === false
    ? 'the kubelet is configured to attach volumes itself (enableControllerAttachDetach: false)'
    : undefined
}

/**
 * The setting that keeps the volumes of pods that have ended while the API lists the pods, in words; undefined: there is
 * none. Kubernetes 1.36 ignores the setting; volctl still respects it (N10).
 */
export function whyTerminatedKept({ api, kubelet }: Facts): string | undefined {
  const kept = api?.node?.metadata.annotations?.[KEEPS_TERMINATED]
  if (kept !== undefined && kept !== 'false') return `node annotation ${KEEPS_TERMINATED}: ${kept}`
  return setting(kubelet, 'keepTerminatedPodVolumes', 'keep-terminated-pod-volumes') === true
    ? "keepTerminatedPodVolumes of the kubelet's configuration"
    : undefined
}

/**
 * From the configuration, which includes the flags, otherwise from the command line itself, where the last flag counts (N15).
 */
function setting(kubelet: NodeSnapshot['kubelet'], field: string, flag: string): boolean | undefined {
  const own = kubelet?.config?.[field]
  if (typeof own === 'boolean') return own
  const words = (kubelet?.args ?? []).map((word) => word.replaceAll('_', '-'))
  const given = words.findLast((word) => word === `--${flag}` || word.startsWith(`--${flag}=`))
  return given === undefined ? undefined : !given.endsWith('=false')
}

// In-tree volumes that this kubelet itself mounts, because it is too old to migrate their plugin to CSI (R150).

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

function pluginOf({ source, specName, claim }: VolumeToMount, objects: ApiObjects): string | undefined {
  return inTreePluginOf(claim === undefined ? source : objects.persistentVolume(specName)?.spec)
}

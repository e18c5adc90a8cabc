/** How this node's kubelet is configured to treat attachments and the volumes of pods that have ended (N8-N10, R702, R710). */

import { KEEPS_TERMINATED, MANAGED } from '../../kube/api/names.ts'
import { parseKubeletFlags } from '../../node/kubelet/kubelet-flags.ts'
import type { NodeSnapshot } from '../../volumes/snapshot.ts'

/**
 * Why the attach/detach controller does not attach and detach for this node, in words; undefined if it does, or if the Node
 * could not be read. A kubelet configured to attach volumes itself removes the annotation when it starts (N8).
 */
export function whyNotManaged({ api, kubelet }: NodeSnapshot): string | undefined {
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
export function whyTerminatedKept({ api, kubelet }: NodeSnapshot): string | undefined {
  const kept = api?.node?.metadata.annotations?.[KEEPS_TERMINATED]
  if (kept !== undefined && kept !== 'false') return `node annotation ${KEEPS_TERMINATED}: ${kept}`
  return setting(kubelet, 'keepTerminatedPodVolumes', 'keep-terminated-pod-volumes') === true
    ? "keepTerminatedPodVolumes of the kubelet's configuration"
    : undefined
}

/** From the configuration, which includes the flags, otherwise from the command line itself (N15). */
function setting(kubelet: NodeSnapshot['kubelet'], field: string, flag: string): boolean | undefined {
  const own = kubelet?.config?.[field]
  if (typeof own === 'boolean') return own
  const given = parseKubeletFlags(kubelet?.args ?? []).get(flag)
  return given === undefined ? undefined : given !== 'false'
}

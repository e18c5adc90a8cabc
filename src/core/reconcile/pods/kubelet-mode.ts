/** How this node's kubelet was told to treat attachments and the volumes of pods that have ended (N8-N10, R702, R710). */
import type { NodeSnapshot } from '../../model/snapshot.ts'

/** The controller manages a node if the key is there, whatever its value (R702). */
export const MANAGED = 'volumes.kubernetes.io/controller-managed-attach-detach'
const KEEP_TERMINATED = 'volumes.kubernetes.io/keep-terminated-pod-volumes'

type Facts = Pick<NodeSnapshot, 'api' | 'kubelet'>

/**
 * Why the attach/detach controller does not attach and detach for this node, in words; undefined where it does, and where
 * the Node could not be read. A kubelet that was told to attach by itself takes the annotation away when it starts (N8).
 */
export function whyNotManaged({ api, kubelet }: Facts): string | undefined {
  const node = api?.node
  if (node === undefined || node === null) return undefined
  if (node.metadata.annotations?.[MANAGED] === undefined)
    return `node ${node.metadata.name} has no annotation ${MANAGED}`
  return setting(kubelet, 'enableControllerAttachDetach', 'enable-controller-attach-detach') === false
    ? 'the kubelet is told to attach by itself (enableControllerAttachDetach: false)'
    : undefined
}

/**
 * Who told this node to keep the volumes of pods that have ended and are still in the API, in words; undefined: nobody.
 * Kubernetes 1.36 does not know it any more, which is no reason to go against the wish (N10).
 */
export function whyTerminatedKept({ api, kubelet }: Facts): string | undefined {
  const wish = api?.node?.metadata.annotations?.[KEEP_TERMINATED]
  if (wish !== undefined && wish !== 'false') return `node annotation ${KEEP_TERMINATED}: ${wish}`
  return setting(kubelet, 'keepTerminatedPodVolumes', 'keep-terminated-pod-volumes') === true
    ? "the kubelet's keepTerminatedPodVolumes"
    : undefined
}

/** Of the configuration, which has the flags merged in, else of the command line itself; the last flag counts (N15). */
function setting(kubelet: NodeSnapshot['kubelet'], field: string, flag: string): boolean | undefined {
  const own = kubelet?.config?.[field]
  if (typeof own === 'boolean') return own
  const words = (kubelet?.args ?? []).map((word) => word.replaceAll('_', '-'))
  const given = words.findLast((word) => word === `--${flag}` || word.startsWith(`--${flag}=`))
  return given === undefined ? undefined : !given.endsWith('=false')
}

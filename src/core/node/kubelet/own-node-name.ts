/** The name that the kubelet here gives itself (S1, N13), where that is known. */
import type { NodeNameFrom } from '../../model/snapshot.ts'
import { canonicalNodeName } from './canonical-node-name.ts'
import type { KubeletCandidate } from './kubelet-candidate.ts'

export interface OwnNodeName {
  readonly name: string
  /** `flag`: or its distribution's file; `credential`: the API knows it by no other; `hostname`: for want of either. */
  readonly from: NodeNameFrom
}

/** Of a root directory without a process or a unit nobody knows how its kubelet would be started. */
export async function ownNodeName(kubelet: KubeletCandidate | undefined): Promise<OwnNodeName | undefined> {
  if (kubelet === undefined) return undefined
  if (kubelet.isNamed) return { name: kubelet.nodeName, from: 'flag' }
  const name = kubelet.kubeconfig === undefined ? undefined : await nameInKubeconfig(kubelet.kubeconfig)
  if (name !== undefined) return { name: canonicalNodeName(name), from: 'credential' }
  const isStarted = kubelet.pid !== undefined || kubelet.unit !== undefined
  // A cloud's own code in the kubelet asks the cloud for the name.
  const cloud = kubelet.flags.get('cloud-provider') ?? ''
  if (!isStarted || !['', 'external'].includes(cloud)) return undefined
  return { name: kubelet.nodeName, from: 'hostname' }
}

/** Loaded when needed: most have a flag, or are asked for by no other name. */
async function nameInKubeconfig(path: string): Promise<string | undefined> {
  const { nodeNameInKubeconfig } = await import('../../api/kubeconfig/node-credential.ts')
  return nodeNameInKubeconfig(path)
}

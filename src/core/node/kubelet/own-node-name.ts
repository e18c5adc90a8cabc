/** The node name that this host's kubelet uses (S1, N13), if known. */
import type { NodeNameFrom } from '../../model/snapshot.ts'
import { canonicalNodeName } from './canonical-node-name.ts'
import type { KubeletCandidate } from './kubelet-candidate.ts'

export interface OwnNodeName {
  readonly name: string
  /**
   * `flag`: a flag or its distribution's file; `credential`: the API accepts it under no other name; `hostname`: neither
   * exists.
   */
  readonly from: NodeNameFrom
}

/** Undefined also for a root directory without a process or unit: how its kubelet is started is unknown. */
export async function ownNodeName(kubelet: KubeletCandidate | undefined): Promise<OwnNodeName | undefined> {
  if (kubelet === undefined) return undefined
  if (kubelet.isNamed) return { name: kubelet.nodeName, from: 'flag' }
  const name = kubelet.kubeconfig === undefined ? undefined : await nameInKubeconfig(kubelet.kubeconfig)
  if (name !== undefined) return { name: canonicalNodeName(name), from: 'credential' }
  const isStarted = kubelet.pid !== undefined || kubelet.unit !== undefined
  // An in-tree cloud provider asks the cloud for the name.
  const cloud = kubelet.flags.get('cloud-provider') ?? ''
  if (!isStarted || !['', 'external'].includes(cloud)) return undefined
  return { name: kubelet.nodeName, from: 'hostname' }
}

/** Imported only when needed, which is seldom: most kubelets have a flag. */
async function nameInKubeconfig(path: string): Promise<string | undefined> {
  const { nodeNameInKubeconfig } = await import('../../api/kubeconfig/node-credential.ts')
  return nodeNameInKubeconfig(path)
}

/** Which Kubernetes runs here: the version of the API server, and of the kubelet of this node. Nobody waits long for them. */
import { hostname } from 'node:os'
import { errorMessage } from '../base/errors.ts'
import { serverVersion } from '../kube/access-reviews.ts'
import { createKubeClient, type KubeClient } from '../kube/kube-client.ts'
import { discoverKubeConfig } from '../kube/kubeconfig/kube-config.ts'
import { getNode } from '../kube/node-objects.ts'
import { canonicalNodeName } from './kubelet/kubelet-flags.ts'
import { type LocatedNode, locateNode } from './locate-node.ts'

export interface VersionsHere {
  /** The API server, by its gitVersion (v1.36.2); absent: it did not answer within a second, or there is no credential. */
  readonly server?: { readonly version: string; readonly address: string }
  /** The kubelet of this node, as the Node's status has it; absent as above. */
  readonly kubelet?: { readonly version: string; readonly node: string }
}

interface VersionChoice {
  readonly kubeconfig?: string | undefined
  readonly context?: string | undefined
  readonly node?: string | undefined
  /** Ends every request. */
  readonly signal: AbortSignal
  /** Called with the reason why something is missing. */
  readonly log: (line: string) => void
}

/** What can be read of both; never throws. No program is started for a credential. */
export async function versionsHere({ kubeconfig, context, node, signal, log }: VersionChoice): Promise<VersionsHere> {
  const tried = async <T>(what: string, read: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await read()
    } catch (error) {
      log(`${what}: ${errorMessage(error)}`)
      return undefined
    }
  }
  const here = await tried('this node', () => locateNode({ nodeName: node }))
  const client = await tried('credential', () => clientOf(here, { kubeconfig, context }))
  if (client === undefined) return {}
  const name = here?.nodeName ?? node ?? canonicalNodeName(hostname())
  try {
    const [version, kubelet] = await Promise.all([
      tried('API server', () => serverVersion(client, signal)),
      tried(`node ${name}`, async () => (await getNode(client, name, signal)).status?.nodeInfo?.kubeletVersion),
    ])
    return {
      ...(version !== undefined && { server: { version, address: client.server } }),
      ...(kubelet !== undefined && { kubelet: { version: kubelet, node: name } }),
    }
  } finally {
    client.close()
  }
}

function clientOf(
  here: LocatedNode | undefined,
  { kubeconfig, context }: Pick<VersionChoice, 'kubeconfig' | 'context'>,
): KubeClient {
  const credentials = discoverKubeConfig({
    kubeletKubeconfig: here?.kubelet?.kubeconfig,
    kubeconfig: kubeconfig ?? here?.places?.kubeconfig,
    context,
    unattended: true,
  })
  return createKubeClient(credentials)
}

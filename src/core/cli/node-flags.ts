import { Flags, type Interfaces } from '@oclif/core'
import { omitUndefined } from '../base/omit-undefined.ts'
import { IN_CLUSTER } from '../kube/api/names.ts'
import { callerPath } from '../trust/caller.ts'

/** Where to read from: the API and the node. */
export const apiFlags = {
  kubeconfig: Flags.string({
    helpValue: 'PATH',
    summary:
      "Kubeconfig to use, or in-cluster: the Pod's own service account. Default: KUBECONFIG, then the usual places on a node, the kubelet's own included.",
  }),
  context: Flags.string({ helpValue: 'NAME', summary: 'Context of the kubeconfig. Default: its current context.' }),
}

export const nodeFlags = {
  node: Flags.string({ helpValue: 'NAME', summary: "The node's name. Default: found from the kubelet." }),
  'root-dir': Flags.string({
    helpValue: 'PATH',
    summary: "The kubelet's root directory. Default: found from the kubelet.",
  }),
  'runtime-endpoint': Flags.string({
    helpValue: 'URL',
    summary:
      "The container runtime's socket. Default: the kubelet's, CONTAINER_RUNTIME_ENDPOINT, /etc/crictl.yaml, the usual places.",
  }),
  'host-root': Flags.string({
    helpValue: 'PATH',
    summary: "Where the node's / is mounted, if volctl runs in a container; volctl then enters the host's namespaces.",
  }),
}

/** In place of the flags that say where to read from. @param does what the command does, at the beginning of a sentence */
export function snapshotFlag(does: string) {
  return Flags.string({
    helpValue: 'FILE',
    summary: `${does} from a snapshot instead of this node; needs no privileges and no API server.`,
    exclusive: ['kubeconfig', 'context', 'host-root', 'runtime-endpoint'],
  })
}

/** The flags that say which node is meant, as the sources take them. */
export interface NodeChoice {
  readonly kubeconfig?: string
  readonly context?: string
  readonly node?: string
  readonly rootDir?: string
  readonly runtimeEndpoint?: string
  readonly hostRoot?: string
}

type NodeFlagValues = Partial<Omit<Interfaces.InferredFlags<typeof apiFlags & typeof nodeFlags>, 'node'>> & {
  /** A command that also has a pass over the cluster takes several; those of a node take one. */
  readonly node?: string | readonly string[] | undefined
}

export function nodeChoice(flags: NodeFlagValues): NodeChoice {
  return omitUndefined({
    kubeconfig: flags.kubeconfig === IN_CLUSTER ? IN_CLUSTER : flags.kubeconfig && callerPath(flags.kubeconfig),
    context: flags.context,
    node: [flags.node].flat()[0],
    rootDir: flags['root-dir'],
    runtimeEndpoint: flags['runtime-endpoint'],
    hostRoot: flags['host-root'],
  })
}

import { createKubeClient, type KubeClient } from '../api/kube-client.ts'
import { discoverKubeConfig } from '../api/kubeconfig/kube-config.ts'
import type { NodeChoice } from './node-flags.ts'

/** Of the API server that --kubeconfig and --context mean, or of the usual places. @param log says what was tried */
export function apiClient(
  { kubeconfig, context }: Pick<NodeChoice, 'kubeconfig' | 'context'>,
  log: (line: string) => void,
): KubeClient {
  const onAttempt = ({ source, problem = 'used' }: { readonly source: string; readonly problem?: string }): void =>
    log(`${source}: ${problem}`)
  return createKubeClient(discoverKubeConfig({ kubeconfig, context, onAttempt }))
}

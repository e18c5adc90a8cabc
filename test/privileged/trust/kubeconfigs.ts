/** Kubeconfigs that a test wants to be believed, or not. */
import { kubeconfigText } from '../../helpers/api-server/users.ts'

/** Whose credential a program gives. */
export function execKubeconfig(server: string, command: string, cluster: object = {}): string {
  const plugin = { apiVersion: 'client.authentication.k8s.io/v1', command, interactiveMode: 'Never' }
  return kubeconfigText({ server, ...cluster }, { exec: plugin })
}

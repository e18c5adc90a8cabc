/** Kubeconfigs that a test wants to be believed, or not. */

export interface KubeconfigParts {
  readonly server: string
  readonly cluster?: object
  readonly user: object
}

export function kubeconfigText({ server, cluster = {}, user }: KubeconfigParts): string {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server, ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  return `${JSON.stringify(config, undefined, 1)}\n`
}

/** Whose credential a program gives. */
export function execKubeconfig(server: string, command: string, cluster: object = {}, exec: object = {}): string {
  const plugin = { apiVersion: 'client.authentication.k8s.io/v1', command, interactiveMode: 'Never', ...exec }
  return kubeconfigText({ server, cluster, user: { exec: plugin } })
}

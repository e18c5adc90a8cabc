import { VolctlError } from '../errors.ts'
import type { RawKubeConfig } from './kube-config-file.ts'

type Fields = Record<string, unknown>

/** The cluster, user and context that will be used, in client-go's meaning rather than client-node's. */
export interface SelectedConfig {
  readonly contextName: string
  readonly server: string
  readonly cluster: Fields
  readonly user: Fields
  /** Headers of impersonation that client-node does not send. */
  readonly headers: Readonly<Record<string, string | string[]>>
}

/**
 * Picks a context and evens out where client-node differs from client-go: data wins over files, `tokenFile` is read
 * and wins over `token` (N44), `as-groups` and its like are sent, plain http needs no TLS to be switched off, an exec
 * plugin is told what is asked of it (N43), a context without a user is anonymous.
 */
export function selectContext(config: RawKubeConfig, source: string, wanted: string | undefined): SelectedConfig {
  const names = config.contexts.map((context) => context.name)
  const known = names.length === 0 ? 'It has no contexts.' : `It has: ${names.join(', ')}.`
  const contextName = wanted ?? config['current-context']
  if (contextName === undefined) {
    throw new VolctlError('NoContext', `The kubeconfig ${source} has no current context. ${known}`, {
      hint: 'Choose one with --context.',
    })
  }
  const entry = config.contexts.find((context) => context.name === contextName)
  if (!entry) {
    throw new VolctlError('UnknownContext', `The kubeconfig ${source} has no context "${contextName}". ${known}`, {
      hint: 'Choose one of them with --context, or another file with --kubeconfig.',
    })
  }
  const context = (entry.context ?? {}) as Fields
  const cluster = named(config, 'clusters', context.cluster, 'cluster')
  const user = named(config, 'users', context.user, 'user')
  if (!cluster || typeof cluster.server !== 'string' || !URL.canParse(cluster.server)) {
    throw new VolctlError(
      'KubeconfigDamaged',
      `Context "${contextName}" of ${source} names no cluster with a server.`,
      {
        hint: 'Check the cluster that the context names.',
      },
    )
  }
  if (!user && context.user !== undefined && context.user !== '') {
    throw new VolctlError('KubeconfigDamaged', `Context "${contextName}" of ${source} names an unknown user.`, {
      hint: 'Check the user that the context names.',
    })
  }
  const evenCluster = normalizeCluster(cluster)
  return {
    contextName,
    server: cluster.server.replace(/\/+$/, ''),
    cluster: evenCluster,
    user: normalizeUser(user ?? {}, evenCluster),
    headers: impersonation(user ?? {}),
  }
}

function named(config: RawKubeConfig, list: 'clusters' | 'users', name: unknown, field: string): Fields | undefined {
  const entry = config[list].find((candidate) => candidate.name === name)
  return entry ? ((entry[field] ?? {}) as Fields) : undefined
}

function normalizeCluster(fields: Fields): Fields {
  const cluster = { ...fields }
  if (cluster['certificate-authority-data']) delete cluster['certificate-authority']
  if (String(cluster.server).startsWith('http:')) cluster['insecure-skip-tls-verify'] = true
  return cluster
}

function normalizeUser(fields: Fields, cluster: Fields): Fields {
  const user = { ...fields }
  if (user['client-certificate-data']) delete user['client-certificate']
  if (user['client-key-data']) delete user['client-key']
  if (typeof user.tokenFile === 'string' && user.tokenFile !== '') {
    delete user.token
    user['auth-provider'] = { name: 'tokenFile', config: { tokenFile: user.tokenFile } }
  }
  if (typeof user.exec === 'object' && user.exec !== null) user.exec = normalizeExec(user.exec as Fields, cluster)
  return user
}

/** Adds what a plugin reads from its environment; volctl never gives it a terminal. */
function normalizeExec(exec: Fields, cluster: Fields): Fields {
  if (exec.interactiveMode === 'Always') {
    throw new VolctlError('CredentialPlugin', `The credential plugin ${String(exec.command)} insists on a terminal.`, {
      hint: 'Set interactiveMode to IfAvailable or Never, or use another credential.',
    })
  }
  const info = {
    apiVersion: exec.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(exec.provideClusterInfo === true && { cluster }) },
  }
  const env = Array.isArray(exec.env) ? exec.env : []
  return { ...exec, env: [...env, { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }] }
}

/** client-node sends Impersonate-User alone; a lost group would change what the identity may see. */
function impersonation(user: Fields): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {}
  if (typeof user['as-uid'] === 'string') headers['Impersonate-Uid'] = user['as-uid']
  const groups = user['as-groups']
  if (Array.isArray(groups) && groups.length > 0) headers['Impersonate-Group'] = groups.map(String)
  for (const [key, values] of Object.entries((user['as-user-extra'] ?? {}) as Fields)) {
    if (Array.isArray(values)) headers[`Impersonate-Extra-${encodeURIComponent(key)}`] = values.map(String)
  }
  return headers
}

import { said, VolctlError } from '../../messages/findings.ts'
import type { Insecure } from '../api/resources.ts'
import { type ExecPlugin, execPluginOf } from './exec-credential.ts'
import { type Fields, NotUsed, type RawKubeConfig, textIn } from './kube-config-file.ts'

/** The cluster, user and context that will be used, in client-go's meaning. */
export interface SelectedConfig {
  /** The kubeconfig, for messages. */
  readonly source: string
  readonly contextName: string
  /** As the context names the user; undefined: it names none. */
  readonly userName?: string
  /** Without a login: it stands in every plan and message. */
  readonly server: string
  /** USER:PASSWORD that stood in the server's address. */
  readonly login?: string
  readonly cluster: Fields
  readonly user: Fields
  /** The credential plugin (N43). */
  readonly plugin?: ExecPlugin
  /** Why anyone on the network path could answer in the server's place (S34); absent: nobody could. */
  readonly insecure?: Insecure
}

/** Selects a context: cluster and user. Files and programs that they name are not touched yet. */
export function selectContext(config: RawKubeConfig, source: string, wanted: string | undefined): SelectedConfig {
  const names = config.contexts.map((context) => context.name)
  const known = names.length === 0 ? 'The file has no contexts.' : `Its contexts: ${names.join(', ')}.`
  const contextName = wanted ?? config['current-context']
  if (contextName === undefined) {
    throw new VolctlError(said('KubeconfigInvalid.noCurrent', { source, known }))
  }
  const entry = config.contexts.find((context) => context.name === contextName)
  if (!entry) {
    throw new NotUsed('otherContext', said('KubeconfigInvalid.noContext', { source, contextName, known }))
  }
  const where = `Context "${contextName}" of ${source}`
  const context = (entry.context ?? {}) as Fields
  const cluster = named(config, 'clusters', context.cluster, 'cluster') ?? {}
  const namedUser = named(config, 'users', context.user, 'user')
  const server = textIn(cluster, 'server')
  if (server === undefined) throw new VolctlError(said('KubeconfigInvalid.noServer', { where }))
  if (!isHttp(server)) {
    throw new VolctlError(said('KubeconfigInvalid.noUrl', { contextName, source }))
  }
  if (namedUser === undefined && context.user !== undefined && context.user !== '')
    throw new VolctlError(said('KubeconfigInvalid.noUser', { where }))
  // A context without a user is anonymous.
  const user = namedUser ?? {}
  refuseProvider(user, where)
  return {
    source,
    contextName,
    userName: textIn(context, 'user'),
    server: withoutLogin(server).replace(/\/+$/, ''),
    cluster,
    user,
    login: loginIn(server),
    plugin: execPluginOf(user.exec),
    insecure: insecurity(server, cluster),
  }
}

function named(config: RawKubeConfig, list: 'clusters' | 'users', name: unknown, field: string): Fields | undefined {
  const entry = config[list].find((candidate) => candidate.name === name)
  return entry ? ((entry[field] ?? {}) as Fields) : undefined
}

function isHttp(server: string): boolean {
  return /^https?:\/\//i.test(server) && URL.canParse(server)
}

function withoutLogin(server: string): string {
  return server.replace(/^(https?:\/\/)[^/?#]*@/i, '$1')
}

function loginIn(server: string): string | undefined {
  const { username, password } = new URL(server)
  return username === '' && password === '' ? undefined : `${decoded(username)}:${decoded(password)}`
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function insecurity(server: string, cluster: Fields): Insecure | undefined {
  if (new URL(server).protocol === 'http:') return 'PlainHttp'
  return cluster['insecure-skip-tls-verify'] === true ? 'TlsNotVerified' : undefined
}

/** Those that kubectl dropped ran a command through a shell; oidc keeps a token in the kubeconfig, and renews it there. */
function refuseProvider(user: Fields, where: string): void {
  const provider = user['auth-provider'] as Fields | null | undefined
  if (typeof provider !== 'object' || provider === null) return
  const name = String(provider.name)
  const since = name === 'gcp' || name === 'azure' ? ', which kubectl dropped in 1.26' : ''
  throw new NotUsed('passedOver', said('KubeconfigInvalid.authProvider', { where, name, since }), {
    hint: 'Log in by an exec plugin instead (kubelogin, gke-gcloud-auth-plugin), or use another credential.',
  })
}

/** Headers for impersonation, all groups included: without one of them the identity would have other rights. */
export function impersonation(user: Fields): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {}
  const as = textIn(user, 'as')
  if (as !== undefined) headers['Impersonate-User'] = as
  if (typeof user['as-uid'] === 'string') headers['Impersonate-Uid'] = user['as-uid']
  const groups = user['as-groups']
  if (Array.isArray(groups) && groups.length > 0) headers['Impersonate-Group'] = groups.map(String)
  for (const [key, values] of Object.entries((user['as-user-extra'] ?? {}) as Fields)) {
    if (Array.isArray(values)) headers[`Impersonate-Extra-${encodeURIComponent(key)}`] = values.map(String)
  }
  return headers
}

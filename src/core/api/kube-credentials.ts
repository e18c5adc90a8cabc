import type { Agent as HttpAgent, RequestOptions } from 'node:https'
import { errnoOf, VolctlError } from '../errors.ts'
import type { RawKubeConfig } from './kube-config-file.ts'
import { type SelectedConfig, selectContext } from './normalize-kube-config.ts'

/** Where a credential came from; the word stands in `api.credential` unless it is a node's identity. */
export type CredentialKind = 'kubeconfig' | 'admin' | 'kubelet' | 'in-cluster'

/** What node:https needs to connect and to prove who asks. */
export interface ConnectionOptions {
  readonly ca?: RequestOptions['ca']
  readonly cert?: RequestOptions['cert']
  readonly key?: RequestOptions['key']
  readonly servername?: string
  readonly rejectUnauthorized?: boolean
  readonly auth?: string
  readonly headers: Readonly<Record<string, string | string[]>>
  /** client-node's agent, only where a proxy is configured: it is what knows how to pass through it. */
  readonly agent?: HttpAgent
  /** False: the kubeconfig asks for plain answers. */
  readonly compression: boolean
}

/** A credential for one API server. Holds no secret before `load`. */
export interface KubeCredentials {
  /** File, files or "in-cluster", for messages. */
  readonly source: string
  readonly kind: CredentialKind
  readonly context: string
  readonly server: string
  /** Reads files and runs plugins anew: certificates rotate, tokens expire (N42, N43, N44). */
  load(): Promise<ConnectionOptions>
}

/** A credential plugin that does not answer must not hang volctl. */
const PLUGIN_DEADLINE_MS = 60_000

/**
 * @param read reads the kubeconfig again, so that `load` sees a file replaced meanwhile
 */
export function credentialsFrom(
  read: () => RawKubeConfig,
  source: string,
  kind: CredentialKind,
  context: string | undefined,
): KubeCredentials {
  const selected = selectContext(read(), source, context)
  return {
    source,
    kind,
    context: selected.contextName,
    server: selected.server,
    load: () => connectionOptions(selectContext(read(), source, context), source),
  }
}

async function connectionOptions(selected: SelectedConfig, source: string): Promise<ConnectionOptions> {
  // The package's index would load every API of Kubernetes; scripts/esbuild-client-node.ts trims this further.
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js')
  const kubeConfig = new KubeConfig()
  const options: RequestOptions = {}
  try {
    kubeConfig.loadFromString(JSON.stringify(clientNodeDocument(selected)))
    useIssuerUrl(kubeConfig.users)
    await withDeadline(kubeConfig.applyToHTTPSOptions(options), PLUGIN_DEADLINE_MS)
  } catch (error) {
    throw credentialError(error, source, selected)
  }
  const proxied = typeof selected.cluster['proxy-url'] === 'string' && selected.cluster['proxy-url'] !== ''
  return {
    ...(options.ca !== undefined && { ca: options.ca }),
    ...(options.cert !== undefined && { cert: options.cert }),
    ...(options.key !== undefined && { key: options.key }),
    ...(options.servername !== undefined && { servername: options.servername }),
    ...(options.rejectUnauthorized !== undefined && { rejectUnauthorized: options.rejectUnauthorized }),
    ...(typeof options.auth === 'string' && { auth: options.auth }),
    headers: { ...trimmedHeaders(options.headers), ...selected.headers },
    ...(proxied && { agent: options.agent as HttpAgent }),
    compression: selected.cluster['disable-compression'] !== true,
  }
}

function clientNodeDocument(selected: SelectedConfig): object {
  return {
    clusters: [{ name: 'cluster', cluster: selected.cluster }],
    users: [{ name: 'user', user: selected.user }],
    contexts: [{ name: 'context', context: { cluster: 'cluster', user: 'user' } }],
    'current-context': 'context',
  }
}

/** client-node 2.0.1 hands the issuer on as text, which openid-client 6 refuses: no token could ever be renewed. */
function useIssuerUrl(users: readonly { authProvider?: { config?: Record<string, unknown> } }[]): void {
  for (const { authProvider } of users) {
    const issuer = authProvider?.config?.['idp-issuer-url']
    if (authProvider?.config && typeof issuer === 'string') authProvider.config['idp-issuer-url'] = new URL(issuer)
  }
}

/** A token file ends in a newline as often as not; a header must not. */
function trimmedHeaders(headers: RequestOptions['headers']): Record<string, string> {
  const result: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (value !== undefined && !Array.isArray(headers)) result[name] = String(value).trim()
  }
  return result
}

async function withDeadline<T>(work: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${ms / 1000} s`)), ms)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** One line without a secret: what a plugin printed, or what a parser quotes, may hold a token. */
function credentialError(error: unknown, source: string, selected: SelectedConfig): VolctlError {
  const errno = errnoOf(error)
  const path = (error as { path?: unknown }).path
  const command = (selected.user.exec as { command?: unknown; installHint?: unknown } | undefined)?.command
  if (typeof command === 'string' && (errno === undefined || path === command)) {
    return pluginError(error, errno, command, selected)
  }
  if (errno !== undefined && typeof path === 'string') {
    return new VolctlError('CredentialUnreadable', `${path}, which ${source} names, cannot be read (${errno}).`, {
      hint: 'Run as root, or check the file.',
    })
  }
  return new VolctlError(
    'KubeconfigDamaged',
    `The credential in ${source} (context ${selected.contextName}) is unusable.`,
    {
      hint: 'Check its certificates, keys, tokens and proxy-url.',
    },
  )
}

/** EACCES: also where a directory of PATH may not be searched. */
const NOT_RUN = new Map([
  ['ENOENT', 'not found'],
  ['EACCES', 'not found, or not allowed to run'],
])

function pluginError(
  error: unknown,
  errno: string | undefined,
  command: string,
  selected: SelectedConfig,
): VolctlError {
  const hint = (selected.user.exec as { installHint?: unknown }).installHint
  const message =
    error instanceof SyntaxError || error instanceof TypeError ? 'its output is no ExecCredential' : undefined
  const firstLine = error instanceof Error ? (error.message.trim().split('\n')[0] ?? '').slice(0, 200) : ''
  const why = NOT_RUN.get(errno ?? '') ?? errno ?? message ?? (firstLine || 'it failed')
  return new VolctlError('CredentialPlugin', `The credential plugin ${command} gave no credential: ${why}.`, {
    hint: typeof hint === 'string' ? (hint.trim().split('\n')[0] ?? '') : 'Run it by hand, or use another credential.',
  })
}

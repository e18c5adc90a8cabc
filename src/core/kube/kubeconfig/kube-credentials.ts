import { X509Certificate } from 'node:crypto'
import type { Agent } from 'node:https'
import { advice, type Hint, marked, volctl } from '../../messages/command.ts'
import { errnoOf, said, VolctlError } from '../../messages/findings.ts'
import { NotTrusted, readTrusted, TRUST_HINT, whyUnusable } from '../../trust/files.ts'
import { NODE_USER } from '../api/names.ts'
import {
  type ConnectionOptions,
  type CredentialKind,
  environmentProxy,
  type KubeCredentials,
} from '../transport/connection.ts'
import { runExecPlugin } from './exec-credential.ts'
import { type Fields, NotUsed, type RawKubeConfig, readKubeConfigFile, textIn } from './kube-config-file.ts'
import { impersonation, type SelectedConfig, selectContext } from './normalize-kube-config.ts'

export interface CredentialOptions {
  /** Reads the kubeconfig again, so that `load` sees a file replaced meanwhile. */
  readonly read: () => RawKubeConfig
  readonly source: string
  readonly kind: CredentialKind
  readonly context?: string
  /** Given by --kubeconfig or KUBECONFIG, not just found in one of the usual places. */
  readonly given: boolean
  readonly pluginDeadlineMs?: number
  /** For a second look: the kubeconfig with all files that it names, or none. */
  readonly secondLook?: true
}

/** A credential plugin that does not answer must not hang volctl. */
const PLUGIN_DEADLINE_MS = 60_000

/**
 * @throws VolctlError for a kubeconfig that cannot be used, KubeconfigUnsafe for one with a program that was only found (S33); for a
 *   second look also where a file that it names cannot be read
 */
export function credentialsFrom(options: CredentialOptions): KubeCredentials {
  const { source, kind } = options
  const select = (): SelectedConfig => {
    const selected = selectContext(options.read(), source, options.context)
    if (!options.given) refuseProgram(selected)
    return selected
  }
  const first = select()
  const { server, insecure } = first
  if (options.secondLook) fromFiles(first)
  return {
    source,
    kind,
    server,
    insecure,
    load: async (signal) => {
      const selected = select()
      // The server that the plan showed, and that was confirmed, must stay the same.
      if (selected.server !== server || selected.insecure !== insecure)
        throw new VolctlError(said('OtherCluster.kubeconfig', { source }), {
          hint: marked('The header of a plan shows the server: `volctl plan`'),
        })
      return await connectionOptions(selected, options, signal)
    },
  }
}

/** Otherwise anyone who can put a kubeconfig where volctl looks for one could make root run a program. */
function refuseProgram({ plugin, source }: SelectedConfig): void {
  if (plugin === undefined) return
  throw new NotUsed('passedOver', said('KubeconfigUnsafe.program', { source, command: plugin.command }), {
    hint: advice`If that program may be run as root, give the file: ${volctl('plan', '--kubeconfig', source)}`,
  })
}

/** The login data in the kubeconfig and the files that it names; no program is run. */
function fromFiles({ cluster, user, source }: SelectedConfig) {
  const ca = dataOrFile(cluster, 'certificate-authority', source)
  const cert = dataOrFile(user, 'client-certificate', source)
  const key = dataOrFile(user, 'client-key', source)
  const token = tokenIn(user, source)
  return { ca, cert, key, token }
}

/** A token file wins over an inline token, as with client-go (N44). */
function tokenIn(user: Fields, source: string): string | undefined {
  const { token } = user
  const file = textIn(user, 'tokenFile')
  // The file often ends in a newline, which must not be in a header.
  if (file !== undefined) return readCredentialFile(file, source).toString('utf8').trim()
  return token === undefined || token === null || token === '' ? undefined : String(token).trim()
}

async function connectionOptions(
  selected: SelectedConfig,
  { pluginDeadlineMs = PLUGIN_DEADLINE_MS }: CredentialOptions,
  signal: AbortSignal | undefined,
): Promise<ConnectionOptions> {
  const { cluster, user, plugin } = selected
  const written = fromFiles(selected)
  const about = { cluster: clusterFor(cluster, written.ca), deadlineMs: pluginDeadlineMs, signal }
  const login = { ...written, ...(plugin && (await runExecPlugin(plugin, about))) }
  const { ca, cert, key } = login
  const token = written.token ?? login.token
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) throw unusable(selected, 'Its token is not valid.')
  const { username, password } = user
  const connection: ConnectionOptions = {
    servername: textIn(cluster, 'tls-server-name'),
    rejectUnauthorized: cluster['insecure-skip-tls-verify'] !== true,
    ca,
    cert,
    key,
    auth: username ? `${String(username)}:${String(password ?? '')}` : selected.login,
    headers: { ...(token !== undefined && { Authorization: `Bearer ${token}` }), ...impersonation(user) },
    compression: cluster['disable-compression'] !== true,
  }
  const proxy = textIn(cluster, 'proxy-url') ?? environmentProxy(new URL(selected.server))?.href
  if (proxy === undefined) return connection
  if (/^https?:\/\//i.test(proxy) && URL.canParse(proxy)) {
    // An older one would ask the server directly.
    if (!process.allowedNodeEnvironmentFlags.has('--use-env-proxy')) throw unusable(selected, NEWER_NODE)
    // Of another spelling (HTTP://) Node.js would do so, too.
    return { ...connection, proxy: new URL(proxy).href }
  }
  try {
    if (!/^socks5h?:\/\//i.test(proxy)) throw new Error('no proxy that volctl has a way to')
    return { ...connection, agent: await socksAgent(cluster, proxy, connection) }
  } catch {
    throw unusable(selected, CHECK_PROXY)
  }
}

const NEWER_NODE = 'Only Node.js 22.21, 24.5 or newer knows proxies of HTTP: use one of these, or a proxy of SOCKS.'
const CHECK_PROXY = 'Check its proxy-url, or HTTPS_PROXY: http://, https:// or socks5://HOST:PORT.'

/** In the form of ExecCredential's `spec.cluster`, which differs from a kubeconfig's. */
function clusterFor(cluster: Fields, ca: Buffer | undefined): Fields {
  const fields = ['server', 'tls-server-name', 'insecure-skip-tls-verify', 'proxy-url', 'disable-compression']
  const same = fields.flatMap((name) => (cluster[name] === undefined ? [] : [[name, cluster[name]]]))
  const extensions = Array.isArray(cluster.extensions) ? (cluster.extensions as (Fields | null)[]) : []
  const config = extensions.find((each) => each?.name === 'client.authentication.k8s.io/exec')?.extension
  return { ...Object.fromEntries(same), 'certificate-authority-data': ca?.toString('base64'), config }
}

/** One line without a secret. */
function unusable({ contextName, source }: SelectedConfig, hint: Hint): VolctlError {
  return new VolctlError(said('KubeconfigInvalid.credential', { source, contextName }), { hint })
}

/**
 * Connections through a proxy of SOCKS, by client-node's library. client-node gets the content of files, never their names, and no login,
 * so that it opens no file and starts no program.
 */
async function socksAgent(cluster: Fields, proxyUrl: string, connection: ConnectionOptions): Promise<Agent> {
  // The package's index would load every API of Kubernetes; scripts/esbuild-plugins.ts trims this further.
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js')
  const { ca, cert, key, servername, rejectUnauthorized } = connection
  const kubeConfig = new KubeConfig()
  const tls = { skipTLSVerify: !rejectUnauthorized, tlsServerName: servername, caData: base64(ca) }
  kubeConfig.loadFromOptions({
    clusters: [{ name: 'cluster', server: String(cluster.server), proxyUrl, ...tls }],
    users: [{ name: 'user', certData: base64(cert), keyData: base64(key) }],
    contexts: [{ name: 'context', cluster: 'cluster', user: 'user' }],
    currentContext: 'context',
  })
  const options: { agent?: Agent } = {}
  await kubeConfig.applyToHTTPSOptions(options)
  if (options.agent === undefined) throw new Error('no agent')
  // Set explicitly; otherwise NODE_TLS_REJECT_UNAUTHORIZED would decide.
  options.agent.options.rejectUnauthorized = rejectUnauthorized
  return options.agent
}

function base64(data: Buffer | string | undefined): string | undefined {
  return data && Buffer.from(data).toString('base64')
}

// Certificates, keys and tokens of a kubeconfig, inline or in files that it names.

/**
 * Reads such a file as it is now, since they rotate (N42, N44). Only trusted files: who can write a certificate authority
 * decides which server volctl trusts, and who can write a token decides whose rights volctl uses (S33).
 *
 * @param source the kubeconfig, for messages
 * @throws VolctlError KubeconfigUnsafe, CredentialFailed
 */
function readCredentialFile(path: string, source: string): Buffer {
  const file = `${path}, which ${source} names,`
  try {
    return readTrusted(path)
  } catch (cause) {
    if (cause instanceof NotTrusted) {
      throw new NotUsed('passedOver', said('KubeconfigUnsafe.why', { file, message: cause.message }), {
        cause,
        hint: TRUST_HINT,
      })
    }
    const errno = errnoOf(cause)
    const why = errno === undefined || errno === 'TOO_LARGE' ? `: ${whyUnusable(path, cause)}` : ` (${errno})`
    const hint = 'Run volctl as root, or check the file.'
    throw new NotUsed('passedOver', said('CredentialFailed.file', { file, why }), { hint })
  }
}

/** The inline `NAME-data`, otherwise the file NAME; inline data wins, as with kubectl. */
function dataOrFile(fields: Fields, name: string, source: string): Buffer | undefined {
  const data = textIn(fields, `${name}-data`)
  if (data !== undefined) return Buffer.from(data, 'base64')
  const path = textIn(fields, name)
  return path === undefined ? undefined : readCredentialFile(path, source)
}

/**
 * The node name with which a kubelet's kubeconfig logs in (N29): from its client certificate, otherwise from its user name.
 * No server is asked and no program is started.
 *
 * @returns undefined if neither shows it, or the file may not be read
 */
export function nodeNameInKubeconfig(path: string): string | undefined {
  try {
    const { user, userName } = selectContext(readKubeConfigFile(path), path, undefined)
    return nodeOf(commonName(dataOrFile(user, 'client-certificate', path))) ?? nodeOf(userName)
  } catch (error) {
    if (error instanceof VolctlError) return undefined
    throw error
  }
}

function nodeOf(user: string | undefined): string | undefined {
  return user?.startsWith(NODE_USER) ? user.slice(NODE_USER.length) || undefined : undefined
}

/** The certificate's common name; a kubelet's file has the key, too. */
function commonName(pem: Buffer | undefined): string | undefined {
  const text = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(pem?.toString('latin1') ?? '')?.[0]
  if (text === undefined) return undefined
  try {
    return /^CN=(.+)$/m.exec(new X509Certificate(text).subject)?.[1]
  } catch {
    return undefined
  }
}

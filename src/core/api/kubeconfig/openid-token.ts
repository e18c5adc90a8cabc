/**
 * The legacy `auth-provider: oidc` of a kubeconfig: an id token, and how to renew it (OpenID Connect Discovery 1.0; RFC 6749,
 * section 6). Nothing is written back to the kubeconfig; kubectl does that.
 */
import { errorMessage, VolctlError } from '../../errors/errors.ts'
import { parseJson } from '../../trust/parse-json.ts'
import { createTransport, type HttpRequest } from '../transport/transport.ts'
import { dataOrFile } from './credential-files.ts'
import type { Fields } from './normalize-kube-config.ts'

const DEADLINE_MS = 30_000
/** Such answers are a few KiB. */
const LIMITS = { maxBytes: 1024 * 1024, maxDepth: 20, maxValues: 10_000 }
/** A token that expires this soon is renewed. */
const MARGIN_S = 10

/** @throws VolctlError CredentialFailed, or the signal's reason */
export async function openIdToken(config: Fields, source: string, signal?: AbortSignal): Promise<string> {
  const { 'id-token': token } = config
  if (typeof token === 'string' && expiryOf(token) - MARGIN_S > Date.now() / 1000) return token
  const deadline = AbortSignal.timeout(DEADLINE_MS)
  try {
    return await renewed(config, source, signal ? AbortSignal.any([signal, deadline]) : deadline)
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof VolctlError) throw error
    const why = deadline.aborted ? `no answer within ${DEADLINE_MS / 1000} s` : errorMessage(error)
    throw new VolctlError(
      'CredentialFailed',
      `The OpenID token in ${source} has expired and could not be renewed: ${why}.`,
      {
        hint: 'Log in again (kubectl get nodes does so), or use another credential.',
      },
    )
  }
}

/** Seconds since the epoch; 0 if the token does not have it. */
function expiryOf(token: string): number {
  try {
    const claims = parseJson(Buffer.from(token.split('.')[1] ?? '', 'base64url'), LIMITS) as { exp?: unknown } | null
    return typeof claims?.exp === 'number' ? claims.exp : 0
  } catch {
    return 0
  }
}

async function renewed(config: Fields, source: string, signal: AbortSignal): Promise<string> {
  const issuer = setting(config, 'idp-issuer-url').replace(/\/+$/, '')
  const [id, refresh] = [setting(config, 'client-id'), setting(config, 'refresh-token')]
  const ca = dataOrFile(config, 'idp-certificate-authority', source)
  const known = await ask(`${issuer}/.well-known/openid-configuration`, ca, { method: 'GET', signal })
  if (typeof known.token_endpoint !== 'string') throw new Error(`${issuer} names no token_endpoint`)
  const secret = config['client-secret']
  const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refresh, client_id: id })
  if (typeof secret === 'string' && secret !== '') form.set('client_secret', secret)
  const answer = await ask(known.token_endpoint, ca, {
    method: 'POST',
    body: form.toString(),
    contentType: 'application/x-www-form-urlencoded',
    signal,
  })
  if (typeof answer.id_token !== 'string') throw new Error(`${issuer} gave no id_token`)
  return answer.id_token
}

function setting(config: Fields, name: string): string {
  const value = config[name]
  if (typeof value === 'string' && value !== '') return value
  throw new Error(`the token has no ${name}`)
}

/** The parser's message is not repeated, since it quotes the answer. */
function objectIn(body: Buffer, from: string): Fields {
  try {
    return (parseJson(body, LIMITS) ?? {}) as Fields
  } catch {
    throw new Error(`the answer of ${from} is not JSON`)
  }
}

/** The body of a failed answer may quote the request, so only the status is reported. */
async function ask(address: string, ca: Buffer | undefined, request: Omit<HttpRequest, 'url'>): Promise<Fields> {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 'https:') throw new Error("volctl asks the token's issuer over https only")
  const transport = createTransport(url, { headers: {}, compression: false, ...(ca && { ca }) }, LIMITS)
  try {
    const { status, body } = await transport.send({ ...request, url })
    if (status !== 200) throw new Error(`${url.origin} answered with HTTP status ${status}`)
    return objectIn(body, url.origin)
  } finally {
    transport.close()
  }
}

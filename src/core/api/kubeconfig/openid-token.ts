/**
 * The legacy `auth-provider: oidc` of a kubeconfig: its id token, for as long as it is valid. kubectl renews one and writes it back; volctl
 * asks no issuer.
 */
import { VolctlError } from '../../errors/errors.ts'
import { parseJson } from '../../trust/parse-json.ts'
import type { Fields } from './normalize-kube-config.ts'

/** An id token is a few KiB. */
const LIMITS = { maxBytes: 1024 * 1024, maxDepth: 20, maxValues: 10_000 }
/** A token that expires this soon is of no use any more. */
const MARGIN_S = 10

/** @throws VolctlError CredentialFailed */
export function openIdToken({ 'id-token': token }: Fields, source: string): string {
  if (typeof token === 'string' && expiryOf(token) - MARGIN_S > Date.now() / 1000) return token
  throw new VolctlError('CredentialFailed', `The OpenID token in ${source} has expired.`, {
    hint: 'Log in again (kubectl get nodes does so), or use another credential.',
  })
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

import { volctl } from '../lang/command.ts'
import type { Insecure } from '../model/snapshot.ts'

/** Why anyone on the network path could answer (S34). */
export const INSECURE_API: Readonly<Record<Insecure, string>> = {
  TlsNotVerified: 'its certificate is not verified: anyone on the network path could answer',
  PlainHttp: 'plain http: anyone on the network path could read the credential, and answer',
}

/** What to do where the API server is not verified (S34). @param scope `--cluster`, for an apply of a cluster */
export function insecureApiHint(...scope: readonly string[]): string {
  const apply = volctl('apply', ...scope, '--accept-insecure-api')
  return `Use a kubeconfig with an https server and its certificate-authority. Or, if nobody else can be on the network path: ${apply}`
}

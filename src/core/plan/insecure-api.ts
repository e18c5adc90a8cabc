import type { Insecure } from '../facts/actual/snapshot.ts'

/** Why anyone on the network path could answer (S34). */
export const INSECURE_API: Readonly<Record<Insecure, string>> = {
  TlsNotVerified: 'its certificate is not verified: anyone on the network path could answer',
  PlainHttp: 'plain http: anyone on the network path could read the credential, and answer',
}

/** Of a look, and of a second one with the kubelet's own credential. */
export function apiDoubts(api: { readonly insecure?: Insecure; readonly secondLookInsecure?: Insecure }): string[] {
  return [
    ...(api.insecure === undefined ? [] : [INSECURE_API[api.insecure]]),
    ...(api.secondLookInsecure === undefined
      ? []
      : [`with the kubelet's credential: ${INSECURE_API[api.secondLookInsecure]}`]),
  ]
}

import type { Insecure } from '../facts/actual/snapshot.ts'

/** Why anyone on the network path could answer (S34). */
export const INSECURE_API: Readonly<Record<Insecure, string>> = {
  TlsNotVerified: 'its certificate is not verified: anyone on the network path could answer',
  PlainHttp: 'plain http: anyone on the network path could read the credential, and answer',
}

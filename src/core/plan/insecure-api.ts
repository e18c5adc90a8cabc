import { volctl } from './next-steps.ts'

/** What to do where the API server is not verified (S34). @param scope `--cluster`, for an apply of a cluster */
export function insecureApiHint(...scope: readonly string[]): string {
  const apply = volctl('apply', ...scope, '--accept-insecure-api')
  return `Use a kubeconfig with an https server and its certificate-authority. Or, if nobody else can be on the network path: ${apply}`
}

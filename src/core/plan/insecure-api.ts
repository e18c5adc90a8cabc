import { present } from '../base/text.ts'
import type { Insecure } from '../kube/api/resources.ts'
import { said } from '../messages/findings.ts'
import type { PlanInputs, PlanOptions } from './plan.ts'

/** Why anyone on the network path could answer (S34). */
export const INSECURE_API: Readonly<Record<Insecure, string>> = {
  TlsNotVerified: 'its certificate is not verified: anyone on the network path could answer',
  PlainHttp: 'plain http: anyone on the network path could read the credential, and answer',
}

/** Of a look at a node or a cluster, and of a second one with the kubelet's own credential. */
type Api = Pick<PlanInputs['api'], 'server' | 'insecure' | 'secondLookInsecure'>

export function apiDoubts({ insecure, secondLookInsecure }: Api): string[] {
  return present(
    insecure && INSECURE_API[insecure],
    secondLookInsecure && `with the kubelet's credential: ${INSECURE_API[secondLookInsecure]}`,
  )
}

/**
 * S34: an attacker on the network path could answer that pods were deleted. A plan says so in its header and goes on, since it
 * changes nothing; an apply is refused.
 */
export function refuseInsecureApi(
  { server, insecure, secondLookInsecure }: Api,
  { acceptInsecureApi }: Pick<PlanOptions, 'acceptInsecureApi'>,
) {
  const why = insecure ?? secondLookInsecure
  if (why === undefined || acceptInsecureApi === true) return undefined
  const connection = insecure === undefined ? `${server} (with the kubelet's own credential)` : server
  return { rule: 'S34', ...said('InsecureApi', { connection, why: INSECURE_API[why] }) }
}

/** Is there an API server, is it the right one, and does it show all pods (S2, S3, S34). */

import { count } from '../lang/count.ts'
import type { ApiSnapshot } from '../model/snapshot.ts'
import { NODE_USER } from '../names/volume-names.ts'
import { insecureApiHint } from '../plan/insecure-api.ts'
import { type Check, check, type Finding, failed, notApplicable, ok, unknown, warning } from './check.ts'
import type { DoctorFacts, Failure } from './facts.ts'

export function apiChecks(facts: DoctorFacts): Check[] {
  return [
    check('Credential', credential(facts)),
    check('ApiReachable', reachable(facts)),
    check('ApiVerified', verified(facts)),
    check('PodList', podList(facts)),
    check('KubeletPodList', secondList(facts)),
  ]
}

const apiOf = ({ state }: DoctorFacts): ApiSnapshot | undefined => state?.snapshot.api

function nextOf({ hint }: Failure, otherwise: string): string {
  return hint ?? otherwise
}

const NO_CREDENTIAL = unknown('without a credential no API server was asked')

const GIVE_ONE = 'Give a kubeconfig with --kubeconfig.'

function credential({ source, failures, api, state }: DoctorFacts): Finding {
  const taken = state?.snapshot.api
  if (source === 'snapshot') {
    if (taken === undefined) return unknown('the snapshot has no section api')
    return ok(`${userText(taken.user)}${taken.credential} credential, when the snapshot was taken`)
  }
  const { credential: none, server } = failures
  if (none !== undefined) return failed(none.message, nextOf(none, GIVE_ONE), 'plan')
  const from = api?.credential?.source ?? 'an unknown place'
  if (server?.is === 'unauthorized')
    return failed(`the API server does not accept the credential in ${from}`, nextOf(server, GIVE_ONE), 'plan')
  if (api?.user === undefined) return unknown(`${from}; the API server did not say who this is`)
  return ok(`${userText(api.user)}from ${from}`)
}

function userText(user: string | undefined): string {
  return user === undefined ? '' : `${user}, `
}

function reachable({ source, failures, api }: DoctorFacts): Finding {
  if (source === 'snapshot') return notApplicable('a snapshot asks no API server')
  const { server, credential: none } = failures
  if (none !== undefined) return NO_CREDENTIAL
  const address = api?.credential?.server ?? ''
  if (server?.is === 'tls') return unknown(`${address} was not asked further, since TLS failed`)
  if (server?.is === 'silence')
    return failed(server.message, nextOf(server, 'Check that the API server is up.'), 'plan')
  return ok(`${address} answers`)
}

const INSECURE = {
  TlsNotVerified: 'the kubeconfig says insecure-skip-tls-verify: anyone on the network path could answer',
  PlainHttp: 'plain http: anyone on the network path could read the credential, and answer',
} as const

function verified({ source, failures, api, state }: DoctorFacts): Finding {
  const { server, credential: none } = failures
  if (source === 'node' && none !== undefined) return NO_CREDENTIAL
  if (server?.is === 'tls')
    return failed(server.message, nextOf(server, "Check the kubeconfig's certificate-authority."), 'plan')
  if (server?.is === 'silence') return unknown('the API server did not answer')
  const taken = state?.snapshot.api
  if (source === 'snapshot' && taken === undefined) return unknown('the snapshot has no section api')
  const insecure = api?.credential?.insecure ?? taken?.insecure ?? taken?.podListCheck?.insecure
  if (insecure === undefined) return ok('TLS; the certificate of the API server is verified')
  return warning(INSECURE[insecure] ?? INSECURE.TlsNotVerified, insecureApiHint(), 'apply')
}

function podList(facts: DoctorFacts): Finding {
  const { failures } = facts
  const api = apiOf(facts)
  if (failures.pods !== undefined) {
    return failed(failures.pods.message, nextOf(failures.pods, 'Use a credential that may list pods.'), 'plan')
  }
  if (api === undefined) {
    const { api: why, server, credential: none, node, nodeObject, kubeletPods } = failures
    const isSaid = [server, node, nodeObject, kubeletPods].some((each) => each !== undefined)
    if (none !== undefined) return NO_CREDENTIAL
    if (why === undefined || isSaid) return unknown('no list of pods was read')
    return failed(why.message, nextOf(why, 'Try again.'), 'plan')
  }
  const refused = api.errors.find(({ resource, name }) => resource === 'pods' && name === undefined)
  if (refused !== undefined) return failed(refused.message, 'Use a credential that may list pods.', 'plan')
  return ok(`${count(api.pods.length, 'pod')} of this node`)
}

function secondList(facts: DoctorFacts): Finding {
  const { failures } = facts
  const api = apiOf(facts)
  const { kubelet } = facts.api ?? {}
  if (failures.kubeletPods !== undefined) {
    const { kubeletPods } = failures
    return kubeletPods.is === 'podListsDisagree'
      ? failed(kubeletPods.message, nextOf(kubeletPods, 'Use the kubeconfig of the kubelet.'), 'plan')
      : warning(kubeletPods.message, nextOf(kubeletPods, "Repair the kubelet's kubeconfig."))
  }
  if (failures.credential !== undefined) return NO_CREDENTIAL
  if (api === undefined) return unknown('no list of pods was read')
  if (api.user?.startsWith(NODE_USER) || api.credential === 'kubelet')
    return ok("volctl uses the kubelet's own credential, so there is one list")
  const { podListCheck } = api
  if (podListCheck?.problem !== undefined)
    return warning(
      `the pods were not listed with ${podListCheck.source}: ${podListCheck.problem}`,
      'Without the second list nobody notices that a proxy or a role hides pods: make the file usable for root.',
    )
  if (podListCheck !== undefined) return ok(`the same pods with ${podListCheck.source}`)
  if (kubelet?.problem !== undefined) return warning(`${kubelet.source}: ${kubelet.problem}`, 'Repair the file.')
  return notApplicable("the kubelet's own credential is not here")
}

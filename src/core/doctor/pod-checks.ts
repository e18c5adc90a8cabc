/** Who witnesses which pods are alive: static sources, the container runtime, the process table (S9, S10). */
import { count } from '../lang/count.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { type Check, check, type Finding, failed, NO_NODE, notApplicable, ok, unknown, warning } from './check.ts'
import type { DoctorFacts } from './facts.ts'

export function podChecks(facts: DoctorFacts, context: PlanContext | undefined): Check[] {
  return [
    check('StaticPods', staticPods(facts)),
    check('Runtime', runtime(facts, context)),
    check('Processes', processes(facts)),
  ]
}

function staticPods({ state }: DoctorFacts): Finding {
  const source = state?.snapshot.staticPods
  if (state === undefined) return NO_NODE
  if (source === undefined) return unknown('the manifests of static pods were not read')
  const { path, readable, manifests } = source
  if (!readable)
    return warning(
      `${path ?? 'their source'} cannot be read whole, so that a pod directory that may be a static pod's is left alone`,
      'Repair or remove the manifest that the kubelet cannot read either; pods from a URL are never read.',
    )
  if (path === undefined) return notApplicable('the kubelet has no staticPodPath')
  return ok(`${count(manifests.length, 'manifest')} in ${path}`)
}

const START_IT = 'Start the container runtime, or name its socket with --runtime-endpoint.'

function runtime({ failures, state }: DoctorFacts, context: PlanContext | undefined): Finding {
  const { runtime: why } = failures
  const seen = state?.snapshot.runtime
  if (why !== undefined) return failed(why.message, why.hint ?? START_IT)
  if (state === undefined) return NO_NODE
  if (seen === undefined) return unknown('the container runtime was not asked', START_IT)
  const blind = context?.witnesses.blindRuntime
  if (blind !== undefined) return failed(blind.message, blind.hint ?? START_IT)
  const version = state?.snapshot.api?.node?.status?.nodeInfo?.containerRuntimeVersion
  const called = version === undefined ? '' : ` (${version})`
  if (seen.source === 'none') return warning('no container runtime answers here, and none is configured', START_IT)
  return ok(`${seen.endpoint ?? 'it'} answers${called}: ${count(seen.pods.length, 'sandbox', 'sandboxes')}`)
}

function processes({ state }: DoctorFacts): Finding {
  if (state === undefined) return NO_NODE
  const pods = state.snapshot.processes
  if (pods !== undefined) return ok(`${count(pods.length, 'pod')} in /proc`)
  return unknown('/proc could not be listed', 'Run volctl as root, with the /proc of the host.')
}

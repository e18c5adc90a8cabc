/** Guards that refuse a plan as a whole (S29), or its apply (S34); of S1 see refuse-identity.ts. */
import type { ActualInputs } from '../../actual/actual-inputs.ts'
import type { PlanInputs, PlanOptions, Refusal } from '../../plan/plan.ts'
import type { PodClass, PodClasses } from './pod-classes.ts'
import type { Witnesses } from './witnesses.ts'

const CLOCK_MARGIN_SECONDS = 600

/** S29: does the API look as if it had forgotten pods. Lifted by repeating the number of pods that are gone. */
export function refuseOutage(
  inputs: ActualInputs,
  classes: PodClasses,
  witnesses: Witnesses,
  options: PlanOptions,
): Refusal | undefined {
  const { api } = inputs.snapshot
  if (api === undefined) return undefined
  const gonePods = classes.all.filter((pod) => pod.class === 'Gone')
  const suspicion = listsNobody(inputs, classes, witnesses) ?? youngerThanTheApi(inputs, gonePods)
  if (suspicion === undefined || options.acceptOutage === gonePods.length) return undefined
  return {
    rule: 'S29',
    code: 'OutageSuspected',
    message: suspicion,
    hint: `If these ${gonePods.length} pods are really gone, give --accept-outage ${gonePods.length}.`,
  }
}

/**
 * S34: whoever stands between could say that pods are gone. A plan says so in its header and goes on, since it changes
 * nothing; an apply is refused.
 */
export function refuseInsecureApi(api: PlanInputs['api'], options: PlanOptions): Refusal | undefined {
  const { server, insecure, secondLookInsecure } = api
  const why = insecure ?? secondLookInsecure
  if (why === undefined || options.acceptInsecureApi === true) return undefined
  const asked = insecure === undefined ? `${server}, asked with the kubelet's own credential,` : server
  return {
    rule: 'S34',
    code: 'InsecureApi',
    message:
      why === 'PlainHttp'
        ? `${asked} is asked over plain http: anybody between could read the credential, and answer in its place`
        : `${asked} is not verified (insecure-skip-tls-verify): anybody between could answer in its place`,
    hint: 'Let the kubeconfig name https and the certificate-authority; or, if nobody can be between, give --accept-insecure-api.',
  }
}

function listsNobody({ snapshot }: ActualInputs, classes: PodClasses, witnesses: Witnesses): string | undefined {
  if ((snapshot.api?.pods.length ?? 0) > 0) return undefined
  const known = new Set([
    ...(snapshot.processes ?? []),
    ...(snapshot.runtime?.pods ?? []).map((sandbox) => sandbox.uid),
    ...classes.all.map((pod) => pod.uid),
  ])
  const alive = [...known].filter((uid) => witnesses.isAlive(uid))
  return alive.length === 0 ? undefined : `the API lists no pod of this node, and ${alive.length} live here`
}

/** A cluster restored from a backup forgets the youngest pods. */
function youngerThanTheApi(inputs: ActualInputs, gonePods: readonly PodClass[]): string | undefined {
  const newest = newestApiTime(inputs)
  if (newest === undefined) return undefined
  for (const pod of gonePods) {
    const made = [inputs.tree.get(`pods/${pod.uid}`), ...inputs.tree.children(`pods/${pod.uid}`)]
      .filter((entry) => entry !== undefined && inputs.at(entry.path).length === 0)
      .flatMap((entry) => (entry?.mtime === undefined || entry.mtime <= 0 ? [] : [entry.mtime]))
    const oldest = Math.min(...made)
    if (made.length > 0 && oldest - newest / 1000 > CLOCK_MARGIN_SECONDS) {
      return `directory pods/${pod.uid} is younger than anything that the API knows of this node (${new Date(newest).toISOString()}): the cluster may have been restored from a backup`
    }
  }
  return undefined
}

function newestApiTime({ snapshot }: ActualInputs): number | undefined {
  const { api } = snapshot
  const times = [
    api?.leaseRenewTime,
    ...(api?.node?.status?.conditions ?? []).flatMap((each) => [each.lastHeartbeatTime, each.lastTransitionTime]),
    ...(api?.pods ?? []).flatMap((pod) => [
      pod.metadata.creationTimestamp,
      pod.metadata.deletionTimestamp,
      pod.status?.startTime,
      ...(pod.status?.conditions ?? []).map((each) => each.lastTransitionTime),
    ]),
  ]
    .map((time) => Date.parse(time ?? ''))
    .filter((time) => !Number.isNaN(time))
  // In this host's clock (S28): directories bear its times.
  return times.length === 0 ? undefined : Math.max(...times) - (api?.clockSkewMs ?? 0)
}

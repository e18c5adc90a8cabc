/** Safety rules that refuse a plan as a whole (S29), or its apply (S34). The rule S1 is in refuse-identity.ts. */

import type { ActualInputs } from '../../actual/actual-inputs.ts'
import { volctl } from '../../lang/command.ts'
import { rfc3339 } from '../../lang/rfc3339.ts'
import { insecureApiHint } from '../../plan/insecure-api.ts'
import type { PlanInputs, PlanOptions, Refusal } from '../../plan/plan.ts'
import { type PodClass, type PodClasses, podListIsComplete } from './pod-classes.ts'
import type { Witnesses } from './witnesses.ts'

const CLOCK_MARGIN_SECONDS = 600

/**
 * S29: whether the API server seems to have lost or rolled back pods. Lifted by --accept-outage with the number of orphaned
 * pods.
 */
export function refuseOutage(
  inputs: ActualInputs,
  classes: PodClasses,
  witnesses: Witnesses,
  options: PlanOptions,
): Refusal | undefined {
  // S3: a list that is incomplete says of no pod that it was lost; nothing is planned then, and PodListIncomplete says why.
  if (!podListIsComplete(inputs)) return undefined
  const gonePods = classes.all.filter((pod) => pod.class === 'Gone')
  const suspicion = listsNobody(inputs, classes, witnesses) ?? youngerThanTheApi(inputs, gonePods)
  if (suspicion === undefined || options.acceptOutage === gonePods.length) return undefined
  return {
    rule: 'S29',
    code: 'OutageSuspected',
    message: suspicion,
    hint: `If ${reallyDeleted(gonePods.length)}: ${volctl('plan', '--accept-outage', `${gonePods.length}`)}`,
  }
}

function reallyDeleted(orphaned: number): string {
  if (orphaned === 0) return 'the API server has lost no pod'
  return orphaned === 1 ? 'the orphaned pod was really deleted' : `the ${orphaned} orphaned pods were really deleted`
}

/**
 * S34: an attacker on the network path could answer that pods were deleted. A plan says so in its header and goes on, since it
 * changes nothing; an apply is refused.
 */
export function refuseInsecureApi(api: PlanInputs['api'], options: PlanOptions): Refusal | undefined {
  const { server, insecure, secondLookInsecure } = api
  const why = insecure ?? secondLookInsecure
  if (why === undefined || options.acceptInsecureApi === true) return undefined
  const connection = insecure === undefined ? `${server} (with the kubelet's own credential)` : server
  return {
    rule: 'S34',
    code: 'InsecureApi',
    message:
      why === 'PlainHttp'
        ? `the connection to ${connection} is plain http: anyone on the network path could read the credential, and answer in the server's place`
        : `the connection to ${connection} is not verified (insecure-skip-tls-verify): anyone on the network path could answer in the server's place`,
    hint: insecureApiHint(),
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
  return alive.length === 0 ? undefined : `the API lists no pod of this node, but ${alive.length} still run here`
}

/** A cluster restored from a backup lacks the newest pods. */
function youngerThanTheApi(inputs: ActualInputs, gonePods: readonly PodClass[]): string | undefined {
  const newest = newestApiTime(inputs)
  if (newest === undefined) return undefined
  for (const pod of gonePods) {
    const made = [inputs.tree.get(`pods/${pod.uid}`), ...inputs.tree.children(`pods/${pod.uid}`)]
      .filter((entry) => entry !== undefined && inputs.at(entry.path).length === 0)
      .flatMap((entry) => (entry?.mtime === undefined || entry.mtime <= 0 ? [] : [entry.mtime]))
    const oldest = Math.min(...made)
    if (made.length > 0 && oldest - newest / 1000 > CLOCK_MARGIN_SECONDS) {
      return `directory pods/${pod.uid} is newer than anything that the API knows of this node (${rfc3339(newest)}): the cluster may have been restored from a backup`
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
  // Times of directories are by this host's clock (S28).
  return times.length === 0 ? undefined : Math.max(...times) - (api?.clockSkewMs ?? 0)
}

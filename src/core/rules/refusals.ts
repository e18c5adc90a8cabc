/** The safety rules that refuse a plan as a whole (S1, S29). */

import { rfc3339 } from '../base/text.ts'
import { advice, volctl } from '../messages/command.ts'
import { said } from '../messages/findings.ts'
import { canonicalNodeName, hostnamesOf, otherName, parseKubeletFlags } from '../node/kubelet/kubelet-flags.ts'
import type { PlanInputs, Refusal } from '../plan/plan.ts'
import type { ActualInputs } from '../volumes/on-disk/actual-inputs.ts'
import type { ApiSnapshot, NodeSnapshot } from '../volumes/snapshot.ts'
import type { PlanContext } from './context.ts'
import { idsAgree } from './machine.ts'
import { type PodClass, type PodClasses, podListIsComplete } from './pods/pod-classes.ts'
import type { Witnesses } from './pods/witnesses.ts'

const CLOCK_MARGIN_SECONDS = 600

/** The first is shown: what the API of another machine says of pods means nothing. */
export function refusalOf(context: PlanContext, machine: PlanInputs['machine']): Refusal | undefined {
  return wrongMachine(context, machine) ?? outage(context)
}

/** Whether the API server seems to have lost or rolled back pods. Lifted by --accept-outage with the number of orphaned pods. */
function outage({ inputs, classes, witnesses, options }: PlanContext): Refusal | undefined {
  // S3: a list that is incomplete says of no pod that it was lost; nothing is planned then, and PodListIncomplete says why.
  if (!podListIsComplete(inputs)) return undefined
  const gone = classes.gone.length
  const suspicion = listsNobody(inputs, classes, witnesses) ?? youngerThanTheApi(inputs, classes.gone)
  if (suspicion === undefined || options.acceptOutage === gone) return undefined
  return {
    rule: 'S29',
    ...suspicion,
    hint: advice`If ${reallyDeleted(gone)}: ${volctl('plan', '--accept-outage', `${gone}`)}`,
  }
}

function reallyDeleted(orphaned: number): string {
  if (orphaned === 0) return 'the API server has lost no pod'
  return orphaned === 1 ? 'the orphaned pod was really deleted' : `the ${orphaned} orphaned pods were really deleted`
}

function listsNobody({ snapshot }: ActualInputs, classes: PodClasses, witnesses: Witnesses) {
  if ((snapshot.api?.pods.length ?? 0) > 0) return undefined
  const alive = classes.all.filter(({ uid }) => witnesses.isAlive(uid))
  return alive.length === 0 ? undefined : said('OutageSuspected.noPods', { count: alive.length })
}

/** A cluster restored from a backup lacks the newest pods. */
function youngerThanTheApi(inputs: ActualInputs, gonePods: readonly PodClass[]) {
  const newest = newestApiTime(inputs)
  if (newest === undefined) return undefined
  for (const pod of gonePods) {
    const made = [inputs.tree.get(`pods/${pod.uid}`), ...inputs.tree.children(`pods/${pod.uid}`)]
      .filter((entry) => entry !== undefined && inputs.at(entry.path).length === 0)
      .flatMap((entry) => (entry?.mtime === undefined || entry.mtime <= 0 ? [] : [entry.mtime]))
    const oldest = Math.min(...made)
    if (made.length > 0 && oldest - newest / 1000 > CLOCK_MARGIN_SECONDS) {
      return said('OutageSuspected.younger', { uid: pod.uid, time: rfc3339(newest) })
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

/** The Node object must be this host's, and its name that of this host's kubelet. */
function wrongMachine({ inputs }: PlanContext, machine: PlanInputs['machine']): Refusal | undefined {
  const { api } = inputs.snapshot
  if (api === undefined) return undefined
  const name = api.node === null ? undefined : refuseOtherName(inputs)
  if (name !== undefined || (api.node !== null && machine.matches)) return name
  return { rule: 'S1', ...whyWrong(inputs.snapshot, api, machine) }
}

function whyWrong(
  snapshot: NodeSnapshot,
  { server, node }: ApiSnapshot,
  { machineID = '-', systemUUID = '-', contradictions = [] }: PlanInputs['machine'],
) {
  const { nodeName } = snapshot
  const check = 'Check --context and --node: this may be the API of another cluster'
  if (node === null) return { ...said('WrongMachine.noNode', { server, nodeName }), hint: `${check}.` }
  if (idsAgree(snapshot)) {
    const open = contradictions.filter(({ accepted }) => accepted !== true)
    const differences = open.map(({ field, node, host }) => `its ${field} is ${node}, this host's is ${host}`)
    const flags = open.flatMap(({ node }) => ['--accept-identity', node])
    const boots = open.some(({ field }) => field === 'bootID')
      ? ' A kubelet that has just started reports its boot ID a few seconds later: plan again.'
      : ''
    return {
      ...said('WrongMachine.another', { nodeName, server, differences: differences.join('; ') }),
      hint: advice`A cloned machine has the ids of its original: check --context and --node.${boots} If this is the right machine: ${volctl('plan', ...flags)}`,
    }
  }
  const info = node?.status?.nodeInfo
  const ids = { nodeMachineID: info?.machineID ?? '-', nodeSystemUUID: info?.systemUUID ?? '-', machineID, systemUUID }
  return {
    ...(node === undefined
      ? said('WrongMachine.unread', { nodeName, server })
      : said('WrongMachine.unproven', { nodeName, server, ...ids })),
    hint: `${check} with a node of the same name.`,
  }
}

/** Refuses a --node other than the name of this host's kubelet, if that name is known. */
function refuseOtherName({ snapshot }: ActualInputs): Refusal | undefined {
  const { nodeName, kubelet } = snapshot
  const flag = parseKubeletFlags(kubelet?.args ?? []).get('hostname-override')
  const own = kubelet?.nodeName ?? (flag ? canonicalNodeName(flag) : undefined)
  if (own === undefined || own === canonicalNodeName(nodeName)) return undefined
  if (kubelet?.nodeNameFrom === 'hostname') {
    // Some clouds name the nodes, with or without a domain: the hostname that the kubelet reported decides.
    if (hostnamesOf(snapshot).some((name) => firstLabel(name) === firstLabel(own))) return undefined
  }
  return otherName(nodeName, own)
}

function firstLabel(name: string): string {
  return canonicalNodeName(name).split('.')[0] ?? ''
}

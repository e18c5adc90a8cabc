/** What could not be read, or contradicts itself, and what the plan therefore does not show (S2, S3, S28). */
import { kubectl } from '../../base/command.ts'
import { formatDuration } from '../../base/duration.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import { take } from '../../base/take.ts'
import { refuseInsecureApi } from '../../plan/insecure-api.ts'
import type { ClusterContext } from '../model/cluster-context.ts'
import {
  type ClusterNode,
  type ClusterResource,
  heardAt,
  kubeletHeardAt,
  type LeaseEvidence,
  latestOf,
  serverTime,
  timeOf,
} from '../model/cluster-state.ts'
import { type ClusterFindings, ON_API } from '../model/findings.ts'

/** What is missing from the plan without each list. */
const HIDES: Readonly<Record<ClusterResource, string>> = {
  nodes: 'nothing is attached or detached, and attachments of nodes that are gone are not shown',
  pods: 'nothing is attached or detached, since a pod that is not in the list may want the volume',
  volumeattachments: 'nothing is attached or detached',
  persistentvolumes:
    'nothing is attached; attachments of PersistentVolumes that are gone, and volumes attached twice, are not shown',
  persistentvolumeclaims:
    'volumes of pods whose claim is not in the list are unknown, and hold back the detach of every volume that they may be',
  csidrivers:
    'a volume that only the word of its node shows to be free is not detached, and drivers that are gone are not shown',
  csinodes: 'nothing is attached to a node whose CSINode is not known, and drivers that are gone are not shown',
}

const MOST_OF_A_KIND = 20

export function reportReading(context: ClusterContext, findings: ClusterFindings): void {
  const { state, objects, options } = context
  const { errors, nodes } = state
  for (const list of Object.keys(HIDES) as ClusterResource[]) {
    if (objects.isWhole(list)) continue
    // Where the server failed, another credential does not help.
    const failed = errors.find((error) => error.resource === list && error.name === undefined)
    const hint =
      failed === undefined || failed.status === 403
        ? `Use a credential for which this answers yes: ${kubectl('auth', 'can-i', 'list', list, '-A')}`
        : `See what the API server answers, then plan again: ${kubectl('get', list, '-A')}`
    const text = `the list of ${list} could not be read as a whole: ${HIDES[list]}`
    findings.incomplete('ReadFailed', text, { list }, hint)
  }
  for (const { resource, namespace, name, message } of errors.slice(0, MOST_OF_A_KIND)) {
    const what = [resource, namespace, name].filter((part) => part !== undefined).join('/')
    findings.incomplete('ReadFailed', `${what} could not be read: ${message}`, { list: resource })
  }
  reportClocks(context, findings)
  if (objects.isWhole('nodes') && nodes.length === 0) {
    const hint = 'Check --context and --kubeconfig: this may be another cluster.'
    findings.incomplete('ReadFailed', 'the cluster has no node', ON_API, hint)
  }
  const refusal = refuseInsecureApi(state, options)
  if (refusal !== undefined) findings.problem('warning', 'InsecureApi', refusal.message, ON_API)
}

// Times of two clocks that are compared (S28). Everything is judged by the clock of the API server; times in objects are by the clocks of
// whoever wrote them: kubelets, the controller manager, attachers. The clock of this machine counts nowhere; nothing is said of it.

/** Beyond what the steps of a clock explain. */
const MARGIN_MS = 60_000
const MOST_NAMES = 5
const MOST_NODES = 20

function reportClocks({ state, now }: ClusterContext, findings: ClusterFindings): void {
  if (serverTime(state) === undefined) {
    const text = 'the clock of the API server is not known: everything counts as just now'
    const hint = 'Answers of an API server have a Date: look for a proxy that removes it.'
    findings.incomplete('ReadFailed', text, ON_API, hint)
    return
  }
  const { nodes, attachers, controller } = state
  const say = (text: string, about = ON_API): void => findings.problem('warning', 'ClocksApart', text, about)
  const lease: Pick<LeaseEvidence, 'renewTime' | 'writtenAt'> = controller.lease ?? {}
  const sayOf = (isManager: boolean, odd: readonly ClusterNode[], others: readonly string[], what: string): void => {
    const names = [
      ...(isManager ? ['the controller manager'] : []),
      ...odd.map(({ name }) => `node ${name}`),
      ...others,
    ]
    const about = odd.length === 0 ? ON_API : { nodes: odd.slice(0, MOST_NODES).map(({ name }) => name) }
    if (names.length > 0) say(`times of ${take(names, MOST_NAMES).join(', ')} are ${what}`, about)
  }
  const isAhead = (time: string | undefined): boolean => (timeOf(time) ?? 0) > now + MARGIN_MS
  sayOf(
    isAhead(lease.renewTime),
    nodes.filter((each) => [each.readySince, each.heartbeat, each.leaseRenewTime].some(isAhead)),
    [],
    'in the future by the clock of the API server, and count as just now',
  )
  sayOf(
    isBehind(lease),
    nodes.filter((each) => isBehind(omitUndefined({ renewTime: each.leaseRenewTime, writtenAt: each.leaseWrittenAt }))),
    attachers.filter(isBehind).map(({ name }) => `lease ${name}`),
    'behind the clock of the API server: their leases count from when the API server wrote them',
  )
  // If the API server's own clock is ahead, all leases look old to it.
  const heard = nodes.flatMap((node) => kubeletHeardAt(node) ?? [])
  const newest = timeOf(latestOf([...heard, heardAt(lease)]))
  if (heard.length > 0 && newest !== undefined && now - newest > MARGIN_MS) {
    const silent = `no kubelet has renewed its lease for ${formatDuration(now - newest)}, by the clock of the API server`
    say(`${silent}: none of them reaches it, or that clock is ahead of theirs`)
  }
}

/** A lease was written later, by the clock of the API server, than the time that its holder wrote into it. */
function isBehind({ renewTime, writtenAt }: Pick<LeaseEvidence, 'renewTime' | 'writtenAt'>): boolean {
  const [before, after] = [timeOf(renewTime), timeOf(writtenAt)]
  return before !== undefined && after !== undefined && after - before > MARGIN_MS
}

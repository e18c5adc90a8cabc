/**
 * Times of two clocks that are compared (S28). Everything is judged by the clock of the API server; times in objects are by the clocks of
 * whoever wrote them: kubelets, the controller manager, attachers. The clock of this machine counts nowhere; nothing is said of it.
 */
import { formatDuration } from '../../lang/duration.ts'
import { firstFew } from '../../lang/first-few.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import { type About, type ClusterFindings, ON_API, onNodes } from '../context/findings.ts'
import type { ClusterNode } from '../model/cluster-state.ts'
import { heardAt, kubeletHeardAt, latestOf, serverTime, timeOf } from '../model/times.ts'

/** Beyond what the steps of a clock explain. */
const MARGIN_MS = 60_000
const MOST_NAMES = 5
const MOST_NODES = 20

const COMPARE = 'Compare the clocks of the nodes and of the control plane (chronyc tracking).'

export function reportClocks(context: ClusterContext, findings: ClusterFindings): void {
  const { state } = context
  if (serverTime(state) === undefined) {
    const text = 'the clock of the API server is not known: everything counts as just now'
    findings.incomplete(
      'ReadFailed',
      text,
      ON_API,
      'Answers of an API server have a Date: look for a proxy that removes it.',
    )
    return
  }
  if (state.clockSpreadMs !== undefined) {
    const text = `the API servers behind ${state.server} have clocks that are ${formatDuration(state.clockSpreadMs)} apart: times are judged by the one that is behind`
    findings.problem(
      'warning',
      'ClocksApart',
      text,
      ON_API,
      'Compare the clocks of the control plane (chronyc tracking).',
    )
  }
  reportAhead(context, findings)
  reportBehind(context, findings)
  reportNobodyHeard(context, findings)
}

function reportAhead({ state, now }: ClusterContext, findings: ClusterFindings): void {
  const isAhead = (time: string | undefined): boolean => (timeOf(time) ?? 0) > now + MARGIN_MS
  const nodes = state.nodes.filter(({ readySince, heartbeat, leaseRenewTime }) =>
    [readySince, heartbeat, leaseRenewTime].some(isAhead),
  )
  const { lease } = state.controller
  const names = [
    ...(isAhead(lease?.renewTime) ? ['the controller manager'] : []),
    ...nodes.map(({ name }) => `node ${name}`),
  ]
  if (names.length === 0) return
  const text = `times of ${listed(names)} are in the future by the clock of the API server, and count as just now`
  findings.problem('warning', 'ClocksApart', text, aboutNodes(nodes), COMPARE)
}

/** A lease was written later, by the clock of the API server, than the time that its holder wrote into it. */
function reportBehind({ state }: ClusterContext, findings: ClusterFindings): void {
  const nodes = state.nodes.filter(({ leaseRenewTime, leaseWrittenAt }) => isBehind(leaseRenewTime, leaseWrittenAt))
  const { lease } = state.controller
  const names = [
    ...(isBehind(lease?.renewTime, lease?.writtenAt) ? ['the controller manager'] : []),
    ...nodes.map(({ name }) => `node ${name}`),
    ...state.attachers.filter((each) => isBehind(each.renewTime, each.writtenAt)).map(({ name }) => `lease ${name}`),
  ]
  if (names.length === 0) return
  const text = `times of ${listed(names)} are behind the clock of the API server: their leases count from when the API server wrote them`
  findings.problem('warning', 'ClocksApart', text, aboutNodes(nodes), COMPARE)
}

function isBehind(renewed: string | undefined, written: string | undefined): boolean {
  const [before, after] = [timeOf(renewed), timeOf(written)]
  return before !== undefined && after !== undefined && after - before > MARGIN_MS
}

/** If the API server's own clock is ahead, all leases look old to it. */
function reportNobodyHeard({ state, now }: ClusterContext, findings: ClusterFindings): void {
  const { lease } = state.controller
  const ofNodes = state.nodes.flatMap((node) => kubeletHeardAt(node) ?? [])
  const newest = timeOf(latestOf([...ofNodes, ...(lease === undefined ? [] : [heardAt(lease)])]))
  if (ofNodes.length === 0 || newest === undefined || now - newest <= MARGIN_MS) return
  const text = `no kubelet has renewed its lease for ${formatDuration(now - newest)}, by the clock of the API server: none of them reaches it, or that clock is ahead of theirs`
  findings.problem('warning', 'ClocksApart', text, ON_API, COMPARE)
}

function listed(names: readonly string[]): string {
  return firstFew(names, MOST_NAMES).join(', ')
}

function aboutNodes(nodes: readonly ClusterNode[]): About {
  return nodes.length === 0 ? ON_API : onNodes(...nodes.slice(0, MOST_NODES).map(({ name }) => name))
}

/** What the status of Nodes says of volumes, where pods and VolumeAttachments say otherwise. volctl never writes it (R331). */

import { taintOutOfService, untaintOutOfService, volctl } from '../../base/command.ts'
import { compareText } from '../../base/compare-text.ts'
import { count } from '../../base/count.ts'
import { parseCsiUniqueName } from '../../facts/actual/volume-names.ts'
import { MANAGED } from '../../kube/api/names.ts'
import {
  type ClusterContext,
  isControllerAlive,
  isHeard,
  isSettled,
  lookAtController,
  notReadyText,
  readinessOf,
} from '../model/cluster-context.ts'
import type { ClusterNode } from '../model/cluster-state.ts'
import { type ClusterFindings, refOf } from '../model/findings.ts'
import { isWanted, type Row } from '../model/rows.ts'

export function reportStatus(context: ClusterContext, findings: ClusterFindings): void {
  for (const node of context.state.nodes.toSorted((a, b) => compareText(a.name, b.name))) {
    reportTaint(context, findings, node)
    reportUnmanaged(context, findings, node)
    // S3: a pod that was not listed may want the volume, an attachment that was not listed may be there.
    if (!context.objects.isWhole('pods') || !node.managed) continue
    for (const row of context.rows.onNode(node.name)) {
      if (row.isInUse) reportInUse(context, findings, node, row)
      if (row.isConfirmed) reportConfirmed(context, findings, row)
      else reportNotConfirmed(context, findings, row)
    }
  }
}

/** The controller detaches from such a node at once, mounted or not (R731). */
function reportTaint(context: ClusterContext, findings: ClusterFindings, node: ClusterNode): void {
  const { name, outOfService } = node
  const isReady = readinessOf(context, node).ready === 'True'
  if (!outOfService || !(isReady || isHeard(context, node))) return
  findings.problem(
    'error',
    'TaintedButReady',
    `node ${name} is tainted out-of-service, but its kubelet ${isReady ? 'reports that the node is ready' : 'is still heard'}: a controller detaches its volumes even while they are mounted`,
    { nodes: [name] },
    `If the machine runs: ${untaintOutOfService(name)}`,
  )
}

function reportUnmanaged({ rows }: ClusterContext, findings: ClusterFindings, { name, managed }: ClusterNode): void {
  const { length } = rows.attachedTo(name)
  if (managed || length === 0) return
  findings.problem(
    'warning',
    'NotManaged',
    `node ${name} has no annotation ${MANAGED}; nobody detaches what is attached to it: ${count(length, 'VolumeAttachment')}`,
    { nodes: [name] },
  )
}

function isExplained({ rows }: ClusterContext, row: Row): boolean {
  const [attached] = row.attached
  return isWanted(row) || rows.mayBeOn(attached?.object ?? { node: row.node, attacher: '' }, row) !== undefined
}

/** On a node that is ready its kubelet may be about to unmount. */
function reportInUse(context: ClusterContext, findings: ClusterFindings, node: ClusterNode, row: Row): void {
  if (isExplained(context, row)) return
  const volume = refOf(row)
  const readiness = readinessOf(context, node)
  const isReady = readiness.ready === 'True'
  const [ended] = row.ended
  // The pod has just ended, and its kubelet unmounts.
  if (isReady && ended !== undefined && !isSettled(context, ended.deletedAt)) return
  findings.problem(
    'warning',
    'ReportedUnused',
    `node ${node.name} reports volume ${volume.name} in use, and no pod of the node wants it${ended === undefined ? '' : `; pod ${ended.namespace}/${ended.name} has ended`}`,
    { nodes: [node.name], volume },
    isReady
      ? `The kubelet unmounts within a minute or two. If the volume stays in use, see on node ${node.name} what keeps it there: ${volctl('plan')}`
      : node.outOfService
        ? isHeard(context, node) && !isControllerAlive(context)
          ? 'The node is tainted out-of-service, but its kubelet is still heard: what it reports in use stays attached.'
          : 'The node is tainted out-of-service: what it reports holds no detach.'
        : `The node ${notReadyText(readiness)}. Once its machine is off: ${taintOutOfService(node.name)}`,
  )
}

function reportConfirmed(context: ClusterContext, findings: ClusterFindings, row: Row): void {
  const { node, uniqueName } = row
  const about = { nodes: [node], volume: refOf(row) }
  if (parseCsiUniqueName(uniqueName) === undefined) {
    if (isExplained(context, row) || row.isInUse) return
    findings.problem(
      'warning',
      'ReportedUnused',
      `only the status of node ${node} says that volume ${uniqueName} is attached, and no pod wants it: there is no object that could be deleted`,
      about,
      isControllerAlive(context)
        ? 'The controller detaches the volume. If it does not, look at the log of kube-controller-manager.'
        : 'Let kube-controller-manager run again: only the controller writes that status.',
    )
    return
  }
  if (!context.objects.isWhole('volumeattachments') || row.attached.length > 0) return
  findings.problem(
    isExplained(context, row) ? 'warning' : 'info',
    'AttachedMismatch',
    `volumesAttached of node ${node} lists volume ${about.volume.name}, and there is no VolumeAttachment of it`,
    about,
    `The controller corrects the list once a minute. If it does not, ${lookAtController(context)}.`,
  )
}

/** The kubelet waits for volumesAttached before it mounts (C36). */
function reportNotConfirmed(context: ClusterContext, findings: ClusterFindings, row: Row): void {
  const { node, pods } = row
  for (const { object } of row.attached) {
    if (object.attached !== true || object.deletedAt !== undefined || !isSettled(context, object.createdAt)) continue
    if (!pods.some(({ createdAt }) => isSettled(context, createdAt))) continue
    const volume = refOf(row)
    findings.problem(
      'warning',
      'AttachedMismatch',
      `volume ${volume.name} is attached to node ${node} since ${object.createdAt ?? ''}, and volumesAttached of the node, for which its kubelet waits, does not list it`,
      { nodes: [node], volume, attachment: object.name },
      `Only the controller writes that list: ${lookAtController(context)}.`,
    )
  }
}

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
  const { state, rows, objects } = context
  for (const node of state.nodes.toSorted((a, b) => compareText(a.name, b.name))) {
    const { name, outOfService, managed } = node
    const isReady = readinessOf(context, node).ready === 'True'
    // The controller detaches from such a node at once, mounted or not (R731).
    if (outOfService && (isReady || isHeard(context, node))) {
      const says = isReady ? 'reports that the node is ready' : 'is still heard'
      const text = `node ${name} is tainted out-of-service, but its kubelet ${says}: a controller detaches its volumes even while they are mounted`
      const hint = `If the machine runs: ${untaintOutOfService(name)}`
      findings.problem('error', 'TaintedButReady', text, { nodes: [name] }, hint)
    }
    const { length } = rows.attachedTo(name)
    if (!managed && length > 0) {
      const text = `node ${name} has no annotation ${MANAGED}; nobody detaches what is attached to it: ${count(length, 'VolumeAttachment')}`
      findings.problem('warning', 'NotManaged', text, { nodes: [name] })
    }
    // S3: a pod that was not listed may want the volume, an attachment that was not listed may be there.
    if (objects.isWhole('pods') && managed) for (const row of rows.onNode(name)) reportRow(context, findings, node, row)
  }
}

function reportRow(context: ClusterContext, findings: ClusterFindings, node: ClusterNode, row: Row): void {
  const { uniqueName, isInUse, isConfirmed, pods, attached } = row
  const { name } = node
  const about = { nodes: [name], volume: refOf(row) }
  const [first] = attached
  const isExplained = (): boolean =>
    isWanted(row) || context.rows.mayBeOn(first?.object ?? { node: name, attacher: '' }, row) !== undefined
  const isCsi = parseCsiUniqueName(uniqueName) !== undefined
  if (isInUse && !isExplained()) reportUnused(context, findings, node, row)
  if (isConfirmed && !isCsi && !isInUse && !isExplained()) {
    const text = `only the status of node ${name} says that volume ${uniqueName} is attached, and no pod wants it: there is no object that could be deleted`
    const hint = isControllerAlive(context)
      ? 'The controller detaches the volume. If it does not, look at the log of kube-controller-manager.'
      : 'Let kube-controller-manager run again: only the controller writes that status.'
    findings.problem('warning', 'ReportedUnused', text, about, hint)
  }
  if (isConfirmed && isCsi && first === undefined && context.objects.isWhole('volumeattachments')) {
    const text = `volumesAttached of node ${name} lists volume ${about.volume.name}, and there is no VolumeAttachment of it`
    const hint = `The controller corrects the list once a minute. If it does not, ${lookAtController(context)}.`
    findings.problem(isExplained() ? 'warning' : 'info', 'AttachedMismatch', text, about, hint)
  }
  // The kubelet waits for volumesAttached before it mounts (C36).
  if (isConfirmed || !pods.some(({ createdAt }) => isSettled(context, createdAt))) return
  for (const { object } of attached) {
    if (object.attached !== true || object.deletedAt !== undefined || !isSettled(context, object.createdAt)) continue
    const text = `volume ${about.volume.name} is attached to node ${name} since ${object.createdAt}, and volumesAttached of the node, for which its kubelet waits, does not list it`
    const hint = `Only the controller writes that list: ${lookAtController(context)}.`
    findings.problem('warning', 'AttachedMismatch', text, { ...about, attachment: object.name }, hint)
  }
}

/** On a node that is ready its kubelet may be about to unmount. */
function reportUnused(context: ClusterContext, findings: ClusterFindings, node: ClusterNode, row: Row): void {
  const { name, outOfService } = node
  const volume = refOf(row)
  const readiness = readinessOf(context, node)
  const isReady = readiness.ready === 'True'
  const [ended] = row.ended
  // The pod has just ended, and its kubelet unmounts.
  if (isReady && ended !== undefined && !isSettled(context, ended.deletedAt)) return
  const last = ended === undefined ? '' : `; pod ${ended.namespace}/${ended.name} has ended`
  const stays = isHeard(context, node) && !isControllerAlive(context)
  findings.problem(
    'warning',
    'ReportedUnused',
    `node ${name} reports volume ${volume.name} in use, and no pod of the node wants it${last}`,
    { nodes: [name], volume },
    isReady
      ? `The kubelet unmounts within a minute or two. If the volume stays in use, see on node ${name} what keeps it there: ${volctl('plan')}`
      : outOfService
        ? `The node is tainted out-of-service${stays ? ', but its kubelet is still heard: what it reports in use stays attached' : ': what it reports holds no detach'}.`
        : `The node ${notReadyText(readiness)}. Once its machine is off: ${taintOutOfService(name)}`,
  )
}

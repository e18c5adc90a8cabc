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

export function reportStatus(context: ClusterContext, findings: ClusterFindings): void {
  for (const node of context.state.nodes.toSorted((a, b) => compareText(a.name, b.name))) {
    reportTaint(context, findings, node)
    reportUnmanaged(context, findings, node)
    // S3: a pod that was not listed may want the volume, an attachment that was not listed may be there.
    if (!context.objects.isWhole('pods') || !node.managed) continue
    for (const uniqueName of context.actual.inUseOn(node.name)) reportInUse(context, findings, node, uniqueName)
    for (const uniqueName of context.actual.confirmedOn(node.name)) reportConfirmed(context, findings, node, uniqueName)
    reportNotConfirmed(context, findings, node)
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

function reportUnmanaged({ actual }: ClusterContext, findings: ClusterFindings, { name, managed }: ClusterNode): void {
  const { length } = actual.onNode(name)
  if (managed || length === 0) return
  findings.problem(
    'warning',
    'NotManaged',
    `node ${name} has no annotation ${MANAGED}; nobody detaches what is attached to it: ${count(length, 'VolumeAttachment')}`,
    { nodes: [name] },
  )
}

function isExplained({ desired, actual }: ClusterContext, node: string, uniqueName: string): boolean {
  if (desired.on(node, uniqueName) !== undefined) return true
  const [attached] = actual.on(node, uniqueName)
  const { attacher: driver = '', persistentVolume } = attached?.object ?? {}
  return desired.mayBeOn(node, { uniqueName, driver, persistentVolume }) !== undefined
}

/** On a node that is ready its kubelet may be about to unmount. */
function reportInUse(context: ClusterContext, findings: ClusterFindings, node: ClusterNode, uniqueName: string): void {
  if (isExplained(context, node.name, uniqueName)) return
  const volume = refOf(uniqueName, context.known.get(uniqueName))
  const readiness = readinessOf(context, node)
  const isReady = readiness.ready === 'True'
  const [ended] = context.desired.endedOn(node.name, uniqueName)
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

function reportConfirmed(
  context: ClusterContext,
  findings: ClusterFindings,
  node: ClusterNode,
  uniqueName: string,
): void {
  const about = { nodes: [node.name], volume: refOf(uniqueName, context.known.get(uniqueName)) }
  if (parseCsiUniqueName(uniqueName) === undefined) {
    if (isExplained(context, node.name, uniqueName) || context.actual.isInUse(node.name, uniqueName)) return
    findings.problem(
      'warning',
      'ReportedUnused',
      `only the status of node ${node.name} says that volume ${uniqueName} is attached, and no pod wants it: there is no object that could be deleted`,
      about,
      isControllerAlive(context)
        ? 'The controller detaches the volume. If it does not, look at the log of kube-controller-manager.'
        : 'Let kube-controller-manager run again: only the controller writes that status.',
    )
    return
  }
  if (!context.objects.isWhole('volumeattachments') || context.actual.on(node.name, uniqueName).length > 0) return
  const isWanted = isExplained(context, node.name, uniqueName)
  findings.problem(
    isWanted ? 'warning' : 'info',
    'AttachedMismatch',
    `volumesAttached of node ${node.name} lists volume ${about.volume.name}, and there is no VolumeAttachment of it`,
    about,
    `The controller corrects the list once a minute. If it does not, ${lookAtController(context)}.`,
  )
}

/** The kubelet waits for volumesAttached before it mounts (C36). */
function reportNotConfirmed(context: ClusterContext, findings: ClusterFindings, { name }: ClusterNode): void {
  for (const { object, uniqueName } of context.actual.onNode(name)) {
    if (uniqueName === undefined || object.attached !== true || object.deletedAt !== undefined) continue
    const pods = context.desired.on(name, uniqueName)?.pods ?? []
    const isNew = !isSettled(context, object.createdAt) || pods.every(({ createdAt }) => !isSettled(context, createdAt))
    if (pods.length === 0 || isNew || context.actual.isConfirmed(name, uniqueName)) continue
    const volume = refOf(uniqueName, context.known.get(uniqueName))
    findings.problem(
      'warning',
      'AttachedMismatch',
      `volume ${volume.name} is attached to node ${name} since ${object.createdAt ?? ''}, and volumesAttached of the node, for which its kubelet waits, does not list it`,
      { nodes: [name], volume, attachment: object.name },
      `Only the controller writes that list: ${lookAtController(context)}.`,
    )
  }
}

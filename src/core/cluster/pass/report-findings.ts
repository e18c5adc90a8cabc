/** What no controller reports. */

import { compareText, count } from '../../base/text.ts'
import { MANAGED, namespacedName } from '../../kube/api/names.ts'
import { nextOf } from '../../messages/codes.ts'
import {
  advice,
  deletePod,
  kubectl,
  lookAtNodePod,
  taintOutOfService,
  untaintOutOfService,
  volctlThere,
} from '../../messages/command.ts'
import { said, saidOfAny } from '../../messages/findings.ts'
import { refuseInsecureApi } from '../../plan/insecure-api.ts'
import { parseCsiUniqueName } from '../../volumes/volume-names.ts'
import { type ClusterContext, notReadyText } from '../model/cluster-context.ts'
import {
  ATTACH_LISTS,
  type ClusterNode,
  type ClusterResource,
  DETACH_LISTS,
  serverTime,
} from '../model/cluster-state.ts'
import { attachedRef, ON_API, ofPod } from '../model/findings.ts'
import { isWanted, type Row } from '../model/rows.ts'
import { volumeRef } from '../model/volumes.ts'
import { reportAttachments, reportMultiAttach, reportPods } from './report-attachments.ts'

export function reportFindings(context: ClusterContext): void {
  reportMultiAttach(context)
  reportReading(context)
  reportDrivers(context)
  reportAttachments(context)
  reportStatus(context)
  reportLostPods(context)
  // Last: why a pod waits is what the others have said of its volume.
  reportPods(context)
}

/** Drivers that are gone, external attachers that do not run (N59), and nodes that lack the driver of what they have. */
function reportDrivers(context: ClusterContext): void {
  const { rows } = context
  for (const [driver, attached] of Map.groupBy(rows.attached, ({ object }) => object.attacher)) {
    // Without anything that waits for it, a stale lease may be one of an attacher that does not elect a leader any more.
    const pending = attached.filter(({ object }) => object.attached !== true || object.deletedAt !== undefined).length
    const silent = context.silentAttacher(driver)
    if (context.isDriverGone(driver)) {
      context.findings.problem(
        'warning',
        said('NobodyDetaches.driver', { driver, volumeAttachments: count(attached.length, 'VolumeAttachment') }),
        { driver },
        nextOf('DriverRemoved'),
      )
    } else if (silent !== undefined && pending > 0) {
      const waits = `${count(pending, 'VolumeAttachment')} ${pending === 1 ? 'waits' : 'wait'} for it`
      context.findings.problem(
        'error',
        said('AttacherSilent', { driver, name: silent.name, renewTime: silent.renewTime ?? '', waits }),
        { driver },
      )
    }
    for (const [name, there] of Map.groupBy(attached, ({ object }) => object.node)) {
      const node = context.node(name)
      const first = there.find(({ object }) => object.attached)
      if (first === undefined || node?.ready !== 'True' || !lacksDriver(node, driver)) continue
      // Without its driver a kubelet unmounts nothing, and what it has in use is not detached.
      const volume = attachedRef(first, rows)
      const more = there.length > 1 ? ` and ${there.length - 1} more of it` : ''
      const about = { driver, nodes: [name], volume, attachment: first.object.name }
      context.findings.problem(
        'warning',
        said('DriverUnavailable.notOnNodeWith', { driver, node: name, volume: volume.name, more }),
        about,
        lookAtNodePod(name),
      )
    }
  }
}

function lacksDriver({ csi }: ClusterNode, driver: string): boolean {
  return csi.state === 'known' && !csi.drivers?.some(({ name }) => name === driver)
}

/** Pods of nodes that do not exist. */
function reportLostPods({ state, objects, findings }: ClusterContext): void {
  for (const pod of state.pods) {
    if (pod.node === undefined || pod.terminated || objects.node(pod.node).state !== 'Absent') continue
    findings.problem(
      'warning',
      said('NodeMissing.pod', { pod: namespacedName(pod), node: pod.node }),
      ofPod(pod),
      advice`Once the machine is off: ${deletePod(pod, '--force')}`,
    )
  }
}

// What the status of Nodes says of volumes, where pods and VolumeAttachments say otherwise. volctl never writes it (R331).

function reportStatus(context: ClusterContext): void {
  const { state, rows, objects } = context
  for (const node of state.nodes.toSorted((a, b) => compareText(a.name, b.name))) {
    const { name, outOfService, managed } = node
    const isReady = context.isReady(node)
    // The controller detaches from such a node at once, mounted or not (R731).
    if (outOfService && (isReady || context.isHeard(node))) {
      const says = isReady ? 'reports that the node is ready' : 'is still heard'
      const hint = advice`If the machine runs: ${untaintOutOfService(name)}`
      context.findings.problem('error', said('TaintedButReady.detaches', { name, says }), { nodes: [name] }, hint)
    }
    const { length } = rows.attachedTo.of(name)
    if (!managed && length > 0) {
      context.findings.problem(
        'warning',
        said('NotManaged.node', { name, annotation: MANAGED, volumeAttachments: count(length, 'VolumeAttachment') }),
        { nodes: [name] },
      )
    }
    // S3: a pod that was not listed may want the volume, an attachment that was not listed may be there.
    if (objects.isWhole('pods') && managed) for (const row of rows.onNode(name)) reportRow(context, node, row)
  }
}

function reportRow(context: ClusterContext, node: ClusterNode, row: Row): void {
  const { uniqueName, isInUse, isConfirmed, pods, attached } = row
  const { name } = node
  const about = { nodes: [name], volume: volumeRef(row.volume) }
  const [first] = attached
  const isExplained = (): boolean =>
    isWanted(row) || context.rows.mayBeOn(first?.object ?? { node: name, attacher: '' }, row) !== undefined
  const isCsi = parseCsiUniqueName(uniqueName) !== undefined
  if (isInUse && !isExplained()) reportUnused(context, node, row)
  const hint = `Only the controller corrects that, once a minute. If it does not, ${context.lookAtController}.`
  if (isConfirmed && !isCsi && !isInUse && !isExplained())
    context.findings.problem('warning', said('ReportedUnused.attached', { node: name, uniqueName }), about, hint)
  if (isConfirmed && isCsi && first === undefined && context.objects.isWhole('volumeattachments')) {
    context.findings.problem(
      isExplained() ? 'warning' : 'info',
      said('AttachedMismatch.noAttachment', { node: name, volume: about.volume.name }),
      about,
      hint,
    )
  }
  // The kubelet waits for volumesAttached before it mounts (C36).
  if (isConfirmed || !pods.some(({ createdAt }) => context.isSettled(createdAt))) return
  for (const { object } of attached) {
    if (object.attached !== true || object.deletedAt !== undefined || !context.isSettled(object.createdAt)) continue
    context.findings.problem(
      'warning',
      said('AttachedMismatch.notListed', { volume: about.volume.name, node: name, createdAt: object.createdAt }),
      { ...about, attachment: object.name },
      hint,
    )
  }
}

/** On a node that is ready its kubelet may be about to unmount. */
function reportUnused(context: ClusterContext, node: ClusterNode, row: Row): void {
  const { name, outOfService } = node
  const volume = volumeRef(row.volume)
  const isReady = context.isReady(node)
  const [ended] = row.ended
  // The pod has just ended, and its kubelet unmounts.
  if (isReady && ended !== undefined && !context.isSettled(ended.deletedAt)) return
  const last = ended === undefined ? '' : `; pod ${namespacedName(ended)} has ended`
  const stays = context.isHeard(node) && !context.isControllerAlive
  context.findings.problem(
    'warning',
    said('ReportedUnused.inUse', { node: name, volume: volume.name, last }),
    { nodes: [name], volume },
    isReady && volume.driver !== undefined && lacksDriver(node, volume.driver)
      ? `CSI driver ${volume.driver} is not registered there, without which the kubelet unmounts nothing.`
      : isReady
        ? advice`The kubelet unmounts within a minute or two. If the volume stays in use, see on node ${name} what keeps it there: ${volctlThere('plan')}`
        : outOfService
          ? `The node is tainted out-of-service${stays ? ', but its kubelet is still heard: what it reports in use stays attached' : ': what it reports holds no detach'}.`
          : advice`The node ${notReadyText(context.readinessOf(node))}. Once its machine is off: ${taintOutOfService(name)}`,
  )
}

// What could not be read, or contradicts itself, and what the plan therefore does not show (S2, S3, S28).

const MOST_OF_A_KIND = 20

function reportReading(context: ClusterContext): void {
  const { state, objects, options } = context
  const { errors, nodes } = state
  for (const list of Object.keys(state.lists).toSorted(compareText) as ClusterResource[]) {
    if (objects.isWhole(list)) continue
    // Where the server failed, another credential does not help.
    const failed = errors.find((error) => error.resource === list && error.name === undefined)
    const hint =
      failed === undefined || failed.status === 403
        ? advice`Use a credential for which this answers yes: ${kubectl('auth', 'can-i', 'list', list, '-A')}`
        : advice`See what the API server answers, then plan again: ${kubectl('get', list, '-A')}`
    const undone = DETACH_LISTS.includes(list) ? 'attached or detached' : ATTACH_LISTS.includes(list) ? 'attached' : ''
    context.findings.incomplete(
      said('ReadFailed.list', { list, undone: undone || 'done that rests on it' }),
      { list },
      hint,
    )
  }
  for (const { resource, namespace, name, message } of errors.slice(0, MOST_OF_A_KIND)) {
    const what = [resource, namespace, name].filter((part) => part !== undefined).join('/')
    context.findings.incomplete(saidOfAny('ReadFailed', 'unread', { object: what, why: message }), { list: resource })
  }
  if (serverTime(state) === undefined) {
    const hint = 'Answers of an API server have a Date: look for a proxy that removes it.'
    context.findings.incomplete(said('ReadFailed.clock'), ON_API, hint)
  }
  if (objects.isWhole('nodes') && nodes.length === 0) {
    const hint = 'Check --context and --kubeconfig: this may be another cluster.'
    context.findings.incomplete(said('ReadFailed.noNode'), ON_API, hint)
  }
  const refusal = refuseInsecureApi(state, options)
  if (refusal !== undefined) context.findings.problem('warning', refusal, ON_API)
}

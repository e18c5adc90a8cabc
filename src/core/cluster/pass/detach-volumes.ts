/**
 * Detach, which comes before attach: every VolumeAttachment of a volume that no pod of its node wants (R725, R731).
 *
 * The controller first takes a volume out of volumesAttached to stop new mounts. volctl cannot: an apply looks at the
 * Node and the pods again right before it deletes, with uid and resourceVersion as preconditions, and looks once more after.
 */

import { rfc3339 } from '../../base/text.ts'
import { namespacedName } from '../../kube/api/names.ts'
import { nextOf, type Reason } from '../../messages/codes.ts'
import {
  type Advice,
  advice,
  deletePod,
  describeAttachment,
  type Hint,
  kubectl,
  lookAtNode,
  planNodeGone,
  taintOutOfService,
  untaintOutOfService,
  volctlThere,
} from '../../messages/command.ts'
import { type Finding, said } from '../../messages/findings.ts'
import type { DetachException } from '../../plan/cluster-plan.ts'
import type { Wait } from '../../plan/draft.ts'
import { attachabilityOf } from '../../volumes/csi.ts'
import type { Blocked } from '../../volumes/finding.ts'
import type { ClusterContext } from '../model/cluster-context.ts'
import { type ClusterAttachment, type ClusterNode, DETACH_LISTS, newestOf, timeOf } from '../model/cluster-state.ts'
import { attachedRef, type ClusterDraft, forbidden, heldBy, podRef } from '../model/findings.ts'
import { type Attached, hasCaret, isForeign, isWanted, type Row } from '../model/rows.ts'

export function detachVolumes(context: ClusterContext): void {
  if (!DETACH_LISTS.every((list) => context.objects.isWhole(list))) return
  for (const attached of context.rows.attached) detachVolume(context, attached)
}

function detachVolume(context: ClusterContext, attached: Attached): void {
  const { object, row, unclear, persistentVolume } = attached
  // What contradicts itself, or cannot be read, is reported, and never deleted.
  if (unclear !== undefined || persistentVolume === 'Unknown' || isWanted(row)) return
  const verdict = judge(context, attached)
  if (verdict === undefined) return
  const volume = attachedRef(attached, context.rows)
  const pods = (row?.ended ?? []).map(podRef)
  if ('wait' in verdict) {
    const { wait, rule } = verdict
    context.findings.wait('DetachVolume', wait, rule, { node: object.node, pods, volume, attachment: object.name })
    return
  }
  const { blocked, exception, controllerWould, ...decision } = verdict
  const isOff = exception && `that the machine of node ${object.node} is off, or cannot reach the storage any more`
  const node = context.node(object.node)
  context.findings.add({
    kind: 'DetachVolume',
    ...decision,
    makeSure: isOff,
    controllerWould,
    ...{ node: object.node, pods, volume, paths: [] },
    steps: [{ op: 'deleteVolumeAttachment', target: `volumeattachments/${object.name}` }],
    after: [],
    blocked: blocked ?? obstacleTo(context, attached) ?? forbidden(context.state, 'delete'),
    attachment: { name: object.name, uid: object.uid, resourceVersion: object.resourceVersion },
    basis: {
      node: node && { uid: node.uid, resourceVersion: node.resourceVersion },
      inUse: volume.inUse === true,
      exception,
    },
  })
}

/** It waits, or it is an operation. */
type Verdict = { readonly wait: Wait; readonly rule: string } | Decision

type Decision = Finding<Reason> &
  Pick<ClusterDraft, 'rule' | 'controllerWould'> & {
    readonly blocked?: Blocked
    readonly exception?: DetachException
  }

/** All Nodes are listed: one that is not known does not exist. */
function judge(context: ClusterContext, attached: Attached): Verdict | undefined {
  const { object } = attached
  const node = context.node(object.node)
  if (object.deletedAt !== undefined) return beingDeleted(context, attached)
  const isGiven = context.isGivenAsGone(object.node)
  // What somebody else has made neither the controller nor volctl detaches: a note says so. Unless a person says that the machine is
  // off: there is no use of theirs then that could end.
  const isGivenUp = isGiven && !context.isReady(node)
  if (node !== undefined && (!node.managed || (isForeign(object) && !isGivenUp))) return undefined
  const never = neverDetached(context, attached)
  const isGone = node === undefined && isGiven
  if (context.isControllerAlive && never === undefined && !isGone) return leftToController(context, attached, node)
  if (!isGone && ![object, node ?? object].every(({ createdAt }) => context.isSettled(createdAt))) {
    return waitFor(said('Settling.attachment', { name: object.name }), 'S11')
  }
  return node === undefined ? fromMissingNode(context, attached, never) : fromNode(context, attached, node, never)
}

/** R735: the clock of the controller starts when it first sees a volume unwanted, and not when the node falls silent. */
export const LATEST = 'at the latest six minutes after it first saw that no pod wants the volume there'

function waitFor(finding: Finding<Wait['code']>, rule: string, hint?: Hint, until?: string): Verdict {
  return { wait: { ...finding, hint, until }, rule }
}

/** @param taint another command that does, for a node that exists */
function mayWrite(node: string, taint?: Advice): Blocked {
  return {
    ...said('MachineMayWrite.node', { node }),
    hint: advice`Make sure that the machine is off; then${taint === undefined ? ':' : advice` run ${taint} or`} ${planNodeGone(node)}`.alike(
      'make sure that the machine is off',
    ),
  }
}

/** By a pod of the node with a volume that could not be resolved (S4). */
function mayBeInUse({ rows }: ClusterContext, { object, row }: Attached): Blocked | undefined {
  const held = rows.mayBeOn(object, row)
  if (held === undefined) return undefined
  const { pod, cause, message } = held
  return {
    ...said('MayBeInUse.onNode', { pod: namespacedName(pod), node: object.node, message }),
    hint:
      cause === 'Unknown' ? undefined : advice`The volume stays attached until the pod has ended: ${deletePod(pod)}`,
  }
}

/** Why the controller never detaches it: a message begins with that. */
type Never = Finding<Reason> | undefined

/**
 * What the controller never detaches, though it lives: only that is an operation beside it (R834). What volumesAttached of the Node
 * lists the controller knows, even after a restart (R717): it forgets only what stands in a VolumeAttachment alone (R718).
 */
function neverDetached(context: ClusterContext, attached: Attached): Never {
  const { object, row, persistentVolume, isNamedRight } = attached
  if (hasCaret(attached)) return said('HandleWithCaret')
  if (isNamedRight === false) return said('AttachmentNameWrong')
  if (row?.isConfirmed) return undefined
  if (persistentVolume === 'Absent') return said('VolumeDeleted')
  if (persistentVolume === 'None') return said('InlineNotWanted')
  return context.isDriverGone(object.attacher) ? said('DriverRemoved') : undefined
}

/** While the controller lives, what it is going to do. */
function leftToController(context: ClusterContext, { object, row }: Attached, node: ClusterNode | undefined): Verdict {
  if (node === undefined) {
    return waitFor(
      said('ControllerActs.detaches', { node: object.node, latest: LATEST }),
      'R734',
      advice`If the attachment stays: make sure that the machine is off; then: ${planNodeGone(object.node)}`.alike(),
    )
  }
  const args = { node: object.node }
  if (row?.isInUse && !node.outOfService) {
    const wait =
      node.ready === 'True'
        ? said('ControllerActs.onceUnused', args)
        : said('ControllerActs.later', { ...args, latest: LATEST })
    return waitFor(wait, 'R731', inUseHint(context, node))
  }
  const wait = row?.isInUse ? said('ControllerActs.tainted', args) : said('ControllerActs.next', args)
  const hint = advice`If nothing happens, look at the log of kube-controller-manager, and at the attachment: ${describeAttachment(object.name)}`
  return waitFor(wait, 'R731', hint)
}

/** What holds back an operation that the table allows. */
function obstacleTo(context: ClusterContext, attached: Attached): Blocked | undefined {
  const { object, row } = attached
  const { name } = object
  const held = mayBeInUse(context, attached)
  // Neither pods nor kubelets, the only witnesses of a volume's use, know of the use for which somebody has created it.
  if (held !== undefined || row !== undefined || !isForeign(object)) return held
  return {
    ...said('AttachmentUnclear.name', { name }),
    hint: advice`Look at the attachment: ${describeAttachment(name)}`,
  }
}

/**
 * Attachments of a node whose object was deleted.
 * R734: for the controller the volume of a deleted Node is safe to detach. Its machine may still write, as that of a node that is
 * lost: silence shows only that its kubelet does not run. A person says that it does not (--node-gone).
 */
function fromMissingNode(context: ClusterContext, { object }: Attached, never: Never): Verdict {
  const { node } = object
  return {
    ...after(never, said('NodeDeleted', { node })),
    rule: 'R734',
    exception: 'NodeGone',
    blocked: machineObstacle(context, node),
  }
}

/** What is never detached has that as its reason; the message says both. */
function after(never: Never, why: Finding<Reason>): Finding<Reason> {
  return never === undefined ? why : { ...why, code: never.code, message: `${never.message}; ${why.message}` }
}

/**
 * A person's word does not stand against what is heard just now, of a node that was deleted as of one that exists. Where the controllers
 * are dead its lease outlives it, which shows when its kubelet was last heard.
 */
function machineObstacle(context: ClusterContext, node: string): Blocked | undefined {
  const lease = context.state.lostNodes?.find(({ name }) => name === node)
  if (!context.isHeard({ name: node, ready: 'Unknown', ...lease }))
    return context.isGivenAsGone(node) ? undefined : mayWrite(node)
  return {
    ...said('MachineMayWrite.heard', { node }),
    hint: advice`Turn the machine off; once its kubelet has been silent for a minute: ${planNodeGone(node)}`.alike(
      'turn the machine off',
    ),
  }
}

/**
 * Attachments that are being deleted: their attacher detaches the volume, and takes its finalizer off. If its driver is gone nobody does,
 * and volctl does not either: the storage system may still have the volume attached (N59, R834).
 */
function beingDeleted(context: ClusterContext, attached: Attached): Verdict {
  const { name, attacher, finalizers, detachError } = attached.object
  const error = detachError === undefined ? '' : `; the last attempt failed: ${detachError.message}`
  const gone = context.isDriverGone(attacher) ? `; its driver ${attacher} is gone` : ''
  return waitFor(
    said('AttachmentDeleting.stuck', { name, heldBy: heldBy(finalizers), error, gone }),
    'N59',
    gone === '' ? context.lookAtWhoDetaches(name, attacher) : nextOf('DriverRemoved'),
  )
}

/** What follows from each row of the controller's table (R731), for a node that exists. */
function fromNode(context: ClusterContext, attached: Attached, node: ClusterNode, never: Never): Verdict {
  const { object, row } = attached
  const { name } = node
  const { is, readiness, since } = detachRow(context, node, row)
  const decided = (why: Finding<Reason>, more: Partial<Decision>): Verdict => ({
    ...after(never, why),
    rule: 'R731',
    ...more,
  })
  switch (is) {
    case 'NotInUse':
      return decided(said('NotWanted.notInUse', { node: name }), {
        blocked: useNotReported(context, object),
      })
    case 'OutOfService':
      return row?.isInUse
        ? decided(said('OutOfService.inUse', { node: name }), { exception: 'OutOfService' })
        : decided(said('OutOfService.unused', { node: name }), {})
    case 'TaintedButReady':
      return decided(said('NotWanted.onNode', { node: name }), {
        blocked: {
          ...said('TaintedButReady.node', {
            name,
            says:
              readiness.ready === 'True'
                ? 'reports that the node is ready'
                : 'is still heard, and reports the volume in use',
          }),
          hint: advice`If the machine runs: ${untaintOutOfService(name)}; if it is off, once its kubelet has been silent for a minute: ${planNodeGone(name)}`.alike(),
        },
        controllerWould: 'detach the volume, in use or not, because of the taint',
      })
    case 'InUse': {
      const held = mayBeInUse(context, attached)
      const why = held ? `${held.message}; the node` : `no pod wants the volume on node ${name}, which is ready and`
      const hint = held ? held.hint : inUseHint(context, node)
      return waitFor(said('StillInUse.reported', { why }), 'R739', hint)
    }
    case 'SilentTooShort':
      return waitFor(
        said('StillInUse.heard', { name }),
        'R731',
        inUseHint(context, node),
        rfc3339((timeOf(since) ?? 0) + MAX_WAIT_FOR_UNMOUNT_MS),
      )
    case 'NodeLost':
      return decided(said(readiness.isStale ? 'NodeLost.silent' : 'NodeLost.notReady', { node: name }), {
        exception: 'NodeLost',
        blocked: context.isGivenAsGone(name) ? undefined : mayWrite(name, taintOutOfService(name)),
        controllerWould: 'detach the volume by force now, whether its machine still writes or not',
      })
    case 'NodeUnknown':
      return waitFor(
        said('NodeUnknown.ready', { name }),
        'R731',
        advice`Look at the node (${kubectl('describe', 'node', name)}), and start its kubelet. Once its machine is gone for good: ${kubectl('delete', 'node', name)}; then: ${planNodeGone(name)}`.alike(),
      )
  }
}

/** Why a node is not ready comes first. */
function inUseHint(context: ClusterContext, node: ClusterNode): Advice {
  return context.isReady(node)
    ? advice`If the volume stays in use, see on node ${node.name} what keeps it there: ${volctlThere('plan')}`
    : lookAtNode(node.name)
}

/** A kubelet reports only volumes in use that it takes for attachable (N62): its silence about another driver's shows nothing. */
function useNotReported({ objects }: ClusterContext, object: ClusterAttachment): Blocked | undefined {
  const { attacher: driver, node, name } = object
  const attachability = attachabilityOf(driver, objects)
  if (attachability === 'attachable') return undefined
  const why =
    attachability === 'notAttachable'
      ? `driver ${driver} needs no attachment: no`
      : `the CSIDriver of driver ${driver} was not read: perhaps no`
  return {
    ...said('UseNotReported', { why }),
    hint: advice`See on node ${node} that the volume is not mounted there: ${volctlThere('status')}; then: ${kubectl('delete', 'volumeattachment', name)}`,
  }
}

// The row of the controller's table by which a volume that no pod wants is detached from a node that exists, or is not (R731).

/** R725: how long the kubelet of a node that is not ready has to unmount. */
const MAX_WAIT_FOR_UNMOUNT_MS = 6 * 60_000

/** The row of R731 for a volume on a node that exists. Without its name nothing shows that it is in use. */
export function detachRow(context: ClusterContext, node: ClusterNode, row: Row | undefined) {
  const readiness = context.readinessOf(node)
  const { ready } = readiness
  const { heartbeat, leaseRenewTime, leaseWrittenAt = leaseRenewTime } = node
  // R735: the controller's clock starts when it first sees the volume unwanted, in its memory. What the API shows instead: since when the
  // node is not ready, its kubelet's last heartbeat and lease, and the deletion of pods with the volume. The newest counts; without Ready's
  // transition nothing is known.
  const signs = [heartbeat, leaseWrittenAt, ...(row?.ended ?? []).map(({ deletedAt }) => deletedAt)]
  const since = newestOf([readiness.since, ...signs.filter((sign) => sign !== undefined)])
  const find = () => {
    // Ready is missing, or none of its three values: nothing is detached.
    if (ready !== 'True' && ready !== 'False' && ready !== 'Unknown') return 'NodeUnknown'
    if (node.outOfService) {
      // Ready, or in use by the word of a kubelet that is still heard: one of the two is wrong. Otherwise detached, in use or not.
      return ready === 'True' || (row?.isInUse && context.isHeard(node)) ? 'TaintedButReady' : 'OutOfService'
    }
    // Detached, and only after a fresh look at the Node (R734). R733 is never copied.
    if (!row?.isInUse) return 'NotInUse'
    // The kubelet has to unmount first.
    if (ready === 'True') return 'InUse'
    const silent = timeOf(since)
    // Nobody knows since when: nothing is detached.
    if (silent === undefined) return 'NodeUnknown'
    // After more than six minutes the controller detaches by force.
    return context.now - silent > MAX_WAIT_FOR_UNMOUNT_MS ? 'NodeLost' : 'SilentTooShort'
  }
  return { is: find(), readiness, since } as const
}

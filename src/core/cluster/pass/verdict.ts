/** What is decided about one attachment, and the words for it; whose work its detach is; and what the controller's table says of its node. */

import {
  deletePod,
  kubectl,
  lookAtNode,
  planNodeGone,
  taintOutOfService,
  untaintOutOfService,
  volctl,
} from '../../base/command.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import { rfc3339 } from '../../base/rfc3339.ts'
import { parseCsiUniqueName } from '../../facts/actual/volume-names.ts'
import type { Reason } from '../../messages/codes.ts'
import type { DetachException, Evidence } from '../../plan/cluster-plan.ts'
import { advised, type Hint, type Wait } from '../../plan/draft.ts'
import type { Blocked } from '../../plan/plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import type { ClusterContext, Readiness } from '../model/cluster-context.ts'
import { type ClusterAttachment, type ClusterNode, fact, newestOf, timeOf } from '../model/cluster-state.ts'
import { blockedBy } from '../model/findings.ts'
import type { Attached, Row } from '../model/rows.ts'

/** It waits, or it is an operation. */
export type Verdict = { readonly wait: Wait; readonly rule: string } | Decision

interface Decision {
  readonly reason: Reason
  readonly message: string
  readonly rule: string
  readonly evidence: readonly Evidence[]
  readonly blocked?: Blocked | undefined
  readonly exception?: DetachException | undefined
  readonly makeSure?: string | undefined
  readonly controllerWould?: string | undefined
}

/** R735: the clock of the controller starts when it first sees a volume unwanted, and not when the node falls silent. */
export const LATEST = 'at the latest six minutes after it first saw that no pod wants the volume there'

export function waitFor(code: Wait['code'], rule: string, message: string, hint?: Hint, until?: string): Verdict {
  return { wait: { code, message, ...advised(hint), ...omitUndefined({ until }) }, rule }
}

/** The beginning of a message, for what the controller never does. */
export function because(never: Reason | undefined): string {
  return (never && BECAUSE[never]) ?? ''
}

const BECAUSE: Readonly<Partial<Record<Reason, string>>> = {
  VolumeDeleted: 'its PersistentVolume does not exist any more; ',
  InlineNotWanted: 'the attachment is of a volume in the spec of a pod that is gone; ',
  HandleWithCaret: 'the controller cannot detach a volume with ^ in its handle; ',
  AttachmentNameWrong: 'the controller does not know an attachment of this name; ',
  DriverRemoved: 'its driver is gone; ',
}

export function machineIsOff(node: string): string {
  return `that the machine of node ${node} is off, or cannot reach the storage any more`
}

/** @param taint another command that does, for a node that exists */
export function mayWrite(node: string, taint?: string): Blocked {
  return blockedBy('MachineMayWrite', `the machine of node ${node} may still run and write to the volume`, [
    `Make sure that the machine is off; then${taint === undefined ? ':' : ` run ${taint} or`}`,
    planNodeGone(node),
    'make sure that the machine is off',
  ])
}

/** By a pod of the node with a volume that could not be resolved (S4). */
export function mayBeInUse({ rows }: ClusterContext, { object, row }: Attached): Blocked | undefined {
  const held = rows.mayBeOn(object, row)
  if (held === undefined) return undefined
  const { pod, cause, message } = held
  return blockedBy(
    'MayBeInUse',
    `pod ${namespacedName(pod)} on node ${object.node} has a volume that may be this one: ${message}`,
    cause === 'Unknown' ? undefined : `The volume stays attached until the pod has ended: ${deletePod(pod)}`,
  )
}

export function settling({ object }: Attached): Verdict {
  const message = `VolumeAttachment ${object.name}, or its node, is younger than the settle time: its pod may not be in every list yet`
  return waitFor('Settling', 'S11', message, 'Plan again after the settle time, or give a shorter --settle.')
}

// What the attach/detach controller never does unasked, though it lives (R834): only that is an operation beside it.

/**
 * Why the controller does not detach it; undefined: it does. What volumesAttached of the Node lists the controller knows, even
 * after a restart (R717): it forgets only what stands in a VolumeAttachment alone (R718).
 */
export function neverDetached(context: ClusterContext, attached: Attached): Reason | undefined {
  const { object, row, persistentVolume, isNamedRight } = attached
  if (hasCaret(attached)) return 'HandleWithCaret'
  if (isNamedRight === false) return 'AttachmentNameWrong'
  if (row?.isConfirmed) return undefined
  if (persistentVolume === 'absent') return 'VolumeDeleted'
  if (persistentVolume === 'none') return 'InlineNotWanted'
  return context.isDriverGone(object.attacher) ? 'DriverRemoved' : undefined
}

/**
 * C33: not by a name that Kubernetes made. Somebody has created it for a use which neither pods nor kubelets, the only
 * witnesses of a volume's use, know of; the controller never deletes it.
 */
export function isForeign({ name }: ClusterAttachment): boolean {
  return !/^csi-[0-9a-f]{64}$/.test(name)
}

/** R738: the controller splits the unique name at ^, and needs exactly two parts. */
export function hasCaret({ row }: Attached): boolean {
  const handle = row?.volume?.handle ?? parseCsiUniqueName(row?.uniqueName ?? '')?.handle
  return handle?.includes('^') ?? false
}

/** What follows from each row of the controller's table (R731), for a node that exists. */
export function fromNode(context: ClusterContext, attached: Attached, node: ClusterNode, never?: Reason): Verdict {
  const { object, row } = attached
  const { name } = node
  if (!context.isSettled(object.createdAt) || !context.isSettled(node.createdAt ?? '')) return settling(attached)
  const { is, readiness, silence: evidence, since, endings: ended } = detachRow(context, node, row)
  const decided = (message: string, more: Partial<Decision> = {}): Verdict => ({
    ...{ reason: never ?? 'NotWanted', rule: 'R731', evidence, message: `${because(never)}${message}` },
    ...more,
  })
  switch (is) {
    case 'NotInUse':
      return decided(`no pod wants the volume on node ${name}, which does not report the volume in use`, {
        ...{ evidence: ended, blocked: useNotReported(context, object) },
      })
    case 'OutOfService': {
      const use = row?.isInUse ? '; the node still reports the volume in use' : ''
      return decided(`node ${name} is tainted out-of-service, and no pod wants the volume there${use}`, {
        reason: never ?? 'OutOfService',
        evidence: [...evidence, fact(`node ${name} is tainted out-of-service`)],
        ...(row?.isInUse && { exception: 'OutOfService', makeSure: machineIsOff(name) }),
      })
    }
    case 'TaintedButReady':
      return decided(`no pod wants the volume on node ${name}`, {
        blocked: blockedBy(
          'TaintedButReady',
          `node ${name} is tainted out-of-service, but its kubelet ${readiness.ready === 'True' ? 'reports that the node is ready' : 'is still heard, and reports the volume in use'}`,
          [
            `If the machine runs: ${untaintOutOfService(name)}; if it is off, once its kubelet has been silent for a minute:`,
            planNodeGone(name),
          ],
        ),
        controllerWould: 'detach the volume, in use or not, because of the taint',
      })
    case 'InUse': {
      const held = mayBeInUse(context, attached)
      const why = held ? `${held.message}; the node` : `no pod wants the volume on node ${name}, which is ready and`
      const hint = held ? held.hint : inUseHint(context, node)
      return waitFor('StillInUse', 'R739', `${why} still reports the volume in use`, hint)
    }
    case 'SilentTooShort':
      return waitFor(
        'StillInUse',
        'R731',
        `node ${name} reports the volume in use, and was heard less than six minutes ago`,
        inUseHint(context, node),
        since === undefined ? undefined : rfc3339((timeOf(since) ?? 0) + MAX_WAIT_FOR_UNMOUNT_MS),
      )
    case 'NodeLost':
      return decided(
        `no pod wants the volume on node ${name}, which ${readiness.isStale ? 'is silent' : 'is not ready and silent'} for more than six minutes; the node last reported the volume in use`,
        {
          ...{ reason: never ?? 'NodeLost', exception: 'NodeLost', makeSure: machineIsOff(name) },
          blocked: context.isGivenAsGone(name) ? undefined : mayWrite(name, taintOutOfService(name)),
          controllerWould: 'detach the volume by force now, whether its machine still writes or not',
        },
      )
    case 'NodeUnknown':
      return waitFor('NodeUnknown', 'R731', `whether node ${name} is ready is not known`, [
        `Look at the node (${kubectl('describe', 'node', name)}), and start its kubelet. Once its machine is gone for good: ${kubectl('delete', 'node', name)}; then:`,
        planNodeGone(name),
      ])
  }
}

/** Why a node is not ready comes first. */
export function inUseHint(context: ClusterContext, node: ClusterNode): string {
  return context.readinessOf(node).ready === 'True'
    ? `If the volume stays in use, see on node ${node.name} what keeps it there: ${volctl('plan')}`
    : lookAtNode(node.name)
}

/** A kubelet reports only volumes in use that it takes for attachable (N62): its silence about another driver's shows nothing. */
function useNotReported({ objects }: ClusterContext, object: ClusterAttachment): Blocked | undefined {
  const { attacher: driver, node, name } = object
  const found = objects.csiDriver(driver)
  if (found.state === 'Absent' || (found.state === 'Found' && found.object.spec.attachRequired !== false))
    return undefined
  const why =
    found.state === 'Found'
      ? `driver ${driver} needs no attachment: no`
      : `the CSIDriver of driver ${driver} ${found.reason}: perhaps no`
  return blockedBy(
    'UseNotReported',
    `${why} node reports its volumes in use`,
    `See on node ${node} that the volume is not mounted there: ${volctl('status')}; then: ${kubectl('delete', 'volumeattachment', name)}`,
  )
}

// The row of the controller's table by which a volume that no pod wants is detached from a node that exists, or is not (R731).

/** R725: how long the kubelet of a node that is not ready has to unmount. */
const MAX_WAIT_FOR_UNMOUNT_MS = 6 * 60_000

type DetachRow =
  /** Not in use: detached, and only after a fresh look at the Node (R734). R733 is never copied. */
  | 'NotInUse'
  /** Tainted out-of-service, and not ready: detached, in use or not. */
  | 'OutOfService'
  /** Tainted and ready, or in use by the word of a kubelet that is still heard: one of the two is wrong. */
  | 'TaintedButReady'
  /** In use on a node that is ready: the kubelet has to unmount first. */
  | 'InUse'
  /** In use, not ready, and the six minutes are not over. */
  | 'SilentTooShort'
  /** In use, not ready, and its kubelet silent for more than six minutes: the controller detaches by force. */
  | 'NodeLost'
  /** Ready is missing, or none of its three values, or nobody knows since when: nothing is detached. */
  | 'NodeUnknown'

/**
 * R735: the controller's clock starts when it first sees the volume unwanted, in its memory. What the API shows instead: since
 * when the node is not ready, its kubelet's last heartbeat and lease, and the deletion of pods with the volume. The newest
 * counts; without Ready's transition nothing is known.
 */
function silence(
  { name, heartbeat, leaseRenewTime, leaseWrittenAt = leaseRenewTime }: ClusterNode,
  { ready, since, isStale }: Readiness,
  ended: readonly Evidence[],
): readonly Evidence[] {
  const state = isStale ? 'is True, but its kubelet is silent' : `is ${ready ?? 'missing'}`
  const heard = (what: string, time: string | undefined): Evidence[] =>
    time === undefined ? [] : [fact(`the kubelet of node ${name} last ${what}`, time)]
  return [
    fact(`Ready of node ${name} ${state}`, since),
    ...heard('reported its status', heartbeat),
    ...heard('renewed its lease', leaseWrittenAt),
    ...ended,
  ]
}

/** The row of R731 for a volume on a node that exists. Without its name nothing shows that it is in use. */
export function detachRow(context: ClusterContext, node: ClusterNode, row: Row | undefined) {
  const ended = endings(row)
  const readiness = context.readinessOf(node)
  const evidence = silence(node, readiness, ended)
  const since = newestOf([readiness.since, ...evidence.flatMap((each) => each.since ?? [])])
  const is = detachRowOf(context, node, row?.isInUse === true, readiness.ready, timeOf(since))
  return { is, readiness, silence: evidence, since, endings: ended }
}

/** @param since when the node is known to be not ready and silent; undefined: not known */
function detachRowOf(
  context: ClusterContext,
  node: ClusterNode,
  isInUse: boolean,
  ready: string | undefined,
  since: number | undefined,
): DetachRow {
  if (ready !== 'True' && ready !== 'False' && ready !== 'Unknown') return 'NodeUnknown'
  if (node.outOfService)
    return ready === 'True' || (isInUse && context.isHeard(node)) ? 'TaintedButReady' : 'OutOfService'
  if (!isInUse) return 'NotInUse'
  if (ready === 'True') return 'InUse'
  if (since === undefined) return 'NodeUnknown'
  return context.now - since > MAX_WAIT_FOR_UNMOUNT_MS ? 'NodeLost' : 'SilentTooShort'
}

/** Pods that have ended and are still in the API. */
export function endings(row: Row | undefined): Evidence[] {
  return (row?.ended ?? []).map(({ namespace, name, deletedAt }) =>
    fact(`pod ${namespace}/${name} has ended`, deletedAt),
  )
}

/**
 * A Node object that was deleted shows nothing of its machine. Its lease, which outlives it where the controllers are dead, shows
 * when its kubelet was last heard.
 */
export function lastHeard({ state: { lostNodes = [] } }: ClusterContext, node: string): string | undefined {
  return newestOf(lostNodes.filter(({ name }) => name === node).map(({ leaseRenewTime }) => leaseRenewTime))
}

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
import type { Attached } from '../model/actual-attachments.ts'
import { type ClusterContext, isDriverGone, isGivenAsGone, isSettled, readinessOf } from '../model/cluster-context.ts'
import type { ClusterAttachment, ClusterNode } from '../model/cluster-state.ts'
import { blockedBy } from '../model/findings.ts'
import { fact, timeOf } from '../model/times.ts'
import { type DetachRow, MAX_WAIT_FOR_UNMOUNT_MS, rowOnNode } from './node-state.ts'

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

/** Against what the API server has heard just now stands nobody's word. */
export function stillHeard(node: string): Blocked {
  return blockedBy(
    'MachineMayWrite',
    `the machine of node ${node}, which does not exist in the API, runs: its kubelet is still heard`,
    [
      'Turn the machine off; once its kubelet has been silent for a minute:',
      planNodeGone(node),
      'turn the machine off',
    ],
  )
}

/** By a pod of the node with a volume that could not be resolved (S4). */
export function mayBeInUse(context: ClusterContext, { object, uniqueName }: Attached): Blocked | undefined {
  const { node, attacher: driver, persistentVolume } = object
  const held = context.desired.mayBeOn(node, { uniqueName, driver, persistentVolume })
  if (held === undefined) return undefined
  const { pod, cause, message } = held
  return blockedBy(
    'MayBeInUse',
    `pod ${namespacedName(pod)} on node ${node} has a volume that may be this one: ${message}`,
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
  const { object, uniqueName, persistentVolume, isNamedRight } = attached
  if (hasCaret(attached)) return 'HandleWithCaret'
  if (isNamedRight === false) return 'AttachmentNameWrong'
  const isKnown = uniqueName !== undefined && context.actual.isConfirmed(object.node, uniqueName)
  if (isKnown) return undefined
  if (persistentVolume === 'absent') return 'VolumeDeleted'
  if (persistentVolume === 'none') return 'InlineNotWanted'
  return isDriverGone(context, object.attacher) ? 'DriverRemoved' : undefined
}

/**
 * C33: not by a name that Kubernetes made. Somebody has created it for a use which neither pods nor kubelets, the only
 * witnesses of a volume's use, know of; the controller never deletes it.
 */
export function isForeign({ name }: ClusterAttachment): boolean {
  return !/^csi-[0-9a-f]{64}$/.test(name)
}

/** R738: the controller splits the unique name at ^, and needs exactly two parts. */
export function hasCaret({ uniqueName, volume }: Attached): boolean {
  const handle = volume?.handle ?? parseCsiUniqueName(uniqueName ?? '')?.handle
  return handle?.includes('^') ?? false
}

/** What follows from each row of the controller's table (R731), for a node that exists. */
export function fromNode(context: ClusterContext, attached: Attached, node: ClusterNode, never?: Reason): Verdict {
  const { object, uniqueName } = attached
  const { name } = node
  if (!isSettled(context, object.createdAt) || !isSettled(context, node.createdAt ?? '')) return settling(attached)
  const { row, silence: evidence, since, endings } = rowOnNode(context, node, uniqueName)
  const { ready, isStale } = readinessOf(context, node)
  const decided = (message: string, more: Partial<Decision> = {}): Verdict => ({
    ...{ reason: never ?? 'NotWanted', rule: 'R731', evidence, message: `${because(never)}${message}` },
    ...more,
  })
  const rows: Readonly<Record<DetachRow, () => Verdict>> = {
    NotInUse: () =>
      decided(`no pod wants the volume on node ${name}, which does not report the volume in use`, {
        ...{ evidence: endings, blocked: useNotReported(context, object) },
      }),
    OutOfService: () => {
      const isInUse = uniqueName !== undefined && context.actual.isInUse(name, uniqueName)
      const use = isInUse ? '; the node still reports the volume in use' : ''
      return decided(`node ${name} is tainted out-of-service, and no pod wants the volume there${use}`, {
        reason: never ?? 'OutOfService',
        evidence: [...evidence, fact(`node ${name} is tainted out-of-service`)],
        ...(isInUse && { exception: 'OutOfService', makeSure: machineIsOff(name) }),
      })
    },
    TaintedButReady: () =>
      decided(`no pod wants the volume on node ${name}`, {
        blocked: blockedBy(
          'TaintedButReady',
          `node ${name} is tainted out-of-service, but its kubelet ${ready === 'True' ? 'reports that the node is ready' : 'is still heard, and reports the volume in use'}`,
          [
            `If the machine runs: ${untaintOutOfService(name)}; if it is off, once its kubelet has been silent for a minute:`,
            planNodeGone(name),
          ],
        ),
        controllerWould: 'detach the volume, in use or not, because of the taint',
      }),
    InUse: () => {
      const held = mayBeInUse(context, attached)
      const why = held ? `${held.message}; the node` : `no pod wants the volume on node ${name}, which is ready and`
      const hint = held ? held.hint : inUseHint(context, node)
      return waitFor('StillInUse', 'R739', `${why} still reports the volume in use`, hint)
    },
    SilentTooShort: () =>
      waitFor(
        'StillInUse',
        'R731',
        `node ${name} reports the volume in use, and was heard less than six minutes ago`,
        inUseHint(context, node),
        since === undefined ? undefined : rfc3339((timeOf(since) ?? 0) + MAX_WAIT_FOR_UNMOUNT_MS),
      ),
    NodeLost: () =>
      decided(
        `no pod wants the volume on node ${name}, which ${isStale ? 'is silent' : 'is not ready and silent'} for more than six minutes; the node last reported the volume in use`,
        {
          ...{ reason: never ?? 'NodeLost', exception: 'NodeLost', makeSure: machineIsOff(name) },
          blocked: isGivenAsGone(context, name) ? undefined : mayWrite(name, taintOutOfService(name)),
          controllerWould: 'detach the volume by force now, whether its machine still writes or not',
        },
      ),
    NodeUnknown: () =>
      waitFor('NodeUnknown', 'R731', `whether node ${name} is ready is not known`, [
        `Look at the node (${kubectl('describe', 'node', name)}), and start its kubelet. Once its machine is gone for good: ${kubectl('delete', 'node', name)}; then:`,
        planNodeGone(name),
      ]),
  }
  return rows[row]()
}

/** Why a node is not ready comes first. */
export function inUseHint(context: ClusterContext, node: ClusterNode): string {
  return readinessOf(context, node).ready === 'True'
    ? `If the volume stays in use, see on node ${node.name} what keeps it there: ${volctl('plan')}`
    : lookAtNode(node.name)
}

/** A kubelet reports only volumes in use that it takes for attachable (N62): its silence about another driver's shows nothing. */
function useNotReported({ objects }: ClusterContext, object: ClusterAttachment): Blocked | undefined {
  const { attacher: driver, node, name } = object
  const found = objects.driver(driver)
  if (found.state === 'Absent' || (found.state === 'Found' && found.object.attachRequired !== false)) return undefined
  const why =
    found.state === 'Found'
      ? `driver ${driver} needs no attachment: no node reports`
      : `the CSIDriver of driver ${driver} ${found.reason}: perhaps no node reports`
  return blockedBy(
    'UseNotReported',
    `${why} its volumes in use`,
    `See on node ${node} that the volume is not mounted there: ${volctl('status')}; then: ${kubectl('delete', 'volumeattachment', name)}`,
  )
}

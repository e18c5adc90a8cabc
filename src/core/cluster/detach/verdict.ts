/** What is decided about one attachment, and the words for it; and whose work its detach is. */

import { omitUndefined } from '../../base/omit-undefined.ts'
import { parseCsiUniqueName } from '../../facts/actual/volume-names.ts'
import type { Reason } from '../../messages/codes.ts'
import type { ClusterBlocked, DetachException, Evidence } from '../../plan/cluster-plan.ts'
import type { Wait } from '../../plan/draft.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import type { Attached } from '../actual/actual-attachments.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import { isDriverGone } from '../context/drivers.ts'
import { blockedBy } from '../context/findings.ts'
import { deletePod, planNodeGone } from '../context/kubectl.ts'
import type { ClusterAttachment } from '../model/cluster-state.ts'

/** It waits, or it is an operation. */
export type Verdict = { readonly wait: Wait; readonly rule: string } | Decision

export interface Decision {
  readonly reason: Reason
  readonly message: string
  readonly rule: string
  readonly evidence: readonly Evidence[]
  readonly blocked?: ClusterBlocked | undefined
  readonly exception?: DetachException | undefined
  readonly makeSure?: string | undefined
  readonly controllerWould?: string | undefined
}

/** R735: the clock of the controller starts when it first sees a volume unwanted, and not when the node falls silent. */
export const LATEST = 'at the latest six minutes after it first saw that no pod wants the volume there'

export function waitFor(code: Wait['code'], rule: string, message: string, hint?: string, until?: string): Verdict {
  return { wait: { code, message, ...omitUndefined({ hint, until }) }, rule }
}

/** The beginning of a message, for what the controller never does. */
export const BECAUSE: Readonly<Partial<Record<Reason, string>>> = {
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
export function mayWrite(node: string, taint?: string): ClusterBlocked {
  const gone = planNodeGone(node)
  return blockedBy(
    'MachineMayWrite',
    `the machine of node ${node} may still run and write to the volume`,
    `Make sure that the machine is off; then${taint === undefined ? ':' : ` run ${taint} or`} ${gone}`,
  )
}

/** Against what the API server has heard just now stands nobody's word. */
export function stillHeard(node: string): ClusterBlocked {
  return blockedBy(
    'MachineMayWrite',
    `the machine of node ${node}, which does not exist in the API, runs: its kubelet is still heard`,
    `Turn the machine off; once its kubelet has been silent for a minute: ${planNodeGone(node)}`,
  )
}

/** By a pod of the node with a volume that could not be resolved (S4). */
export function mayBeInUse(context: ClusterContext, { object, uniqueName }: Attached): ClusterBlocked | undefined {
  const { node, attacher: driver, persistentVolume } = object
  const held = context.desired.mayBeOn(node, { uniqueName, driver, persistentVolume })
  if (held === undefined) return undefined
  const { pod, cause, message } = held
  return blockedBy(
    'MayBeInUse',
    `pod ${namespacedName(pod)} on node ${node} has a volume that may be this one: ${message}`,
    cause === 'Unknown'
      ? "Use a credential that may read the pod's claim and PersistentVolume, or repair them; then plan again."
      : `The volume stays attached until the pod has ended: ${deletePod(pod)}`,
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

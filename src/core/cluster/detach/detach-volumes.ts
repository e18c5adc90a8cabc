/**
 * Detach, which comes before attach: every VolumeAttachment of a volume that no pod of its node wants (R725, R731).
 *
 * Where the controller first takes a volume out of volumesAttached, so that no mount begins, volctl cannot: an apply looks at the
 * Node and the pods again right before it deletes, with uid and resourceVersion as preconditions, and looks once more after.
 */

import type { Reason } from '../../codes/codes.ts'
import { compareText } from '../../lang/compare-text.ts'
import { defined } from '../../lang/defined.ts'
import type { ClusterBlocked, ClusterStep, DetachException, Evidence } from '../../plan/cluster-plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import type { Attached } from '../actual/actual-attachments.ts'
import { attachedRef } from '../context/attached-ref.ts'
import { type ClusterContext, isControllerAlive, isSettled, nodeOf } from '../context/cluster-context.ts'
import { isDriverGone } from '../context/drivers.ts'
import { blockedBy, type ClusterFindings, type ClusterWait, podRef } from '../context/findings.ts'
import { describeAttachment, taintOutOfService, untaintOutOfService } from '../context/kubectl.ts'
import type { ClusterNode } from '../model/cluster-state.ts'
import { timeOf } from '../model/times.ts'
import { type DetachRow, MAX_WAIT_FOR_UNMOUNT_MS } from './detach-row.ts'
import { endings, isGivenAsGone, isMachineSilent, lastHeard, rowOnNode } from './node-state.ts'
import { neverDetached } from './whose-work.ts'

/** Without these whole, nobody can say that no pod wants a volume, or that no node uses it (S2, S3). */
export const DETACH_LISTS = ['pods', 'nodes', 'volumeattachments'] as const

export function detachVolumes(context: ClusterContext, findings: ClusterFindings): void {
  if (!DETACH_LISTS.every((list) => context.objects.isWhole(list))) return
  for (const attached of context.actual.all.toSorted((a, b) => compareText(a.object.name, b.object.name))) {
    detachVolume(context, findings, attached)
  }
}

/** What is decided about one attachment: it waits, or it is an operation. */
type Verdict = { readonly wait: ClusterWait; readonly rule: string } | Decision

interface Decision {
  readonly reason: Reason
  readonly message: string
  readonly rule: string
  readonly evidence: readonly Evidence[]
  readonly blocked?: ClusterBlocked | undefined
  readonly exception?: DetachException | undefined
  readonly makeSure?: string | undefined
  readonly controllerWould?: string | undefined
}

function detachVolume(context: ClusterContext, findings: ClusterFindings, attached: Attached): void {
  const { object, uniqueName, unclear, persistentVolume } = attached
  // What contradicts itself, or cannot be read, is reported, and never deleted.
  if (unclear !== undefined || persistentVolume === 'unknown' || isWanted(context, attached)) return
  const verdict = judge(context, attached)
  if (verdict === undefined) return
  const volume = attachedRef(attached, context.actual)
  const pods = uniqueName === undefined ? [] : context.desired.endedOn(object.node, uniqueName).map(podRef)
  if ('wait' in verdict) {
    findings.wait('DetachVolume', verdict.wait, verdict.rule, {
      node: object.node,
      pods,
      volume,
      attachment: object.name,
    })
    return
  }
  const { blocked, exception, evidence, ...decision } = verdict
  const node = nodeOf(context, object.node)
  findings.add({
    kind: 'DetachVolume',
    ...defined({ ...decision, makeSure: decision.makeSure, controllerWould: decision.controllerWould }),
    ...{ node: object.node, pods, volume, steps: stepsOf(context, attached), after: [] },
    ...defined({ blocked: blocked ?? obstacleTo(context, attached) }),
    evidence: [
      ...evidence,
      { what: `VolumeAttachment ${object.name} was created`, ...defined({ since: object.createdAt }) },
    ],
    attachment: { name: object.name, uid: object.uid, resourceVersion: object.resourceVersion },
    basis: {
      ...(node && { node: { uid: node.uid, resourceVersion: node.resourceVersion } }),
      inUse: volume.inUse === true,
      ...defined({ exception }),
    },
  })
}

/** By a pod of the node, as far as the volume is known; what pods merely have counts as well. */
function isWanted({ desired }: ClusterContext, { object, uniqueName }: Attached): boolean {
  return uniqueName !== undefined && desired.on(object.node, uniqueName) !== undefined
}

function judge(context: ClusterContext, attached: Attached): Verdict | undefined {
  const { object } = attached
  const found = context.objects.node(object.node)
  if (found.state === 'Unknown') return waitFor('NodeUnknown', 'R731', `node ${object.node} ${found.reason}`)
  if (object.deletedAt !== undefined)
    return beingDeleted(context, attached, found.state === 'Found' ? found.object : undefined)
  const never = neverDetached(context, attached)
  if (found.state === 'Absent') return fromMissingNode(context, attached, never)
  if (!found.object.managed) return undefined
  if (isControllerAlive(context) && never === undefined) return leftToController(context, attached, found.object)
  return fromNode(context, attached, found.object, never ?? 'NotWanted')
}

function waitFor(code: ClusterWait['code'], rule: string, message: string, hint?: string, until?: string): Verdict {
  return { wait: { code, message, ...defined({ hint, until }) }, rule }
}

/** While the controller lives, what it is going to do. */
function leftToController(context: ClusterContext, attached: Attached, node: ClusterNode): Verdict {
  const { object, uniqueName } = attached
  const isInUse = uniqueName !== undefined && context.actual.isInUse(object.node, uniqueName)
  const first = `the attach/detach controller detaches it from node ${object.node}`
  if (!isInUse) return waitFor('ControllerActs', 'R731', first, CONTROLLER_HINT)
  const then =
    node.ready === 'True'
      ? 'once the node no longer reports it in use'
      : 'at the latest six minutes after the node became not ready'
  return waitFor('ControllerActs', 'R731', `${first} ${then}`, IN_USE_HINT)
}

const CONTROLLER_HINT =
  'If nothing happens, look at the log of kube-controller-manager, and at the VolumeAttachment (kubectl describe volumeattachment).'
const IN_USE_HINT = 'If it stays in use, run volctl plan on that node: it shows what keeps the volume there.'

function fromNode(context: ClusterContext, attached: Attached, node: ClusterNode, reason: Reason): Verdict {
  const { object, uniqueName } = attached
  if (!isSettled(context, object.createdAt) || !isSettled(context, node.createdAt ?? '')) return settling(attached)
  const isInUse = uniqueName !== undefined && context.actual.isInUse(node.name, uniqueName)
  const { row, evidence, since, ended } = rowOnNode(context, node, uniqueName)
  return ROWS[row]({ context, node, reason, isInUse, evidence, since }, endings(ended))
}

interface RowFacts {
  readonly context: ClusterContext
  readonly node: ClusterNode
  readonly reason: Reason
  readonly isInUse: boolean
  readonly evidence: readonly Evidence[]
  readonly since: string | undefined
}

/** What follows from each row. */
const ROWS: Readonly<Record<DetachRow, (facts: RowFacts, ended: readonly Evidence[]) => Verdict>> = {
  NotInUse: ({ node, reason }, evidence) => ({
    ...{ reason, rule: 'R731', evidence },
    message: `${BECAUSE[reason] ?? ''}no pod wants it on node ${node.name}, which does not report it in use`,
  }),
  OutOfService: ({ node, reason, isInUse, evidence }) => ({
    reason: reason === 'NotWanted' ? 'OutOfService' : reason,
    ...{ rule: 'R731', evidence: [...evidence, { what: `node ${node.name} is tainted out-of-service` }] },
    message: `${BECAUSE[reason] ?? ''}node ${node.name} is tainted out-of-service, and no pod wants it there${isInUse ? '; the node still reports it in use' : ''}`,
    ...(isInUse && { exception: 'OutOfService', makeSure: machineIsOff(node.name) }),
  }),
  TaintedButReady: ({ node, reason, evidence }) => ({
    ...{ reason, rule: 'R731', evidence },
    message: `${BECAUSE[reason] ?? ''}no pod wants it on node ${node.name}`,
    blocked: blockedBy(
      'TaintedButReady',
      `node ${node.name} is tainted out-of-service, but its kubelet reports that the node is ready`,
      `If the machine runs: ${untaintOutOfService(node.name)}. Else wait until the node is not ready.`,
    ),
    controllerWould: 'detach it, in use or not, because of the taint',
  }),
  InUse: ({ node }) =>
    waitFor(
      'StillInUse',
      'R739',
      `no pod wants it on node ${node.name}, which is ready and still reports it in use`,
      IN_USE_HINT,
    ),
  SilentTooShort: ({ node, since }) =>
    waitFor(
      'StillInUse',
      'R731',
      `node ${node.name} reports it in use, and was heard less than six minutes ago`,
      IN_USE_HINT,
      since === undefined ? undefined : new Date((timeOf(since) ?? 0) + MAX_WAIT_FOR_UNMOUNT_MS).toISOString(),
    ),
  NodeLost: ({ context, node, reason, evidence }) => ({
    reason: reason === 'NotWanted' ? 'NodeLost' : reason,
    ...{ rule: 'R731', evidence, exception: 'NodeLost', makeSure: machineIsOff(node.name) },
    message: `${BECAUSE[reason] ?? ''}no pod wants it on node ${node.name}, which is not ready and silent for more than six minutes; the node last reported it in use`,
    blocked: isGivenAsGone(context, node.name)
      ? undefined
      : mayWrite(node.name, `${taintOutOfService(node.name)}, or `),
    controllerWould: 'detach it by force now, whether its machine still writes or not',
  }),
  NodeUnknown: ({ node }) =>
    waitFor(
      'NodeUnknown',
      'R731',
      `whether node ${node.name} is ready is not known`,
      `Look at the node (kubectl describe node) and start its kubelet; or, once its machine is off: ${taintOutOfService(node.name)}.`,
    ),
}

/** The beginning of a message, for what the controller never does. */
const BECAUSE: Readonly<Partial<Record<Reason, string>>> = {
  VolumeDeleted: 'its PersistentVolume does not exist any more; ',
  InlineNotWanted: 'it is of a volume in the spec of a pod that is gone; ',
  HandleWithCaret: 'the controller cannot detach a volume with ^ in its handle; ',
  AttachmentNameWrong: 'the controller does not know an attachment of this name; ',
  DriverRemoved: 'its driver is gone; ',
}

function machineIsOff(node: string): string {
  return `that the machine of node ${node} is off, or cannot reach the storage any more`
}

function mayWrite(node: string, before = ''): ClusterBlocked {
  return blockedBy(
    'MachineMayWrite',
    `the machine of node ${node} may still run and write to it`,
    `Make sure that the machine is off; then: ${before}--node-gone ${node}.`,
  )
}

function settling({ object }: Attached): Verdict {
  const message = `VolumeAttachment ${object.name}, or its node, is younger than the settle time: what it is for may not be in every list yet`
  return waitFor('Settling', 'S11', message, 'Plan again after the settle time, or give a shorter --settle.')
}

/**
 * R734: for the controller the volume of a deleted Node is safe to detach. Its machine may still write: a person says that it does
 * not (--node-gone), or its lease shows that its kubelet has been silent for the settle time, and no pod is left there.
 */
function fromMissingNode(context: ClusterContext, attached: Attached, never: Reason | undefined): Verdict {
  const { object, uniqueName } = attached
  const { node } = object
  const isGiven = isGivenAsGone(context, node)
  if (!isGiven && isControllerAlive(context) && never === undefined) {
    return waitFor(
      'ControllerActs',
      'R734',
      `node ${node} does not exist; the attach/detach controller detaches it six minutes after the node went`,
      `If it stays: make sure that the machine is off, then give --node-gone ${node}.`,
    )
  }
  if (!isGiven && !isSettled(context, object.createdAt)) return settling(attached)
  const heard = lastHeard(context, node)
  const ended = uniqueName === undefined ? [] : context.desired.endedOn(node, uniqueName)
  return {
    ...{ reason: never ?? 'NodeDeleted', rule: 'R734', exception: 'NodeGone', makeSure: machineIsOff(node) },
    message: `${BECAUSE[never ?? 'NodeDeleted'] ?? ''}node ${node} does not exist, and no pod wants it there`,
    evidence: [
      { what: `node ${node} is not in the list of nodes` },
      ...(heard === undefined ? [] : [{ what: `kubelet of node ${node} renewed its lease`, since: heard }]),
      ...endings(ended),
    ],
    ...(isGiven || (!isControllerAlive(context) && isMachineSilent(context, node)) ? {} : { blocked: mayWrite(node) }),
  }
}

/** N59: the external attacher has to take its finalizer off. If its driver is gone, nobody does. */
function beingDeleted(context: ClusterContext, attached: Attached, node: ClusterNode | undefined): Verdict | undefined {
  const { object, uniqueName } = attached
  const held = object.finalizers?.join(', ') ?? ''
  const error = object.detachError?.message
  const message = `VolumeAttachment ${object.name} is being deleted${held === '' ? '' : `, held by ${held}`}${error === undefined ? '' : `; the last attempt failed: ${error}`}`
  const isOnlyHeld = held !== '' && isDriverGone(context, object.attacher)
  const isInUse = uniqueName !== undefined && context.actual.isInUse(object.node, uniqueName)
  if (!isOnlyHeld || isInUse || !isSettled(context, object.deletedAt)) {
    return waitFor(
      'AttachmentDeleting',
      'N59',
      message,
      `See ${describeAttachment(object.name)}, and the log of the driver's attacher.`,
    )
  }
  const isMachineOff = node !== undefined || isGivenAsGone(context, object.node)
  return {
    ...{ reason: 'DriverRemoved', rule: 'N59', message: `${message}; its driver ${object.attacher} is gone` },
    evidence: [{ what: `VolumeAttachment ${object.name} is being deleted`, ...defined({ since: object.deletedAt }) }],
    makeSure: `that the storage system has detached the volume from node ${object.node}`,
    ...(node === undefined && { exception: 'NodeGone' as const }),
    blocked: isMachineOff ? stripObstacle(context) : mayWrite(object.node),
  }
}

function stripObstacle({ options }: ClusterContext): ClusterBlocked | undefined {
  if (options.stripFinalizers === true) return undefined
  return blockedBy(
    'NotAsked',
    'finalizers are taken off only on request: the storage system may still have the volume attached',
    'Detach the volume in the storage system; then give --strip-finalizers.',
  )
}

function stepsOf(context: ClusterContext, { object }: Attached): readonly ClusterStep[] {
  const target = `volumeattachments/${object.name}`
  const finalizers = object.finalizers ?? []
  const strips =
    finalizers.length > 0 && context.options.stripFinalizers === true && isDriverGone(context, object.attacher)
  const isDeleted = object.deletedAt !== undefined
  return [
    ...(isDeleted ? [] : [{ op: 'deleteVolumeAttachment', target } as const]),
    ...(strips || isDeleted ? [{ op: 'removeFinalizers', target, finalizers } as const] : []),
  ]
}

/** What holds back an operation that the table allows. */
function obstacleTo(context: ClusterContext, { object, uniqueName }: Attached): ClusterBlocked | undefined {
  const held = context.desired.mayBeOn(object.node, { uniqueName, driver: object.attacher })
  if (held !== undefined) {
    return blockedBy(
      'UnresolvedVolume',
      `pod ${namespacedName(held.pod)} on node ${object.node} has a volume that may be this one: ${held.message}`,
      'Use a credential that may read its claim and PersistentVolume, or repair them; then plan again.',
    )
  }
  if (uniqueName === undefined && !isHashName(object.name)) {
    return blockedBy(
      'AttachmentUnclear',
      `neither its name nor its PersistentVolume shows which volume it is of`,
      `Look at it: ${describeAttachment(object.name)}.`,
    )
  }
  if (context.state.rights.deleteAttachments === false) {
    return blockedBy('Forbidden', 'this credential may not delete VolumeAttachments', RIGHTS_HINT)
  }
  return undefined
}

const RIGHTS_HINT = 'Use a credential that may delete volumeattachments (--kubeconfig, --context).'

/** C33: a name that Kubernetes made, so that a node that uses the volume would show it. */
function isHashName(name: string): boolean {
  return /^csi-[0-9a-f]{64}$/.test(name)
}

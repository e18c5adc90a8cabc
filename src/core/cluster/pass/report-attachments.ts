/** VolumeAttachments that are odd in themselves, or that nobody brings to an end. */

import { describeAttachment, kubectl, planCluster, planNodeGone, whoCreated } from '../../base/command.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import type { ProblemCode } from '../../messages/codes.ts'
import type { Hint } from '../../plan/draft.ts'
import type { Severity } from '../../plan/plan.ts'
import {
  type ClusterContext,
  isControllerAlive,
  isDriverGone,
  isGivenAsGone,
  isSettled,
  lookAtWhoDetaches,
} from '../model/cluster-context.ts'
import { type About, attachedRef, type ClusterFindings, heldBy, nodesText } from '../model/findings.ts'
import { type Attached, isWanted, nodesAttached } from '../model/rows.ts'
import { isExclusive, volumeLabel, volumeRef } from '../model/volumes.ts'
import { FIND_OUT } from './multi-attach.ts'
import { hasCaret, isForeign, LATEST } from './verdict.ts'

export function reportAttachments(context: ClusterContext, findings: ClusterFindings): void {
  for (const attached of context.rows.attached) {
    for (const look of LOOKS) {
      const odd = look(context, attached)
      if (odd === undefined) continue
      const { severity = 'warning', code, text, hint } = odd
      findings.problem(severity, code, text, aboutOf(context, attached), hint)
    }
  }
  reportTwice(context, findings)
}

interface Oddity {
  readonly severity?: Severity
  readonly code: ProblemCode
  readonly text: string
  readonly hint?: Hint
}

/** What may be odd about one attachment. */
const LOOKS: readonly ((context: ClusterContext, attached: Attached) => Oddity | undefined)[] = [
  unclear,
  withoutVolume,
  inline,
  withoutNode,
  wrongName,
  caret,
  deleting,
  notAttached,
]

function aboutOf({ rows }: ClusterContext, attached: Attached): About {
  const { name, node, attacher } = attached.object
  return { attachment: name, nodes: [node], driver: attacher, volume: attachedRef(attached, rows) }
}

function unclear(_: ClusterContext, { object: { name, node }, unclear: why }: Attached): Oddity | undefined {
  if (why === undefined) return undefined
  const text = `VolumeAttachment ${name} on node ${node} is left as it is: ${why}`
  return { code: 'AttachmentUnclear', text, hint: `Look at the attachment: ${describeAttachment(name)}` }
}

function withoutVolume(_: ClusterContext, { object, persistentVolume }: Attached): Oddity | undefined {
  if (persistentVolume !== 'absent') return undefined
  const { name, node, persistentVolume: volume = '' } = object
  const text = `VolumeAttachment ${name} keeps PersistentVolume ${volume}, which does not exist, attached to node ${node}`
  const hint = `Find the volume in the storage system. Look at the attachment: ${describeAttachment(name)}`
  return { code: 'AttachmentDangling', text, hint }
}

/** R835: in use by a pod it is as it should be. */
function inline(_: ClusterContext, { object: { name, node }, persistentVolume, row }: Attached): Oddity | undefined {
  if (persistentVolume !== 'none' || isWanted(row)) return undefined
  const text = `VolumeAttachment ${name} on node ${node} is of a volume in the spec of a pod, and no pod has it: a restarted controller overlooks it`
  return { code: 'NobodyDetaches', text, hint: `Look at the attachment: ${describeAttachment(name)}` }
}

function withoutNode(context: ClusterContext, { object: { name, node } }: Attached): Oddity | undefined {
  if (context.objects.node(node).state !== 'Absent') return undefined
  const text = `VolumeAttachment ${name} names node ${node}, which does not exist`
  // What a person has said is not asked for again.
  if (isGivenAsGone(context, node)) return { code: 'AttachmentDangling', text }
  const first = 'make sure that the machine is off'
  return {
    code: 'AttachmentDangling',
    text,
    hint: isControllerAlive(context)
      ? [`The controller detaches the volume, ${LATEST}. If the attachment stays: ${first}; then:`, planNodeGone(node)]
      : [`Nobody detaches the volume: ${first}; then:`, planNodeGone(node), first],
  }
}

function wrongName(_: ClusterContext, { object, isNamedRight, unclear: why }: Attached): Oddity | undefined {
  const { name, node } = object
  if (why !== undefined) return undefined
  if (isForeign(object)) {
    const text = `VolumeAttachment ${name} on node ${node} was not created by Kubernetes, and stays until its creator deletes it`
    const hint = `Find out who created it: ${whoCreated(name)}; once nobody needs it: ${kubectl('delete', 'volumeattachment', name)}`
    return { severity: 'info', code: 'AttachmentUnclear', text, hint }
  }
  if (isNamedRight !== false) return undefined
  const text = `the name of VolumeAttachment ${name} is not the one that follows from its volume and node ${node}: the controller never deletes it`
  return { code: 'NobodyDetaches', text, hint: `Find out who created the attachment: ${whoCreated(name)}` }
}

function caret(_: ClusterContext, attached: Attached): Oddity | undefined {
  if (!hasCaret(attached)) return undefined
  const { name, node } = attached.object
  const text = `the handle of the volume of VolumeAttachment ${name} on node ${node} contains ^: the controller attaches it, and can never detach it`
  return { code: 'NobodyDetaches', text, hint: DETACHES }
}

const DETACHES: Hint = ['Once no pod wants the volume, volctl detaches it:', planCluster()]

function attacherLog(attacher: string): string {
  return `Look at the log of the external attacher of driver ${attacher}, and at the volume in the storage system.`
}

/** A driver that is gone is reported once, for all. */
function deleting(context: ClusterContext, { object }: Attached): Oddity | undefined {
  const { name, node, attacher, deletedAt, detachError, finalizers } = object
  if (deletedAt === undefined) return undefined
  if (detachError !== undefined) {
    const text = `driver ${attacher} could not detach VolumeAttachment ${name} from node ${node}: ${detachError.message}`
    return { severity: 'error', code: 'AttachmentFailing', text, hint: attacherLog(attacher) }
  }
  if (!isSettled(context, deletedAt) || isDriverGone(context, attacher)) return undefined
  const text = `VolumeAttachment ${name} on node ${node} is being deleted since ${deletedAt}${heldBy(finalizers)}`
  return { code: 'AttachmentDeleting', text, hint: lookAtWhoDetaches(context, name, attacher) }
}

function notAttached(context: ClusterContext, { object }: Attached): Oddity | undefined {
  const { name, node, attacher, attached, attachError, deletedAt, createdAt } = object
  if (attached === true || deletedAt !== undefined) return undefined
  const hint = attacherLog(attacher)
  if (attachError !== undefined) {
    const text = `driver ${attacher} could not attach VolumeAttachment ${name} to node ${node}: ${attachError.message}`
    return { severity: 'error', code: 'AttachmentFailing', text, hint }
  }
  if (!isSettled(context, createdAt)) return undefined
  const text = `VolumeAttachment ${name} on node ${node} was created ${createdAt ?? ''} and is not attached, and driver ${attacher} does not say why`
  return { code: 'AttachmentFailing', text, hint }
}

/** R740: several nodes have what only one may have. */
function reportTwice({ known, rows }: ClusterContext, findings: ClusterFindings): void {
  for (const volume of known.values()) {
    if (!isExclusive(volume)) continue
    const nodes = nodesAttached(rows.ofVolume(volume.uniqueName))
    if (nodes.length < 2) continue
    const ref = volumeRef(volume)
    findings.problem(
      'error',
      'TwoWriters',
      `volume ${volumeLabel(ref)} may be on one node only, and has VolumeAttachments on ${nodesText(nodes)}`,
      { volume: ref, nodes, ...omitUndefined({ claim: ref.claim, driver: ref.driver }) },
      FIND_OUT,
    )
  }
}

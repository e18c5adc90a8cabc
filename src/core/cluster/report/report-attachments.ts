/** VolumeAttachments that are odd by themselves, or that nobody brings to an end. */

import { compareText } from '../../lang/compare-text.ts'
import { defined } from '../../lang/defined.ts'
import type { ClusterAbout } from '../../plan/cluster-plan.ts'
import type { Attached } from '../actual/actual-attachments.ts'
import { attachedRef } from '../context/attached-ref.ts'
import { type ClusterContext, isControllerAlive, isSettled } from '../context/cluster-context.ts'
import { isDriverGone } from '../context/drivers.ts'
import type { ClusterFindings } from '../context/findings.ts'
import { describeAttachment, kubectl } from '../context/kubectl.ts'
import { shaped } from '../context/shaped.ts'
import { hasCaret } from '../detach/whose-work.ts'
import { volumeLabel, volumeRef } from '../model/known-volume.ts'

export function reportAttachments(context: ClusterContext, findings: ClusterFindings): void {
  for (const attached of context.actual.all.toSorted((a, b) => compareText(a.object.name, b.object.name))) {
    reportSource(context, findings, attached)
    reportNode(context, findings, attached)
    reportName(context, findings, attached)
    reportProgress(context, findings, attached)
  }
  reportTwice(context, findings)
}

function aboutOf(context: ClusterContext, attached: Attached): ClusterAbout {
  const { name, node, attacher } = attached.object
  return { attachment: name, nodes: [node], driver: attacher, volume: attachedRef(attached, context.actual) }
}

function reportSource(context: ClusterContext, findings: ClusterFindings, attached: Attached): void {
  const { object, persistentVolume, unclear } = attached
  const about = aboutOf(context, attached)
  const look = `Look at it: ${describeAttachment(object.name)}.`
  if (unclear !== undefined) {
    findings.problem(
      'warning',
      'AttachmentUnclear',
      shaped`VolumeAttachment ${object.name} on node ${object.node} is left as it is: ${unclear}`,
      about,
      look,
    )
  }
  if (persistentVolume === 'absent') {
    const text = shaped`VolumeAttachment ${object.name} keeps PersistentVolume ${object.persistentVolume ?? ''}, which does not exist, attached to node ${object.node}`
    findings.problem(
      'warning',
      'AttachmentWithoutVolume',
      text,
      about,
      `Find the volume in the storage system. ${look}`,
    )
  }
  // In use by a pod it is as it should be.
  const isWanted =
    attached.uniqueName !== undefined && context.desired.on(object.node, attached.uniqueName) !== undefined
  if (persistentVolume !== 'none' || isWanted) return
  const text = shaped`VolumeAttachment ${object.name} on node ${object.node} is of a volume in the spec of a pod, and no pod has it: a restarted controller overlooks it`
  findings.problem('warning', 'AttachmentInline', text, about, look)
}

function reportNode(context: ClusterContext, findings: ClusterFindings, attached: Attached): void {
  const { object } = attached
  if (context.objects.node(object.node).state !== 'Absent') return
  findings.problem(
    'warning',
    'AttachmentWithoutNode',
    shaped`VolumeAttachment ${object.name} names node ${object.node}, which does not exist`,
    aboutOf(context, attached),
    isControllerAlive(context)
      ? `The controller detaches it six minutes after the node went. If it stays: make sure that the machine is off, then give --node-gone ${object.node}.`
      : `Make sure that the machine is off; then give --node-gone ${object.node}.`,
  )
}

function reportName(context: ClusterContext, findings: ClusterFindings, attached: Attached): void {
  const { object, isNamedRight } = attached
  const about = aboutOf(context, attached)
  if (isNamedRight === false && attached.unclear === undefined) {
    const text = shaped`the name of VolumeAttachment ${object.name} is not the one that follows from its volume and node ${object.node}: the controller never deletes it`
    findings.problem(
      'warning',
      'AttachmentNameWrong',
      text,
      about,
      `Find out who created it: ${kubectl('get', 'volumeattachment', object.name, '-o', 'yaml', '--show-managed-fields')}.`,
    )
  }
  if (!hasCaret(attached)) return
  const text = shaped`the handle of the volume of VolumeAttachment ${object.name} on node ${object.node} contains ^: the controller attaches it, and can never detach it`
  findings.problem(
    'warning',
    'HandleWithCaret',
    text,
    about,
    'Once no pod wants the volume, volctl apply --cluster detaches it.',
  )
}

/** What its attacher makes of it. */
function reportProgress(context: ClusterContext, findings: ClusterFindings, attached: Attached): void {
  const { object } = attached
  const { name, node, attacher, attachError, detachError, deletedAt } = object
  const about = aboutOf(context, attached)
  const log = `Look at the log of the attacher of ${attacher}, and at the volume in the storage system.`
  if (deletedAt !== undefined) {
    if (detachError !== undefined) {
      findings.problem(
        'error',
        'DetachFailed',
        shaped`driver ${attacher} could not detach VolumeAttachment ${name} from node ${node}: ${detachError.message}`,
        about,
        log,
      )
    } else if (isSettled(context, deletedAt) && !isDriverGone(context, attacher)) {
      const held = object.finalizers?.join(', ') || 'no finalizer'
      findings.problem(
        'warning',
        'AttachmentDeleting',
        shaped`VolumeAttachment ${name} on node ${node} is being deleted since ${deletedAt}, held by ${held}`,
        about,
        log,
      )
    }
    return
  }
  if (object.attached === true) return
  if (attachError !== undefined) {
    findings.problem(
      'error',
      'AttachFailed',
      shaped`driver ${attacher} could not attach VolumeAttachment ${name} to node ${node}: ${attachError.message}`,
      about,
      log,
    )
  } else if (isSettled(context, object.createdAt)) {
    findings.problem(
      'warning',
      'AttachmentPending',
      shaped`VolumeAttachment ${name} on node ${node} was created ${object.createdAt ?? ''} and is not attached, and driver ${attacher} does not say why`,
      about,
      log,
    )
  }
}

/** R740: several nodes have what only one may have. */
function reportTwice({ known, actual }: ClusterContext, findings: ClusterFindings): void {
  for (const volume of known.values()) {
    if (!volume.exclusive) continue
    const nodes = [...new Set(actual.ofVolume(volume.uniqueName).map(({ object }) => object.node))].toSorted(
      compareText,
    )
    if (nodes.length < 2) continue
    const ref = volumeRef(volume)
    findings.problem(
      'error',
      'AttachedTwice',
      shaped`${volumeLabel(ref)} may be on one node only, and has VolumeAttachments on ${nodes.length}: ${nodes.slice(0, MOST_NODES).join(', ')}`,
      { volume: ref, nodes, ...defined({ claim: ref.claim, driver: ref.driver }) },
      'Find out on which of them it is mounted (volctl status there), before anything else; then end its pods on the others.',
    )
  }
}

const MOST_NODES = 5

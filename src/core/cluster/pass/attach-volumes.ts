/** Attach, after every detach: each volume that a pod of a node wants, and that no VolumeAttachment asks for (R742, R745). */

import {
  describePod,
  lookAtAttacher,
  lookAtNode,
  lookAtNodePod,
  planCluster,
  untaintOutOfService,
} from '../../base/command.ts'
import { compareText } from '../../base/compare-text.ts'
import { count } from '../../base/count.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import { attachmentName, CSI_PLUGIN } from '../../facts/actual/volume-names.ts'
import type { ClusterStep, NewAttachment } from '../../plan/cluster-plan.ts'
import { advised, type Wait } from '../../plan/draft.ts'
import type { Blocked } from '../../plan/plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import {
  type ClusterContext,
  isControllerAlive,
  isGivenAsGone,
  lookAtController,
  nodeOf,
  notReadyText,
  readinessOf,
} from '../model/cluster-context.ts'
import type { ClusterAttachment, ClusterNode } from '../model/cluster-state.ts'
import { blockedBy, type ClusterDraft, type ClusterFindings, forbidden, nodesText, podRef } from '../model/findings.ts'
import { isUsing, isWanted, type Row, type Want } from '../model/rows.ts'
import { fact } from '../model/times.ts'
import { isExclusive, type KnownVolume, volumeRef } from '../model/volumes.ts'
import { detachRow } from './verdict.ts'

/** Without these whole, a volume that only one node may have could be attached a second time (S30). */
export const ATTACH_LISTS = ['pods', 'nodes', 'volumeattachments', 'persistentvolumes'] as const

export function attachVolumes(context: ClusterContext, findings: ClusterFindings): void {
  if (!ATTACH_LISTS.every((list) => context.objects.isWhole(list))) return
  const room = new RoomOnNodes(context)
  const wants = context.rows
    .all()
    .filter(isWanted)
    .filter(({ pods }) => pods.length > 0)
  for (const want of wants.toSorted(byNodeAndVolume)) attachVolume(context, findings, want, room)
}

function byNodeAndVolume(a: Want, b: Want): number {
  return compareText(a.node, b.node) || compareText(a.uniqueName, b.uniqueName)
}

/** A volume whose object can be made: of a CSI driver, with its handle. */
interface Attachable {
  readonly want: Want
  readonly driver: string
  readonly handle: string
  /** R007: the name of its VolumeAttachment. */
  readonly name: string
}

function attachVolume(context: ClusterContext, findings: ClusterFindings, want: Want, room: RoomOnNodes): void {
  const { driver, handle, plugin } = want.volume
  if (plugin !== CSI_PLUGIN || driver === undefined || handle === undefined) {
    waitForStatus(context, findings, want)
    return
  }
  const attachable: Attachable = { want, driver, handle, name: attachmentName(handle, driver, want.node) }
  const elsewhere = mayAttach(context, findings, attachable)
  const node = nodeOf(context, want.node)
  if (elsewhere === undefined || node === undefined) return
  if ('code' in elsewhere) {
    findings.wait('AttachVolume', elsewhere, 'R742', { ...aboutOf(want), attachment: attachable.name })
  } else findings.add(draftOf(context, attachable, node, elsewhere.after, room))
}

/** Who acts first; or after which detaches volctl does. Undefined: there is nothing to do, or it is a separate problem. */
function mayAttach(
  context: ClusterContext,
  findings: ClusterFindings,
  attachable: Attachable,
): Wait | { readonly after: readonly ClusterDraft[] } | undefined {
  const { want, driver, name } = attachable
  const found = context.objects.attachment(name)
  if (found.state === 'Found') return whoseTurn(found.object)
  const elsewhere = whereElse(context, findings, want)
  if (elsewhere === undefined || 'code' in elsewhere) return elsewhere
  if (isControllerAlive(context)) {
    const message = `the attach/detach controller attaches the volume to node ${want.node}`
    return { code: 'ControllerActs', message, hint: controllerHint(context, want) }
  }
  const node = nodeOf(context, want.node)
  return (node && whyNotYet(context, node, driver)) ?? elsewhere
}

function controllerHint(context: ClusterContext, { pods: [pod] }: Want): string {
  const first = `If nothing happens, ${lookAtController(context)}`
  return pod === undefined ? `${first}.` : `${first}, and at the pod's events: ${describePod(pod)}`
}

function aboutOf({ node, pods, volume }: Want) {
  return { node, pods: pods.map(podRef), volume: volumeRef(volume) }
}

/** iSCSI, FC and flexVolume have no object: the controller writes the Node's status, which volctl never does (R331). */
function waitForStatus(context: ClusterContext, findings: ClusterFindings, want: Want): void {
  if (want.isConfirmed) return
  const message = `only the attach/detach controller attaches a volume of plugin ${want.volume.plugin}: it writes the status of node ${want.node}`
  findings.wait(
    'AttachVolume',
    { code: 'ControllerActs', message, hint: controllerHint(context, want) },
    'R331',
    aboutOf(want),
  )
}

/** An attachment that is there: its attacher has to attach, or to end its deletion first. */
function whoseTurn({ name, deletedAt, attached, attachError, attacher }: ClusterAttachment): Wait | undefined {
  const look = lookAtAttacher(name, attacher)
  if (deletedAt !== undefined) {
    const message = `VolumeAttachment ${name} is being deleted since ${deletedAt}; the volume is attached again after that`
    return { code: 'AttachmentDeleting', message, hint: look }
  }
  if (attached === true) return undefined
  const error = attachError === undefined ? '' : `; the last attempt failed: ${attachError.message}`
  return { code: 'ControllerActs', message: `VolumeAttachment ${name} is not attached yet${error}`, hint: look }
}

/** What the node lacks. An attachment to a node that cannot use it helps nobody. */
export function whyNotYet(context: ClusterContext, node: ClusterNode, driver: string): Wait | undefined {
  const { name, outOfService, deletedAt, csi } = node
  const readiness = readinessOf(context, node)
  const { ready } = readiness
  if (ready === undefined)
    return { code: 'NodeUnknown', message: `whether node ${name} is ready is not known`, hint: lookAtNode(name) }
  if (ready !== 'True')
    return { code: 'NodeNotReady', message: `node ${name} ${notReadyText(readiness)}`, hint: lookAtNode(name) }
  if (outOfService) {
    const hint = `Once the node can be trusted again: ${untaintOutOfService(name)}`
    return { code: 'NodeNotReady', message: `node ${name} is tainted out-of-service`, hint }
  }
  if (deletedAt !== undefined) return { code: 'NodeNotReady', message: `node ${name} is being deleted` }
  if (csi.state === 'unknown') return { code: 'NodeUnknown', message: `the CSINode of node ${name} could not be read` }
  if (csi.drivers?.some((each) => each.name === driver)) return undefined
  return {
    code: 'DriverUnavailable',
    message: `driver ${driver} is not registered on node ${name}`,
    hint: lookAtNodePod(name),
  }
}

function draftOf(
  context: ClusterContext,
  attachable: Attachable,
  node: ClusterNode,
  after: readonly ClusterDraft[],
  room: RoomOnNodes,
): Omit<ClusterDraft, 'subject'> {
  const { want, driver, name } = attachable
  const steps: readonly ClusterStep[] = [{ op: 'createVolumeAttachment', target: `volumeattachments/${name}` }]
  const blocked = room.take(node, driver) ?? forbidden(context, steps)
  return {
    ...{ kind: 'AttachVolume', reason: 'WantedNotAttached', rule: 'R745', ...aboutOf(want) },
    message: `${podsText(want)} on node ${node.name} ${want.pods.length === 1 ? 'wants' : 'want'} the volume, and no VolumeAttachment asks for it`,
    ...{ paths: [], steps, after },
    ...omitUndefined({ blocked }),
    evidence: want.pods.slice(0, MOST_PODS).map((pod) => fact(`pod ${namespacedName(pod)} was created`, pod.createdAt)),
    attachment: { name },
    creates: newAttachment(attachable),
    basis: {
      node: { uid: node.uid, resourceVersion: node.resourceVersion },
      inUse: want.isInUse,
    },
  }
}

const MOST_PODS = 5

function podsText({ pods: [first, ...others] }: Want): string {
  const name = first === undefined ? '' : namespacedName(first)
  return others.length === 0 ? `pod ${name}` : `pod ${name} and ${others.length} more`
}

/** R745: exactly the object that the controller would create. */
function newAttachment({ want, driver, name }: Attachable): NewAttachment {
  const { persistentVolume, volume, node } = want
  const source =
    volume.inlineSpec === undefined
      ? { persistentVolumeName: persistentVolume ?? volume.name ?? '' }
      : { inlineVolumeSpec: volume.inlineSpec }
  return { name, attacher: driver, nodeName: node, source }
}

/** N67: how many volumes of a driver a node may have. What is being detached still counts. */
class RoomOnNodes {
  readonly #context: ClusterContext
  readonly #taken = new Map<string, number>()

  constructor(context: ClusterContext) {
    this.#context = context
  }

  take(node: ClusterNode, driver: string): Blocked | undefined {
    const limit = node.csi.drivers?.find(({ name }) => name === driver)?.limit
    if (limit === undefined) return undefined
    const key = `${node.name} ${driver}`
    const taken = this.#taken.get(key) ?? this.#attached(node.name, driver)
    if (taken < limit) {
      this.#taken.set(key, taken + 1)
      return undefined
    }
    return blockedBy(
      'AttachLimit',
      `node ${node.name} has ${count(taken, 'volume')} of driver ${driver} attached, and its CSINode allows ${limit}`,
    )
  }

  #attached(node: string, driver: string): number {
    return this.#context.rows.attachedTo(node).filter(({ object }) => object.attacher === driver).length
  }
}

// May a volume be attached to one more node (R740, R742)? Unlike the controller, volctl lets an uncertain attachment elsewhere block.

/** What it waits for; or the detaches of this plan that must be through first. Undefined: pods of several nodes want it, and none gets it. */
function whereElse(
  context: ClusterContext,
  findings: ClusterFindings,
  { volume, node }: Want,
): Wait | { readonly after: readonly ClusterDraft[] } | undefined {
  const { uniqueName, driver = '' } = volume
  if (!isExclusive(volume)) return { after: [] }
  if (context.rows.ofVolume(uniqueName).some((each) => each.node !== node && isWanted(each))) return undefined
  if (context.rows.unidentifiedOf(driver).length > MOST_UNIDENTIFIED) return TOO_MANY_UNKNOWN
  const detaches = findings.detachesOf(uniqueName)
  const planned = new Set(detaches.map(({ attachment }) => attachment.name))
  const left = otherNodes(context, volume, node).filter(
    (each) => !isDetached(context.rows.of(each, uniqueName), planned),
  )
  if (left.length === 0) return { after: detaches.filter((each) => each.node !== node) }
  return {
    code: 'DetachFirst',
    message: `the volume may be on one node only, and is, or may be, attached to ${nodesText(left)}`,
    ...advised([
      'No pod wants the volume there any more. See what keeps it there:',
      planCluster('--node', left[0] ?? 'NAME'),
    ]),
  }
}

/** Each may be this volume, and only a hash for each pair of both would show that. */
const MOST_UNIDENTIFIED = 1000
const TOO_MANY_UNKNOWN: Wait = {
  code: 'DetachFirst',
  message: `more than ${MOST_UNIDENTIFIED} VolumeAttachments of its driver are of unknown volumes, and one of those may be this volume`,
  ...advised(['Detach those first:', planCluster('--only', 'detach'), 'detach those first']),
}

/**
 * By attachment in whatever state, by the hash in an attachment's name, or by the word of a Node that it uses the volume. What
 * volumesAttached alone lists is detached: for a CSI volume the VolumeAttachment is the truth, and a dead controller never
 * corrects the list (C43, C44).
 */
function otherNodes(context: ClusterContext, volume: KnownVolume, node: string): readonly string[] {
  const { rows } = context
  const { uniqueName, driver = '', handle = '' } = volume
  const unknown = rows
    .unidentifiedOf(driver)
    .filter(({ object }) => object.name === attachmentName(handle, driver, object.node))
  const known = rows.ofVolume(uniqueName).filter((row) => row.attached.length > 0 || mayUse(context, row))
  const nodes = new Set([...known.map((row) => row.node), ...unknown.map(({ object }) => object.node)])
  return [...nodes].filter((each) => each !== node).toSorted(compareText)
}

/** Not where the table allows to detach what is in use: its report is as old as the node is silent. */
function mayUse(context: ClusterContext, row: Row): boolean {
  if (!isUsing(row)) return false
  const node = nodeOf(context, row.node)
  if (node === undefined) return true
  const { is } = detachRow(context, node, row)
  return is !== 'OutOfService' && !(is === 'NodeLost' && isGivenAsGone(context, row.node))
}

/** True if the plan takes away every attachment of the volume on that node. */
function isDetached({ attached = [] }: Partial<Row> = {}, planned: ReadonlySet<string>): boolean {
  return attached.length > 0 && attached.every(({ object }) => planned.has(object.name))
}

/** Attach, after every detach: each volume that a pod of a node wants, and that no VolumeAttachment asks for (R742, R745). */

import { compareText, count } from '../../base/text.ts'
import { namespacedName } from '../../kube/api/names.ts'
import {
  advice,
  describePod,
  lookAtAttacher,
  lookAtNode,
  lookAtNodePod,
  planCluster,
  untaintOutOfService,
} from '../../messages/command.ts'
import { type Finding, said } from '../../messages/findings.ts'
import type { Wait } from '../../plan/draft.ts'
import { foundOf } from '../../volumes/api-lookup.ts'
import type { Blocked } from '../../volumes/finding.ts'
import { attachmentName } from '../../volumes/volume-names.ts'
import { type ClusterContext, notReadyText } from '../model/cluster-context.ts'
import { ATTACH_LISTS, type ClusterAttachment, type ClusterNode } from '../model/cluster-state.ts'
import { type ClusterDraft, forbidden, nodesText, podRef } from '../model/findings.ts'
import { isUsing, isWanted, type Row } from '../model/rows.ts'
import { isExclusive, volumeRef } from '../model/volumes.ts'
import { detachRow } from './detach-volumes.ts'

export function attachVolumes(context: ClusterContext): void {
  if (!ATTACH_LISTS.every((list) => context.objects.isWhole(list))) return
  const room = roomOnNodes(context)
  const wants = context.rows.all().filter(({ pods }) => pods.length > 0)
  wants.sort((a, b) => compareText(a.node, b.node) || compareText(a.uniqueName, b.uniqueName))
  for (const want of wants) attachVolume(context, want, room)
}

function attachVolume(context: ClusterContext, want: Row, room: ReturnType<typeof roomOnNodes>): void {
  const { node: nodeName, pods, volume } = want
  const about = { node: nodeName, pods: pods.map(podRef), volume: volumeRef(volume) }
  const { driver, handle, plugin, inlineSpec } = volume
  if (driver === undefined || handle === undefined) {
    // iSCSI, FC and flexVolume have no object: the controller writes the Node's status, which volctl never does (R331).
    if (want.isConfirmed) return
    const wait = leftToController(context, want, said('ControllerActs.plugin', { plugin, node: nodeName }))
    context.findings.wait('AttachVolume', wait, 'R331', about)
    return
  }
  // R007
  const name = attachmentName(handle, driver, nodeName)
  const node = context.node(nodeName)
  const turn = node && mayAttach(context, want, node, name)
  if (node === undefined || turn === undefined) return
  if ('code' in turn) {
    context.findings.wait('AttachVolume', turn, 'R742', { ...about, attachment: name })
    return
  }
  // An operation after one that is blocked is blocked, too (S26).
  const isBehind = turn.after.some(({ blocked }) => blocked !== undefined)
  const [first, ...others] = pods
  const args = { pod: namespacedName({ ...first }), node: nodeName, others: others.length }
  context.findings.add({
    kind: 'AttachVolume',
    rule: 'R745',
    ...about,
    ...said(others.length === 0 ? 'WantedNotAttached.pod' : 'WantedNotAttached.pods', args),
    paths: [],
    steps: [{ op: 'createVolumeAttachment', target: `volumeattachments/${name}` }],
    after: turn.after,
    blocked:
      room(node, driver) ?? forbidden(context.state, 'create') ?? (isBehind ? said('Predecessor.detach') : undefined),
    attachment: { name },
    // R745: exactly the object that the controller would create.
    creates: {
      name,
      attacher: driver,
      nodeName,
      source:
        inlineSpec === undefined
          ? { persistentVolumeName: want.persistentVolume ?? volume.name ?? '' }
          : { inlineVolumeSpec: inlineSpec },
    },
    basis: { node: { uid: node.uid, resourceVersion: node.resourceVersion }, inUse: want.isInUse },
  })
}

type Turn = Wait | { readonly after: readonly ClusterDraft[] } | undefined

/** Who acts first; or after which detaches volctl does. Undefined: there is nothing to do, or it is a separate problem. */
function mayAttach(context: ClusterContext, want: Row, node: ClusterNode, name: string): Turn {
  const found = foundOf(context.objects.attachment(name))
  if (found !== undefined) return whoseTurn(found)
  const elsewhere = whereElse(context, want)
  if (elsewhere === undefined || 'code' in elsewhere) return elsewhere
  if (context.isControllerAlive) {
    return leftToController(context, want, said('ControllerActs.attachesTo', { node: node.name }))
  }
  return whyNotYet(context, node, want.volume.driver ?? '') ?? elsewhere
}

function leftToController(context: ClusterContext, { pods: [pod] }: Row, finding: Finding<'ControllerActs'>): Wait {
  const events = pod === undefined ? '.' : advice`, and at the pod's events: ${describePod(pod)}`
  return { ...finding, hint: advice`If nothing happens, ${context.lookAtController}${events}` }
}

/** An attachment that is there: its attacher has to attach, or to end its deletion first. */
function whoseTurn({ name, deletedAt, attached, attachError, attacher }: ClusterAttachment): Wait | undefined {
  const look = lookAtAttacher(name, attacher)
  if (deletedAt !== undefined) {
    return { ...said('AttachmentDeleting.attachedAfter', { name, deletedAt }), hint: look }
  }
  if (attached === true) return undefined
  const error = attachError === undefined ? '' : `; the last attempt failed: ${attachError.message}`
  return { ...said('ControllerActs.attaches', { name, error }), hint: look }
}

/** What the node lacks. An attachment to a node that cannot use it helps nobody. */
export function whyNotYet(context: ClusterContext, node: ClusterNode, driver: string): Wait | undefined {
  const { name, outOfService, deletedAt, csi } = node
  const readiness = context.readinessOf(node)
  const { ready } = readiness
  if (ready === undefined) return { ...said('NodeUnknown.ready', { name }), hint: lookAtNode(name) }
  if (ready !== 'True')
    return { ...said('NodeNotReady.why', { name, notReady: notReadyText(readiness) }), hint: lookAtNode(name) }
  if (outOfService) {
    const hint = advice`Once the node can be trusted again: ${untaintOutOfService(name)}`
    return { ...said('NodeNotReady.tainted', { name }), hint }
  }
  if (deletedAt !== undefined) return said('NodeNotReady.deleted', { name })
  if (csi.state === 'unknown') return said('NodeUnknown.csiNode', { name })
  if (csi.drivers?.some((each) => each.name === driver)) return undefined
  return {
    ...said('DriverUnavailable.notOnNode', { driver, node: name }),
    hint: lookAtNodePod(name),
  }
}

/** N67: how many volumes of a driver a node may have. What is being detached still counts. */
function roomOnNodes({ rows }: ClusterContext) {
  const taken = new Map<string, number>()
  return ({ name, csi }: ClusterNode, driver: string): Blocked | undefined => {
    const limit = csi.drivers?.find((each) => each.name === driver)?.limit
    if (limit === undefined) return undefined
    const key = `${name} ${driver}`
    const has = taken.get(key) ?? rows.attachedTo.of(name).filter(({ object }) => object.attacher === driver).length
    if (has < limit) {
      taken.set(key, has + 1)
      return undefined
    }
    return said('AttachLimit.node', { name, volumes: count(has, 'volume'), driver, limit })
  }
}

// May a volume be attached to one more node (R740, R742)? Unlike the controller, volctl lets an uncertain attachment elsewhere block.

/**
 * What it waits for; or the detaches of this plan that must be through first. Undefined: pods of several nodes want it, and none gets it.
 *
 * Another node has it by attachment in whatever state, by the hash in an attachment's name, or by the word of a Node that it uses the
 * volume. What volumesAttached alone lists is detached: for a CSI volume the VolumeAttachment is the truth, and a dead controller never
 * corrects the list (C43, C44).
 */
function whereElse(context: ClusterContext, { volume, node }: Row): Turn {
  const { uniqueName, driver = '', handle = '' } = volume
  if (!isExclusive(volume)) return { after: [] }
  const known = context.rows.ofVolume.of(uniqueName).filter((row) => row.node !== node)
  if (known.some(isWanted)) return undefined
  const unknown = context.rows.unidentified.of(driver).map(({ object }) => object)
  if (unknown.length > MOST_UNIDENTIFIED) return TOO_MANY_UNKNOWN
  const after = context.findings.detachesOf.of(uniqueName).filter((each) => each.node !== node)
  const planned = new Set(after.map(({ attachment }) => attachment.name))
  const having = known.filter((row) =>
    row.attached.length > 0 ? row.attached.some(({ object }) => !planned.has(object.name)) : mayUse(context, row),
  )
  const named = unknown.filter((each) => each.name === attachmentName(handle, driver, each.node))
  const left = [...new Set([...having, ...named].map((each) => each.node))].toSorted(compareText)
  const [first] = left
  if (first === undefined) return { after }
  return {
    ...said('DetachFirst.otherNode', { nodes: nodesText(left) }),
    hint: advice`No pod wants the volume there any more. See what keeps it there: ${planCluster('--node', first)}`.alike(),
  }
}

/** Each may be this volume, and only a hash for each pair of both would show that. */
const MOST_UNIDENTIFIED = 1000
const TOO_MANY_UNKNOWN: Wait = {
  ...said('DetachFirst.tooMany', { most: MOST_UNIDENTIFIED }),
  hint: advice`Detach those first: ${planCluster('--only', 'detach')}`.alike('detach those first'),
}

/** Not where the table allows to detach what is in use: its report is as old as the node is silent. */
function mayUse(context: ClusterContext, row: Row): boolean {
  const node = context.node(row.node)
  const is = node && detachRow(context, node, row).is
  return isUsing(row) && is !== 'OutOfService' && !(is === 'NodeLost' && context.isGivenAsGone(row.node))
}

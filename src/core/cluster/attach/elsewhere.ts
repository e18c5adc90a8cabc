/** May a volume be attached to one more node (R740, R742)? Unlike the controller, volctl lets an uncertain attachment elsewhere block. */

import { volctl } from '../../lang/command.ts'
import { compareText } from '../../lang/compare-text.ts'
import { attachmentName } from '../../names/volume-names.ts'
import { type ClusterContext, nodeOf } from '../context/cluster-context.ts'
import type { ClusterDraft, ClusterFindings, ClusterWait } from '../context/findings.ts'
import { isGivenAsGone } from '../context/readiness.ts'
import { nodesText } from '../context/words.ts'
import type { Want } from '../desired/desired-attachments.ts'
import { rowOnNode } from '../detach/node-state.ts'
import type { KnownVolume } from '../model/known-volume.ts'

export type Elsewhere =
  /** `after`: detaches of this plan that must be through first. */
  | { readonly state: 'free'; readonly after: readonly ClusterDraft[] }
  /** Pods of several nodes want it: none gets it, and all are named. */
  | { readonly state: 'contested' }
  | { readonly state: 'waits'; readonly wait: ClusterWait }

export function whereElse(context: ClusterContext, findings: ClusterFindings, { volume, node }: Want): Elsewhere {
  if (!volume.exclusive) return { state: 'free', after: [] }
  if (context.desired.ofVolume(volume.uniqueName).some((each) => each.node !== node)) return { state: 'contested' }
  if (context.actual.unidentifiedOf(volume.driver ?? '').length > MOST_UNIDENTIFIED)
    return { state: 'waits', wait: TOO_MANY_UNKNOWN }
  const nodes = otherNodes(context, volume, node)
  const detaches = findings.detachesOf(volume.uniqueName)
  const planned = new Set(detaches.map(({ attachment }) => attachment.name))
  const left = nodes.filter((each) => !isDetached(context, volume, each, planned))
  if (left.length === 0) return { state: 'free', after: detaches.filter((each) => each.node !== node) }
  const names = nodesText(left)
  return {
    state: 'waits',
    wait: {
      code: 'DetachFirst',
      message: `the volume may be on one node only, and is, or may be, attached to ${names}`,
      hint: `No pod wants the volume there any more. See what keeps it there: ${volctl('plan', '--cluster', '--node', left[0] ?? 'NAME')}`,
    },
  }
}

/** Each may be this volume, and only a hash for each pair of both would show that. */
const MOST_UNIDENTIFIED = 1000
const TOO_MANY_UNKNOWN: ClusterWait = {
  code: 'DetachFirst',
  message: `more than ${MOST_UNIDENTIFIED} VolumeAttachments of its driver are of unknown volumes, and one of those may be this volume`,
  hint: 'Detach those first: volctl plan --cluster --only detach',
}

/**
 * By attachment in whatever state, by the hash in an attachment's name, or by the word of a Node that it uses the volume. What
 * volumesAttached alone lists is detached: for a CSI volume the VolumeAttachment is the truth, and a dead controller never
 * corrects the list (C43, C44).
 */
function otherNodes(context: ClusterContext, volume: KnownVolume, node: string): readonly string[] {
  const { actual } = context
  const { uniqueName, driver = '', handle = '' } = volume
  const unknown = actual
    .unidentifiedOf(driver)
    .filter(({ object }) => object.name === attachmentName(handle, driver, object.node))
  const attached = [...actual.ofVolume(uniqueName), ...unknown].map(({ object }) => object.node)
  const using = actual.nodesUsing(uniqueName).filter((each) => mayUse(context, uniqueName, each))
  return [...new Set([...attached, ...using])].filter((each) => each !== node).toSorted(compareText)
}

/** Not where the table allows to detach what is in use: its report is as old as the node is silent. */
function mayUse(context: ClusterContext, uniqueName: string, name: string): boolean {
  const node = nodeOf(context, name)
  if (node === undefined) return true
  const { row } = rowOnNode(context, node, uniqueName)
  return row !== 'OutOfService' && !(row === 'NodeLost' && isGivenAsGone(context, name))
}

/** True if the plan takes away every attachment of the volume on that node. */
function isDetached(
  { actual }: ClusterContext,
  { uniqueName }: KnownVolume,
  node: string,
  planned: ReadonlySet<string>,
): boolean {
  const attached = actual.on(node, uniqueName)
  return attached.length > 0 && attached.every(({ object }) => planned.has(object.name))
}

/** Is an operation of a reviewed plan still the same, by a look made just now? If not, it is refused, with the reason (S26). */

import { causeOf } from '../../codes/codes.ts'
import type { ClusterBlocked, ClusterOperation, ClusterPlan } from '../../plan/cluster-plan.ts'
import { clusterDifferencesOf, type Difference, differencesText } from '../../plan/differences.ts'
import type { ClusterState } from '../model/cluster-state.ts'

export interface Judged {
  /** The fresh plan's operation: this one is carried out. */
  readonly operation: ClusterOperation
  readonly refused?: ClusterBlocked
  /** It is refused only because nothing of it is left to do. */
  readonly alreadyDone?: boolean
  readonly differences?: readonly Difference[]
}

/** An operation is the same if it would do the same, to the same objects, for the same reason. */
export function judgeAgain(planned: ClusterOperation, fresh: ClusterPlan, state: ClusterState): Judged {
  if (planned.blocked !== undefined) return { operation: planned }
  const operation = fresh.operations.find(({ id }) => id === planned.id)
  if (operation === undefined) {
    const alreadyDone = isDone(planned, state)
    return { operation: planned, refused: alreadyDone ? ALREADY_DONE : noLongerPlanned(planned, fresh), alreadyDone }
  }
  // The attach of a plan waits for its detach; by then, the order of the reviewed plan holds.
  if (operation.blocked !== undefined && causeOf(operation.blocked.code) !== 'follows')
    return {
      operation: planned,
      refused: { ...operation.blocked, message: `blocked now: ${operation.blocked.message}` },
    }
  const differences = clusterDifferencesOf(planned, operation, (id) => fresh.operations.some((each) => each.id === id))
  if (differences.length === 0) return { operation: { ...operation, after: planned.after } }
  const refused: ClusterBlocked = {
    code: 'Changed',
    message: `changed since the plan was made: ${differencesText(differences)}`,
    hint: PLAN_AGAIN,
  }
  return { operation: planned, refused, differences }
}

const PLAN_AGAIN = 'Plan again, and look at what has changed.'

const ALREADY_DONE: ClusterBlocked = {
  code: 'AlreadyDone',
  message: 'already done: nothing of what the operation would do is left to do',
}

function isDone({ kind, attachment, creates, steps }: ClusterOperation, { attachments, lists }: ClusterState): boolean {
  const found = attachments.find(({ name }) => name === attachment.name)
  if (kind === 'DetachVolume') {
    const isShown = lists.volumeattachments?.state === 'whole'
    return isShown && steps.length > 0 && (found === undefined || found.uid !== attachment.uid)
  }
  return (
    found !== undefined &&
    found.deletedAt === undefined &&
    found.attacher === creates?.attacher &&
    found.node === creates.nodeName &&
    'persistentVolumeName' in creates.source &&
    found.persistentVolume === creates.source.persistentVolumeName
  )
}

/** A problem of the volume on other nodes is no reason for this one. */
function noLongerPlanned({ kind, node, attachment, volume }: ClusterOperation, fresh: ClusterPlan): ClusterBlocked {
  const waiting = fresh.waiting.find((each) => each.attachment === attachment.name)
  const contested = fresh.problems.find(
    ({ about }) =>
      kind === 'AttachVolume' &&
      volume.uniqueName !== undefined &&
      about.volume?.uniqueName === volume.uniqueName &&
      about.nodes?.includes(node) === true,
  )
  const why =
    waiting?.message ??
    contested?.message ??
    (kind === 'DetachVolume'
      ? `a pod of node ${node} wants the volume, or may want it`
      : `no pod of node ${node} waits for the volume any more`)
  return { code: 'NoLongerPlanned', message: `no longer needed by a plan made now: ${why}`, hint: PLAN_AGAIN }
}

/** Is an operation of a reviewed plan still the same, by a look made just now? If not, it is refused, with the reason (S26). */

import { type Comparison, type FoundAgain, foundAgain } from '../../apply/conditions/find-again.ts'
import { causeOf } from '../../codes/codes.ts'
import type { ClusterOperation, ClusterPlan } from '../../plan/cluster-plan.ts'
import { clusterDifferencesOf } from '../../plan/differences.ts'
import { areOfOneRow, rowOf, rowsOf } from '../../plan/subject.ts'
import type { ClusterState } from '../model/cluster-state.ts'

export type Judged = FoundAgain<ClusterOperation>

export function judgeAgain(planned: ClusterOperation, fresh: ClusterPlan, state: ClusterState): Judged {
  return foundAgain(planned, comparisonWith(fresh, state))
}

export function judgeAll(operations: readonly ClusterOperation[], fresh: ClusterPlan, state: ClusterState): Judged[] {
  const comparison = comparisonWith(fresh, state)
  return operations.map((planned) => foundAgain(planned, comparison))
}

/** A plan made just now of this state, to compare reviewed operations with. */
function comparisonWith(fresh: ClusterPlan, state: ClusterState): Comparison<ClusterOperation> {
  return {
    byId: new Map(fresh.operations.map((operation) => [operation.id, operation])),
    isDone: (planned) => isDone(planned, state),
    whyGone: (planned) => whyGone(planned, fresh),
    differencesOf: clusterDifferencesOf,
    // The attach of a plan waits for its detach; by then, the order of the reviewed plan holds.
    refuses: ({ code }) => causeOf(code) !== 'follows',
  }
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

function whyGone({ kind, node, subject }: ClusterOperation, { waiting, problems }: ClusterPlan): string {
  const row = rowOf(subject)
  const wait = waiting.find((each) => areOfOneRow(each.subject, subject))
  const problem = problems.find((each) => row !== undefined && rowsOf(each.subject).includes(row))
  return (
    wait?.message ??
    (kind === 'AttachVolume' ? problem?.message : undefined) ??
    (kind === 'DetachVolume'
      ? `a pod of node ${node} wants the volume, or may want it`
      : `no pod of node ${node} waits for the volume any more`)
  )
}

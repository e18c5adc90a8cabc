/** Is an operation of a reviewed plan still the same, by a look made just now? If not, it is refused, with the reason (S26). */

import { canonicalJson } from '../../json/canonical-json.ts'
import type { ClusterBlocked, ClusterOperation, ClusterPlan } from '../../plan/cluster-plan.ts'
import { type Difference, differencesText } from '../../plan/differences.ts'
import type { ClusterState } from '../model/cluster-state.ts'

export interface Judged {
  /** The fresh plan's operation: this one is carried out. */
  readonly operation: ClusterOperation
  readonly refused?: ClusterBlocked
  readonly differences?: readonly Difference[]
}

/** An operation is the same if it would do the same, to the same objects, for the same reason. */
export function judgeAgain(planned: ClusterOperation, fresh: ClusterPlan, state: ClusterState): Judged {
  if (planned.blocked !== undefined) return { operation: planned }
  const operation = fresh.operations.find(({ id }) => id === planned.id)
  if (operation === undefined)
    return { operation: planned, refused: isDone(planned, state) ? ALREADY_DONE : noLongerPlanned(planned, fresh) }
  // The attach of a plan waits for its detach; by then, the order of the reviewed plan holds.
  if (operation.blocked !== undefined && operation.blocked.code !== 'PredecessorBlocked')
    return {
      operation: planned,
      refused: { ...operation.blocked, message: `blocked now: ${operation.blocked.message}` },
    }
  const differences = differencesOf(planned, operation)
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

/** The versions of the Node and of the attachment change with every report of theirs; what follows from them is compared. */
function differencesOf(was: ClusterOperation, now: ClusterOperation): Difference[] {
  return [
    ...compare('the kind', was.kind, now.kind),
    ...compare('the reason', was.reason, now.reason),
    ...compare('the node', was.basis.node?.uid, now.basis.node?.uid),
    ...compare('the attachment', was.attachment.uid, now.attachment.uid),
    ...compare('the steps', textOf(was.steps), textOf(now.steps)),
    ...compare('what is created', textOf(was.creates), textOf(now.creates)),
    ...compare('the pods', uidsOf(was), uidsOf(now)),
    // The kubelet reports a volume in use that it waits for (R330): of an attach the report says nothing more than its pods.
    ...(was.kind === 'AttachVolume'
      ? []
      : compare('in use on the node', yesNo(was.basis.inUse), yesNo(now.basis.inUse))),
    ...compare('the exception', was.basis.exception, now.basis.exception),
    ...(['uniqueName', 'driver', 'handle'] as const).flatMap((field) =>
      compare(`the volume's ${field}`, was.volume[field], now.volume[field]),
    ),
  ]
}

function compare(what: string, was = 'nothing', now = 'nothing'): Difference[] {
  return was === now ? [] : [{ what, was, now }]
}

function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : canonicalJson(value)
}

function uidsOf({ pods }: ClusterOperation): string {
  return pods
    .map(({ uid }) => uid)
    .toSorted()
    .join(', ')
}

function yesNo(value: boolean): string {
  return value ? 'yes' : 'no'
}

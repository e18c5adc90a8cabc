/**
 * S29 for a cluster: has the API server lost pods, as after a restore from a backup? Then everything looks unwanted.
 *
 * Of D detaches that would be carried out, A attachments that are not being deleted, and U of T pairs of node and volume that are
 * in use by the word of a Node and wanted by no pod, the plan is refused if D > 0 and one of these holds:
 *   1. the API lists no pod at all, and T > 0;
 *   2. U > 10, and U is more than half of T;
 *   3. D > 10, and D is more than a fifth of A.
 * Lifted by --accept-outage D. Filters do not change D: the sign stays the same, however little is to be done of it.
 */
import { kubectl, volctl } from '../../lang/command.ts'
import { count } from '../../lang/count.ts'
import type { Refusal } from '../../plan/plan.ts'
import { type ClusterContext, nodeOf } from '../context/cluster-context.ts'

export const FEW = 10
const MOST_WITHOUT_POD = 1 / 2
const MOST_DETACHES = 1 / 5

export interface OutageCounts {
  /** All pods that the API lists. */
  readonly pods: number
  readonly attachments: number
  /** Pairs of node and volume. */
  readonly inUse: number
  readonly inUseWithoutPod: number
  readonly detaches: number
}

export function outageCounts(context: ClusterContext, detaches: number): OutageCounts {
  const { state, actual, desired } = context
  let [inUse, without] = [0, 0]
  for (const name of new Set(state.nodes.map((node) => node.name))) {
    const isManaged = nodeOf(context, name)?.managed === true
    for (const uniqueName of actual.inUseOn(name)) {
      inUse += 1
      if (isManaged && desired.on(name, uniqueName) === undefined) without += 1
    }
  }
  const attachments = state.attachments.filter(({ deletedAt }) => deletedAt === undefined).length
  return { pods: state.podCount, attachments, inUse, inUseWithoutPod: without, detaches }
}

/** Why the API server seems to have lost pods; undefined: it does not. */
export function suspicion({ pods, attachments, inUse, inUseWithoutPod, detaches }: OutageCounts): string | undefined {
  if (detaches === 0) return undefined
  if (pods === 0 && inUse > 0) return `the API lists no pod, but nodes report ${count(inUse, 'volume')} in use`
  if (inUseWithoutPod > FEW && inUseWithoutPod > inUse * MOST_WITHOUT_POD) {
    return `of ${inUse} volumes that nodes report in use, no pod wants ${inUseWithoutPod}: the API may have lost pods`
  }
  if (detaches > FEW && detaches > attachments * MOST_DETACHES) {
    return `${detaches} of ${attachments} attachments would be detached at once: the API may have lost pods`
  }
  return undefined
}

/** @param accepted the number that --accept-outage repeats */
export function refuseOutage(counts: OutageCounts, accepted: number | undefined): Refusal | undefined {
  const message = suspicion(counts)
  if (message === undefined || accepted === counts.detaches) return undefined
  return {
    rule: 'S29',
    code: 'OutageSuspected',
    message,
    hint: `If nothing of the API was lost (compare ${kubectl('get', 'pods', '-A')} with what should run): ${volctl('plan', '--cluster', '--accept-outage', `${counts.detaches}`)}`,
  }
}

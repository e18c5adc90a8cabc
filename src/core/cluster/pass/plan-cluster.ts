/**
 * The attach/detach controller's pass over a whole cluster, run once: what pods want (desired), what is attached (actual), then
 * detach, then attach. Pure and deterministic: no clock, no network.
 */

import { lazy } from '../../base/collections.ts'
import { count } from '../../base/text.ts'
import { advice, kubectl, planCluster as planCommand } from '../../messages/command.ts'
import { said } from '../../messages/findings.ts'
import type { ClusterOperation, ClusterOptions, ClusterPlan } from '../../plan/cluster-plan.ts'
import { finishOperations } from '../../plan/draft.ts'
import { withCauses } from '../../plan/name-causes.ts'
import { namedPart } from '../../plan/part-of-plan.ts'
import { ClusterContext, type ClusterFacts } from '../model/cluster-context.ts'
import { ATTACH_LISTS, type ClusterState, DETACH_LISTS } from '../model/cluster-state.ts'
import type { ClusterDraft, ClusterFindings } from '../model/findings.ts'
import { isWanted } from '../model/rows.ts'
import { attachVolumes } from './attach-volumes.ts'
import { detachVolumes } from './detach-volumes.ts'
import { reportUnmatchedNames, scopeOf, standsOf } from './given-names.ts'
import { reportFindings } from './report-findings.ts'

/** Plans one pass over a cluster. Same state and options in, same bytes out. */
export function planCluster(state: ClusterState, options: ClusterOptions): ClusterPlan {
  const context = new ClusterContext(state, options)
  passOver(context)
  reportFindings(context)
  const scope = scopeOf(context)
  reportUnmatchedNames(context, scope)
  const counts = outageCounts(context)
  const blocked = refuseOutage(counts, options.acceptOutage)
  const refused = blocked && { rule: 'S29', ...blocked }
  const { kept, filtered, ...named } = namedPart(context.findings, options, {
    operation: ({ node, attachment, ...draft }) =>
      scope.isNamed({ ...draft, nodes: [node], attachment: attachment.name }, 'operation'),
    wait: ({ node, ...wait }) => scope.isNamed({ ...wait, nodes: [node] }, 'finding'),
    problem: ({ about }) => scope.isNamed(about, 'finding'),
  })
  const operations = finishOperations<ClusterDraft, ClusterOperation>(kept).map((operation) => ({
    ...operation,
    ...(blocked && { blocked }),
  }))
  return {
    apiVersion: 'volctl.io/v1',
    kind: 'Plan',
    scope: 'cluster',
    cluster: { server: state.server, uid: state.clusterUID },
    createdAt: state.capturedAt,
    volctlVersion: options.volctlVersion,
    inputs: inputsOf(context, counts),
    ...withCauses({ operations, ...named }, filtered),
    complete: context.findings.complete,
    refused,
    stands: standsOf(context, scope, refused),
  }
}

/** What the pass finds, whatever flags leave out of a plan. */
export type Found = Pick<ClusterPlan, 'operations' | 'waiting' | 'problems'>

/**
 * What the same pass finds in a part of a cluster. The outage guard (S29) counts a whole cluster, and is not asked.
 *
 * @param facts of the whole cluster
 */
export function planPart(part: ClusterState, options: ClusterOptions, facts: ClusterFacts): Found {
  const context = new ClusterContext(part, options, facts)
  const { operations, waiting, problems } = passOver(context)
  const reported = lazy(() => {
    reportFindings(context)
    return problems
  })
  return {
    operations: finishOperations(operations),
    waiting,
    // They cost as much as the rest, and are asked for only where an operation is gone.
    get problems() {
      return reported()
    },
  }
}

function passOver(context: ClusterContext): ClusterFindings {
  detachVolumes(context)
  attachVolumes(context)
  return context.findings
}

function inputsOf({ state, controller, objects }: ClusterContext, counts: OutageCounts): ClusterPlan['inputs'] {
  const { server, user, insecure, lists } = state
  return {
    api: { server, user, insecure },
    controller,
    lists,
    counts: { nodes: state.nodes.length, ...counts },
    // S31: rules that need a list which is not whole. Then they hold everything back.
    unjudged: NEEDS_LISTS.flatMap(({ rule, asks, needs }) => {
      const lacks = needs.filter((list) => !objects.isWhole(list)).join(', ')
      return lacks === '' ? [] : [{ rule, message: `${asks} (not all ${lacks} were read)` }]
    }),
  }
}

const NEEDS_LISTS = [
  { rule: 'S29', asks: 'whether the API has lost pods', needs: DETACH_LISTS },
  { rule: 'S30', asks: 'whether another node has a volume', needs: ATTACH_LISTS },
]

// S29 for a cluster: has the API server lost pods, as after a restore from a backup? Then everything looks unwanted.
//
// Of D detaches that would be carried out, A attachments that are not being deleted, and U of T pairs of node and volume that are
// in use by the word of a Node and wanted by no pod, the plan is refused if D > 0 and one of these holds:
//   1. the API lists no pod at all, and T > 0;
//   2. U > 10, and U is more than half of T;
//   3. D > 10, and D is more than a fifth of A.
// Lifted by --accept-outage D. Filters do not change D: the sign stays the same, however little is to be done of it.

const FEW = 10
const MOST_WITHOUT_POD = 1 / 2
const MOST_DETACHES = 1 / 5

export type OutageCounts = Omit<ClusterPlan['inputs']['counts'], 'nodes'>

function outageCounts(context: ClusterContext): OutageCounts {
  const { state, rows, findings } = context
  const inUse = rows.all().filter((row) => row.isInUse)
  const without = inUse.filter((row) => !isWanted(row) && context.node(row.node)?.managed)
  const attachments = state.attachments.filter(({ deletedAt }) => deletedAt === undefined).length
  const detaches = findings.operations.filter(
    ({ kind, blocked }) => kind === 'DetachVolume' && blocked === undefined,
  ).length
  return { pods: state.podCount, attachments, inUse: inUse.length, inUseWithoutPod: without.length, detaches }
}

/** Why the API server seems to have lost pods, where something would be detached; undefined: it does not. */
function suspicion({ pods, attachments, inUse, inUseWithoutPod, detaches }: OutageCounts) {
  if (pods === 0 && inUse > 0) return said('OutageSuspected.clusterNoPods', { volumes: count(inUse, 'volume') })
  if (inUseWithoutPod > FEW && inUseWithoutPod > inUse * MOST_WITHOUT_POD)
    return said('OutageSuspected.noneWants', { inUse, count: inUseWithoutPod })
  return detaches > FEW && detaches > attachments * MOST_DETACHES
    ? said('OutageSuspected.atOnce', { detaches, attachments })
    : undefined
}

/** @param accepted the number that --accept-outage repeats */
export function refuseOutage(counts: OutageCounts, accepted: number | undefined) {
  const { detaches } = counts
  const found = detaches === 0 ? undefined : suspicion(counts)
  if (found === undefined || accepted === detaches) return undefined
  const hint =
    advice`If nothing of the API was lost (compare ${kubectl('get', 'pods', '-A')} with what should run): ${planCommand('--accept-outage', `${detaches}`)}`.alike()
  return { ...found, hint }
}

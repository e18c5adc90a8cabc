import { counted } from '../lang/count.ts'
import { defined } from '../lang/defined.ts'
import type { ClusterPlan } from '../plan/cluster-plan.ts'
import type {
  ApplyDocument,
  ApplyResult,
  ClusterApplyDocument,
  ClusterApplyResult,
  OutcomeState,
  ResultEvent,
} from '../plan/events.ts'
import type { ReviewedPlan } from '../plan/plan.ts'

/** An apply's answer for `-o json` and `yaml`. */
export function applyDocument(plan: ReviewedPlan, result: ApplyResult): ApplyDocument {
  return {
    apiVersion: 'volctl.io/v1',
    kind: 'ApplyResult',
    node: plan.node,
    rootDir: plan.rootDir,
    volctlVersion: plan.volctlVersion,
    ...resultFields(result),
    outcomes: result.outcomes,
    ...defined({ left: result.left, waiting: result.after?.waiting, problems: result.after?.problems }),
  }
}

/** The same for an apply of a cluster. */
export function clusterApplyDocument(
  { cluster, volctlVersion }: Pick<ClusterPlan, 'cluster' | 'volctlVersion'>,
  result: ClusterApplyResult,
): ClusterApplyDocument {
  return {
    apiVersion: 'volctl.io/v1',
    kind: 'ApplyResult',
    scope: 'cluster',
    cluster,
    volctlVersion,
    ...resultFields(result),
    outcomes: result.outcomes,
    ...defined({ left: result.left, waiting: result.after?.waiting, problems: result.after?.problems }),
  }
}

/** The last line of `-o ndjson`. */
export function resultEvent(result: ApplyResult | ClusterApplyResult): ResultEvent {
  return {
    type: 'result',
    time: new Date().toISOString(),
    ...resultFields(result),
    outcomes: counted<OutcomeState>(result.outcomes.map(({ state }) => state)),
    ...defined({ left: result.left?.length }),
  }
}

function resultFields({
  plan,
  exit,
  interrupted,
  refused,
  downtime,
}: ApplyResult | ClusterApplyResult): Pick<ApplyResult, 'plan' | 'exit' | 'interrupted' | 'refused' | 'downtime'> {
  return { plan, exit, interrupted, ...defined({ refused, downtime }) }
}

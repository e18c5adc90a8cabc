import { counted } from '../base/count.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import type { ClusterPlan } from '../plan/cluster-plan.ts'
import type { ApplyResult, ClusterApplyResult, OutcomeState, ResultEvent } from '../plan/events.ts'
import type { ReviewedPlan } from '../plan/plan.ts'

type Where = Pick<ReviewedPlan, 'node' | 'rootDir'> | Pick<ClusterPlan, 'scope' | 'cluster'>

/** An apply's answer for `-o json` and `yaml`. @param plan that was carried out */
export function applyDocument(
  plan: Where & { readonly volctlVersion: string },
  result: ApplyResult | ClusterApplyResult,
) {
  const { outcomes, left, after } = result
  return {
    ...{ apiVersion: 'volctl.io/v1', kind: 'ApplyResult' },
    ...('cluster' in plan ? { scope: plan.scope, cluster: plan.cluster } : { node: plan.node, rootDir: plan.rootDir }),
    volctlVersion: plan.volctlVersion,
    ...resultFields(result),
    outcomes,
    ...omitUndefined({ left, waiting: after?.waiting, problems: after?.problems }),
  }
}

/** The last line of `-o ndjson`. */
export function resultEvent(result: ApplyResult | ClusterApplyResult): ResultEvent {
  return {
    type: 'result',
    time: new Date().toISOString(),
    ...resultFields(result),
    outcomes: counted<OutcomeState>(result.outcomes.map(({ state }) => state)),
    ...omitUndefined({ left: result.left?.length }),
  }
}

function resultFields({
  plan,
  exit,
  interrupted,
  refused,
  downtime,
}: ApplyResult | ClusterApplyResult): Pick<ApplyResult, 'plan' | 'exit' | 'interrupted' | 'refused' | 'downtime'> {
  return { plan, exit, interrupted, ...omitUndefined({ refused, downtime }) }
}

import type { ApplyResult } from '../plan/events.ts'
import type { ReviewedPlan } from '../plan/plan.ts'

/** An apply's answer for `-o json` and `yaml`. */
export function applyDocument(plan: ReviewedPlan, result: ApplyResult): object {
  return {
    apiVersion: 'volctl.io/v1',
    kind: 'ApplyResult',
    node: plan.node,
    rootDir: plan.rootDir,
    volctlVersion: plan.volctlVersion,
    ...resultFields(result),
    outcomes: result.outcomes,
    left: result.left,
    waiting: result.after?.waiting,
    problems: result.after?.problems,
  }
}

/** The last line of `-o ndjson`. */
export function resultEvent(result: ApplyResult): object {
  const counts: Record<string, number> = {}
  for (const { state } of result.outcomes) counts[state] = (counts[state] ?? 0) + 1
  return {
    type: 'result',
    time: new Date().toISOString(),
    ...resultFields(result),
    outcomes: counts,
    left: result.left?.length,
  }
}

function resultFields({ plan, exit, interrupted, refused }: ApplyResult): object {
  return { plan, exit, interrupted, refused }
}

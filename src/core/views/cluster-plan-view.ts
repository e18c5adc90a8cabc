/**
 * A cluster's plan on a screen: the answer; with -v and `-o wide` each operation with what it rests on, each wait and each problem.
 */

import { count } from '../base/count.ts'
import type { ClusterPlan } from '../plan/cluster-plan.ts'
import type { CommandContext } from '../plan/commands.ts'
import { CONTROLLER, clusterAnswerOf, seenText } from './answer/cluster-answer.ts'
import { renderAnswer } from './answer-view.ts'
import { clusterOperationsTable } from './operations-table.ts'
import { apiText, headerText } from './plan-header.ts'
import type { Screen } from './screen.ts'

interface ClusterPlanLook {
  readonly context: CommandContext
  /** Apply is about to ask. */
  readonly asks?: true
  /** Nothing is folded. */
  readonly unfolded: boolean
}

/** The whole answer of `volctl plan --cluster`. */
export function renderClusterPlan(plan: ClusterPlan, screen: Screen, look: ClusterPlanLook): string {
  const full = look.unfolded || screen.wide
  const answer = clusterAnswerOf(plan, look.context, look.asks)
  return renderAnswer(answer, screen, {
    unfolded: full,
    header: full || look.asks ? header(plan, screen) : undefined,
    more: full ? [clusterOperationsTable(plan, screen)].filter((part) => part !== '') : [],
  })
}

/** S31: which cluster, as whom, who else acts, and how much was seen. */
function header({ cluster, inputs }: ClusterPlan, screen: Screen): string {
  const { api, controller, unjudged } = inputs
  const { paint } = screen
  return headerText(
    [
      { label: 'Cluster', ...apiText({ ...api, server: cluster.server }, paint) },
      {
        label: 'Controller',
        text: `the attach/detach controller ${CONTROLLER[controller.state]}: ${controller.note}`,
        colour: controller.state === 'dead' ? paint.warn : undefined,
      },
      { label: 'Seen', text: `${seenText(inputs)}, ${count(inputs.counts.inUse, 'volume')} in use on nodes` },
      ...unjudged.map(({ message }) => ({ label: 'Not judged', text: message, colour: paint.warn })),
    ],
    screen,
  )
}

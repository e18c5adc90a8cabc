/**
 * The plan on a screen: the answer. `confirm` adds what S31 asks for before anyone says yes; -v and `-o wide` the numbered table
 * of all operations, waits and problems.
 */
import { answerOf } from '../answer/make-answer.ts'
import type { Plan } from '../plan/plan.ts'
import { PlanNames } from '../plan/plan-names.ts'
import { renderAnswer } from './answer-view.ts'
import { operationsTable } from './operations-table.ts'
import { planHeader } from './plan-header.ts'
import type { Screen } from './screen.ts'
import { volumesText } from './volumes-table.ts'
import { wrapped } from './wrap.ts'

export interface PlanDetail {
  /** Before apply asks: what a person must have seen (S31). */
  readonly confirm?: boolean
  /** -v: nothing is folded. */
  readonly unfolded?: boolean
  /** The plan is a snapshot's, maybe of another machine. */
  readonly elsewhere?: boolean
}

export function renderPlan(
  plan: Plan,
  screen: Screen,
  { confirm = false, unfolded = false, elsewhere = false }: PlanDetail = {},
): string {
  const { wide } = screen
  const full = unfolded || wide
  const names = new PlanNames(plan)
  const answer = answerOf(plan, names)
  // Before a question the question is the next step.
  const asks = confirm && (plan.summary.ready ?? 0) > 0
  const more = [
    full ? operationsTable(plan, names, screen) : '',
    full || confirm ? volumesText(plan.operations, screen) : '',
    confirm ? insteadText(plan, screen) : '',
  ].filter((part) => part !== '')
  const header = full || confirm ? planHeader(plan, screen) : undefined
  return renderAnswer(asks ? { ...answer, next: [] } : answer, screen, {
    ...{ unfolded: full, header, more },
    place: elsewhere ? plan.node : undefined,
  })
}

/** S31: what the kubelet would have done instead, where it differs. */
function insteadText({ operations }: Plan, { width }: Screen): string {
  const byText = Map.groupBy(
    operations.filter(({ kubeletWould }) => kubeletWould !== undefined),
    ({ kubeletWould }) => kubeletWould,
  )
  return [...byText].map(([text, all]) => wrapped('', `The kubelet would ${text} (${all.length})`, width)).join('')
}

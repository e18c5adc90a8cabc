/**
 * The plan on a screen, its end last, where a terminal shows it: what it was computed from, what the kubelet does by itself,
 * groups of operations with what blocks them, waits and problems, what is about nothing else, the counts, and what to type
 * next. `confirm` adds what is known of each volume and where the kubelet would have done something else (S31); `wide` every
 * operation and step as well.
 */
import { isForKubelet } from '../plan/kubelet-outlook.ts'
import type { NextStep, Operation, Plan, Waiting } from '../plan/plan.ts'
import { planGroups } from '../plan/plan-groups.ts'
import { PlanNames } from '../plan/plan-names.ts'
import { readyAmong } from '../plan/plan-summary.ts'
import { fillsScreen } from './fit-parts.ts'
import { kubeletText, placeText } from './kubelet-outlook-view.ts'
import { dataOf, type Folding } from './plan-folds.ts'
import { groupsText, problemsText } from './plan-groups-view.ts'
import { planHeader } from './plan-header.ts'
import type { Screen } from './screen.ts'
import { settleText, settlingWaits } from './settle-view.ts'
import { summaryLine } from './summary-line.ts'
import { volumesText } from './volumes-table.ts'
import { wrapped } from './wrap.ts'

export interface PlanDetail {
  /** Before apply asks: what a person must have seen (S31). */
  readonly confirm?: boolean
  /** -v: nothing is folded. */
  readonly unfolded?: boolean
  /** What is longer than the screen is shown from its beginning, which then says how it ends. */
  readonly paged?: boolean
}

export function renderPlan(plan: Plan, screen: Screen, detail: PlanDetail = {}): string {
  const { confirm = false, unfolded = false, paged = false } = detail
  const names = new PlanNames(plan)
  const { paint, wide } = screen
  const whole = wide || confirm
  const ready = readyAmong(plan.operations)
  const folding: Folding = { names, paint, ready, unfolded: unfolded || wide, kubelet: whole, wide }
  const kubelet = plan.summary.kubelet
  // What only waits for the kubelet, or for the time since its end, is said at the top, all at once.
  const settling = new Set(folding.unfolded ? [] : settlingWaits(plan))
  const isSaidAbove = (wait: Waiting): boolean =>
    settling.has(wait) || (kubelet !== undefined && !wide && isForKubelet(wait))
  const { alike, rest } = planGroups(plan, (wait) => !isSaidAbove(wait))
  const body = [
    planHeader(plan, screen, whole),
    kubelet === undefined ? '' : kubeletText(plan, kubelet, names, screen),
    settleText([...settling], screen),
    whole ? volumesText(plan.operations, screen) : '',
    groupsText(alike, folding, screen),
    wide ? stepsText(plan.operations, screen) : '',
    rest.length === 0
      ? ''
      : `\n${paint.bold('Of the node as a whole:')}\n${problemsText([{ problems: rest, names: new Set() }], screen, folding)}`,
  ].join('')
  const end = endText(plan, screen, confirm)
  return `${paged && fillsScreen(body, screen) ? `${end}\n` : ''}${body}\n${end}`
}

/** The verdict, the counts and the next command. */
function endText(plan: Plan, { paint, width }: Screen, confirm: boolean): string {
  const { ready = 0, next = [] } = plan.summary
  const [first] = next
  const lost = dataOf(plan.operations.filter(({ blocked }) => blocked === undefined))
  return [
    wrapped('', summaryLine(plan), width, paint.bold),
    lost === '' ? '' : wrapped('', `Data that is deleted: ${lost}.`, width, paint.warn),
    plan.complete
      ? ''
      : wrapped('', 'Not complete: something that may matter could not be read; see the problems.', width, paint.warn),
    first === undefined || (confirm && ready > 0) ? '' : nextText(first, width, paint.bold),
  ].join('')
}

/** A line that can be copied whole: to a shell what follows the command is a comment. */
function nextText({ command, why, node }: NextStep, width: Screen['width'], bold: (text: string) => string): string {
  const first = `Next: ${placeText(node)}`
  const line = `${first}${command}  # ${why}`
  if (width === undefined || line.length <= width) return wrapped(first, `${command}  # ${why}`, undefined, bold)
  return `${wrapped(first, command, undefined, bold)}${wrapped('      # ', why, width)}`
}

function stepsText(operations: readonly Operation[], { paint, width }: Screen): string {
  if (operations.length === 0) return ''
  const lines = operations.flatMap(({ steps }, index) =>
    steps.map(({ op, target, detail }) =>
      wrapped(`  ${index + 1}  `, `${op} ${target}${detail ? ` (${detail})` : ''}`, width),
    ),
  )
  return `\n${paint.bold('Steps:')}\n${lines.join('')}`
}

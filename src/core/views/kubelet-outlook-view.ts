import { count } from '../lang/count.ts'
import type { KubeletOutlook, KubeletShare, NextStep, Plan, PlanInputs } from '../plan/plan.ts'
import type { PlanNames } from '../plan/plan-names.ts'
import type { Screen } from './screen.ts'
import { numberRanges } from './words.ts'
import { wrapped } from './wrap.ts'

const STATES: Readonly<Record<PlanInputs['kubelet']['state'], string>> = {
  running: 'The kubelet is running',
  mayReturn: 'The kubelet is down, but may come back',
  unknown: 'It is not known whether a kubelet runs',
  stopped: 'The kubelet is stopped',
}

/** Of many names the first few. */
const NAMES_AT_MOST = 4

/** What the kubelet does by itself and until when, what it never does, and what to type. */
export function kubeletText(plan: Plan, { does, never }: KubeletOutlook, names: PlanNames, screen: Screen): string {
  const { paint, width, wide } = screen
  const { state, unit } = plan.inputs.kubelet
  const { next = [] } = plan.summary
  const shares = (title: string, all: readonly KubeletShare[]): string =>
    all.length === 0
      ? ''
      : `  ${title}\n${all.map((each) => wrapped('    - ', shareText(each, names, wide), width)).join('')}`
  return [
    `\n${wrapped('', `${STATES[state]}${unit === undefined ? '' : ` (${unit})`}. volctl leaves to the kubelet what is the kubelet's.`, width, paint.bold)}`,
    shares(state === 'running' ? 'It does by itself:' : 'Where it runs, it does by itself:', does),
    shares('It never does by itself:', never),
    next.length < 2
      ? ''
      : `  To type${next.some(({ node }) => node !== undefined) ? '' : ' on this node'}:\n${next.map((step) => commandText(step, screen)).join('')}`,
  ].join('')
}

function shareText(
  { message, about = [], operations = [], until }: KubeletShare,
  names: PlanNames,
  wide: boolean,
): string {
  const numbers = numberRanges(names.numbers(operations))
  const which = operations.length === 0 ? '' : `${operations.length === 1 ? 'operation' : 'operations'} ${numbers}: `
  const shown = wide ? about : about.slice(0, NAMES_AT_MOST)
  const more = about.length > shown.length ? ` and ${about.length - shown.length} more` : ''
  const named = about.length === 0 ? '' : ` (${count(about.length, 'in all', 'in all')}): ${shown.join(', ')}${more}`
  return `${which}${message}${about.length > 1 ? named : about.length === 1 ? `: ${shown[0]}` : ''}${until === undefined ? '' : `; ${untilText(until)}`}`
}

/** A time is said as one. */
function untilText(until: string): string {
  return Number.isNaN(Date.parse(until)) ? until : `until ${until}; then volctl plans it`
}

function commandText({ command, why, node }: NextStep, { width, paint }: Screen): string {
  const first = `    ${placeText(node)}`
  const whole = `${first}${command}  # ${why}`
  if (width === undefined || whole.length <= width) return wrapped(first, `${command}  # ${why}`, undefined, paint.bold)
  return `${wrapped(first, command, undefined, paint.bold)}${wrapped('      # ', why, width)}`
}

/** Before a command of a plan from a snapshot. */
export function placeText(node: string | undefined): string {
  return node === undefined ? '' : `on node ${node}: `
}

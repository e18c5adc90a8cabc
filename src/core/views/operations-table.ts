/** Every operation, wait and problem of a plan of either scope with its number, path, reason and rule: -v, -o wide. */

import { present, take } from '../base/text.ts'
import { advice, type Hint } from '../messages/command.ts'
import type { AnyOperation, AnyPlan, AnyWaiting } from '../plan/cluster-plan.ts'
import { type PodText, shownVolume } from '../plan/names.ts'
import type { Problem } from '../plan/plan.ts'
import { readyAmong } from '../plan/plan-summary.ts'
import { podName } from '../volumes/pods.ts'
import { dataText } from './answer/ready.ts'
import { type Column, columnsTable } from './columns-table.ts'
import { numberRanges, numbersOf, type Screen, wrapped } from './screen.ts'

export function operationsTable(plan: AnyPlan, podText: PodText, screen: Screen): string {
  const { bad, warn, unknown, waiting: sign } = screen.symbols
  const signs = { error: bad, warning: warn, info: unknown }
  const nameOf = (wait: AnyWaiting): string => {
    if ('node' in wait) return `${wait.volume?.name ?? wait.attachment ?? '?'} on node ${wait.node}`
    return `${shownVolume(wait)}${wait.pod === undefined ? '' : ` of ${podText(wait.pod)}`}`
  }
  const waits = plan.waiting.map((each: AnyWaiting) => ({ ...each, sign, name: `${each.kind} ${nameOf(each)}: ` }))
  const problems = plan.problems.map((each: Entry & Pick<Problem, 'severity'>) => {
    return { ...each, sign: signs[each.severity] }
  })
  return present(
    plan.operations.length > 0 && operationsText(plan, screen),
    listText('Waiting', waits, screen),
    listText('Problems', problems, screen),
  ).join('\n')
}

function operationsText(plan: AnyPlan, screen: Screen): string {
  const operations: readonly AnyOperation[] = plan.operations
  const { symbols, wide } = screen
  const ready = readyAmong(operations)
  const numbers = numbersOf(operations)
  const stateOf = ({ id, blocked, after }: AnyOperation): string => {
    const before = numberRanges(after.flatMap((each) => numbers.get(each) ?? []).toSorted((a, b) => a - b))
    const behind = before === '' ? '' : `after ${before}`
    if (blocked !== undefined) return 'blocked'
    return ready.has(id) ? behind || 'ready' : behind
  }
  const columns: Column<AnyOperation>[] = [
    { head: '#', cell: ({ id }) => `${numbers.get(id)}`.padStart(`${numbers.size}`.length) },
    { head: 'OPERATION', cell: ({ kind }) => kind },
    { head: 'VOLUME', cell: (each) => (each.volume === undefined ? '' : shownVolume(each)), stays: 7 },
    { head: 'NODE', cell: (each) => ('node' in each ? each.node : ''), stays: 6 },
    {
      head: 'DELETES',
      cell: (each) => ('node' in each || each.deletes === undefined ? '' : dataText(each.deletes)),
      stays: 4,
    },
    { head: 'STATE', cell: stateOf, stays: 5 },
    { head: 'REASON', cell: ({ reason }) => reason, stays: 3 },
    { head: 'RULE', cell: ({ rule }) => rule, stays: 2 },
    { head: 'ID', cell: ({ id }) => (wide ? id : ''), stays: 1 },
  ]
  const below = (operation: AnyOperation): readonly Hint[] => {
    const { id, blocked, steps } = operation
    return present<Hint>(
      ...aboutOf(operation, operations[(numbers.get(id) ?? 0) - 2], plan),
      blocked && `blocked: ${blocked.code}: ${blocked.message}`,
      blocked?.hint && advice`${symbols.arrow} ${blocked.hint}`,
      ...(wide
        ? steps.map((step) => `${step.op} ${step.target}${'detail' in step && step.detail ? ` (${step.detail})` : ''}`)
        : []),
    )
  }
  return columnsTable({ columns, inWords: true, below }, operations, screen)
}

const PODS_AT_MOST = 4

/** What is said below an operation, before its obstacle. */
function aboutOf(operation: AnyOperation, before: AnyOperation | undefined, plan: AnyPlan) {
  if ('node' in operation) {
    const { message, pods, makeSure, controllerWould } = operation
    return [
      message,
      pods.length > 0 && `pods ${take(pods.map(podName), PODS_AT_MOST, 'and ').join(', ')}`,
      makeSure && `Make sure first ${makeSure}`,
      controllerWould && `the controller would ${controllerWould}`,
    ]
  }
  const { message, podMessage, ownMessage = message, paths, dead = [], kubeletWould } = operation
  const rootDir = 'rootDir' in plan ? plan.rootDir : ''
  // What is said of a pod is said with the first of its operations.
  const isSaid = podMessage !== undefined && before && 'podMessage' in before && podMessage === before.podMessage
  return [
    isSaid ? ownMessage : message,
    ...paths.slice(0, 1),
    ...dead.map(({ path, error }) => `${path.replace(`${rootDir}/`, '')} does not answer: ${error}`),
    kubeletWould && `the kubelet would ${kubeletWould}`,
  ]
}

type Entry = Pick<Problem, 'message' | 'hint'> & { readonly code: string; readonly name?: string }

function listText(
  title: string,
  entries: readonly (Entry & { readonly sign: string })[],
  { paint, width, symbols }: Screen,
): string {
  if (entries.length === 0) return ''
  const lines = entries.map(({ sign, name = '', code, message, hint }) => {
    const next = hint === undefined ? '' : wrapped(`    ${symbols.arrow} `, hint, width, paint.dim)
    return `${wrapped(`  ${sign} `, `${name}${code}: ${message}`, width)}${next}`
  })
  return `${paint.bold(`${title}:`)}\n${lines.join('')}`
}

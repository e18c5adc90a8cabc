/** Every operation, wait and problem of a plan of either scope with its number, path, reason and rule: -v, -o wide. */

import { present, take } from '../base/take.ts'
import type {
  AnyOperation,
  AnyPlan,
  AnyWaiting,
  ClusterOperation,
  ClusterPlan,
  ClusterWaiting,
} from '../plan/cluster-plan.ts'
import type { Operation, Plan, Problem, Waiting } from '../plan/plan.ts'
import { type PodText, shownVolume } from '../plan/plan-names.ts'
import { readyAmong } from '../plan/plan-summary.ts'
import { podName } from '../plan/pod-name.ts'
import { dataText } from './answer/ready.ts'
import { type Column, columnsTable } from './columns-table.ts'
import { evidenceText, numberRanges, numbersOf } from './format.ts'
import type { Screen } from './screen.ts'
import { wrapped } from './wrap.ts'

export function operationsTable(plan: Plan, podText: PodText, screen: Screen): string {
  const columns: readonly Column<Operation>[] = [
    { head: 'VOLUME', cell: (each) => (each.volume === undefined ? '' : shownVolume(each)), stays: 6 },
    { head: 'DELETES', cell: ({ deletes }) => (deletes === undefined ? '' : dataText(deletes)), stays: 4 },
  ]
  return whole(plan, operationsText(plan.operations, columns, nodeBelow(plan), screen), screen, (wait: Waiting) => {
    const pod = wait.pod === undefined ? '' : ` of ${podText(wait.pod)}`
    return `${shownVolume(wait)}${pod}`
  })
}

export function clusterOperationsTable(plan: ClusterPlan, screen: Screen): string {
  const columns: readonly Column<ClusterOperation>[] = [
    { head: 'VOLUME', cell: (each) => each.volume.name },
    { head: 'NODE', cell: ({ node }) => node, stays: 6 },
  ]
  const operations = operationsText(plan.operations, columns, clusterBelow, screen)
  return whole(
    plan,
    operations,
    screen,
    ({ volume, attachment, node }: ClusterWaiting) => `${volume?.name ?? attachment ?? '?'} on node ${node}`,
  )
}

/** @param nameOf what a wait is about */
function whole<W extends AnyWaiting>(
  { waiting, problems }: { readonly waiting: readonly W[]; readonly problems: AnyPlan['problems'] },
  operations: string,
  screen: Screen,
  nameOf: (wait: W) => string,
): string {
  const { bad, warn, unknown, waiting: sign } = screen.symbols
  const signs = { error: bad, warning: warn, info: unknown }
  return present(
    operations,
    listText(
      'Waiting',
      waiting.map((each) => ({ ...each, sign, name: `${each.kind} ${nameOf(each)}: ` })),
      screen,
    ),
    listText(
      'Problems',
      problems.map((each: Entry & Pick<Problem, 'severity'>) => ({ ...each, sign: signs[each.severity] })),
      screen,
    ),
  ).join('\n')
}

/** What is said below an operation, before its obstacle. */
type Below<O> = (operation: O, before: O | undefined) => readonly string[]

function operationsText<O extends AnyOperation>(
  operations: readonly O[],
  own: readonly Column<O>[],
  below: Below<O>,
  screen: Screen,
): string {
  if (operations.length === 0) return ''
  const { symbols, wide } = screen
  const ready = readyAmong<AnyOperation>(operations)
  const numbers = numbersOf(operations)
  const stateOf = ({ id, blocked, after }: O): string => {
    const before = numberRanges(after.flatMap((each) => numbers.get(each) ?? []).toSorted((a, b) => a - b))
    const behind = before === '' ? '' : `after ${before}`
    if (blocked !== undefined) return 'blocked'
    return ready.has(id) ? behind || 'ready' : behind
  }
  const columns: Column<O>[] = [
    { head: '#', cell: ({ id }) => `${numbers.get(id)}`.padStart(`${numbers.size}`.length) },
    { head: 'OPERATION', cell: ({ kind }) => kind },
    ...own,
    { head: 'STATE', cell: stateOf, stays: 5 },
    { head: 'REASON', cell: ({ reason }) => reason, stays: 3 },
    { head: 'RULE', cell: ({ rule }) => rule, stays: 2 },
    ...(wide ? [{ head: 'ID', cell: ({ id }: O) => id, stays: 1 }] : []),
  ]
  const told = (operation: O): readonly string[] => {
    const { id, blocked, steps } = operation
    return [
      ...below(operation, operations[(numbers.get(id) ?? 0) - 2]),
      ...present(
        blocked && `blocked: ${blocked.code}: ${blocked.message}`,
        blocked?.hint && `${symbols.arrow} ${blocked.hint}`,
      ),
      ...(wide ? steps.map((step) => `${step.op} ${step.target}${'detail' in step ? ` (${step.detail})` : ''}`) : []),
    ]
  }
  return columnsTable({ columns, inWords: true, below: told }, operations, screen)
}

function nodeBelow({ rootDir }: Plan): Below<Operation> {
  return ({ message, podMessage, ownMessage, paths, dead = [], kubeletWould }, before) => [
    // What is said of a pod is said with the first of its operations.
    podMessage !== undefined && podMessage === before?.podMessage ? (ownMessage ?? message) : message,
    ...paths.slice(0, 1),
    ...dead.map(({ path, error }) => `${path.replace(`${rootDir}/`, '')} does not answer: ${error}`),
    ...present(kubeletWould && `the kubelet would ${kubeletWould}`),
  ]
}

const PODS_AT_MOST = 4

function clusterBelow({ message, pods, evidence, makeSure, controllerWould }: ClusterOperation): readonly string[] {
  return present(
    message,
    pods.length > 0 && `pods ${take(pods.map(podName), PODS_AT_MOST, 'and ').join(', ')}`,
    ...evidence.map(evidenceText),
    makeSure && `Make sure first ${makeSure}`,
    controllerWould && `the controller would ${controllerWould}`,
  )
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

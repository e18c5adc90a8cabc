/** Every operation, wait and problem of a plan of either scope with its number, path, reason and rule: -v, -o wide. */

import { take } from '../base/take.ts'
import type { AnyOperation, ClusterOperation, ClusterPlan } from '../plan/cluster-plan.ts'
import type { Operation, Plan, Severity } from '../plan/plan.ts'
import { type PodText, shownVolume } from '../plan/plan-names.ts'
import { readyAmong } from '../plan/plan-summary.ts'
import { podName } from '../plan/pod-name.ts'
import { dataText } from './answer/ready.ts'
import { type Column, columnsTable } from './columns-table.ts'
import { evidenceText, numberRanges, numbersOf } from './format.ts'
import type { Screen } from './screen.ts'
import { wrapped } from './wrap.ts'

export function operationsTable(plan: Plan, podText: PodText, screen: Screen): string {
  const { operations, waiting } = plan
  const volume: Column<Operation> = {
    head: 'VOLUME',
    cell: (each) => (each.volume === undefined ? '' : shownVolume(each)),
    stays: 6,
  }
  const deletes: Column<Operation> = {
    head: 'DELETES',
    cell: (each) => (each.deletes === undefined ? '' : dataText(each.deletes)),
    stays: 4,
  }
  return whole(
    operationsText(operations, [volume, deletes], nodeBelow(plan), screen),
    waiting.map((wait) => {
      const pod = wait.pod === undefined ? '' : ` of ${podText(wait.pod)}`
      return { ...wait, about: `${wait.kind} ${shownVolume(wait)}${pod}: ` }
    }),
    plan,
    screen,
  )
}

export function clusterOperationsTable(plan: ClusterPlan, screen: Screen): string {
  const { operations, waiting } = plan
  const columns: Column<ClusterOperation>[] = [
    { head: 'VOLUME', cell: (each) => each.volume.name },
    { head: 'NODE', cell: ({ node }) => node, stays: 6 },
  ]
  return whole(
    operationsText(operations, columns, clusterBelow, screen),
    waiting.map((wait) => ({
      ...wait,
      about: `${wait.kind} ${wait.volume?.name ?? wait.attachment ?? '?'} on node ${wait.node}: `,
    })),
    plan,
    screen,
  )
}

function whole(
  operations: string,
  waiting: readonly Entry[],
  {
    problems,
  }: { readonly problems: readonly (Omit<Entry, 'about'> & { readonly severity: Severity; readonly about: object })[] },
  screen: Screen,
): string {
  const { bad, warn, unknown, waiting: wait } = screen.symbols
  const signs = { error: bad, warning: warn, info: unknown }
  return [
    operations,
    listText('Waiting', waiting, () => wait, screen),
    listText(
      'Problems',
      problems.map((each) => ({ ...each, about: '' })),
      ({ severity }) => signs[severity],
      screen,
    ),
  ]
    .filter((part) => part !== '')
    .join('\n')
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
      ...(blocked === undefined ? [] : [`blocked: ${blocked.code}: ${blocked.message}`]),
      ...(blocked?.hint === undefined ? [] : [`${symbols.arrow} ${blocked.hint}`]),
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
    ...(kubeletWould === undefined ? [] : [`the kubelet would ${kubeletWould}`]),
  ]
}

const PODS_AT_MOST = 4

function clusterBelow({ message, pods, evidence, makeSure, controllerWould }: ClusterOperation): readonly string[] {
  return [
    message,
    ...(pods.length === 0 ? [] : [`pods ${take(pods.map(podName), PODS_AT_MOST, 'and ').join(', ')}`]),
    ...evidence.map(evidenceText),
    ...(makeSure === undefined ? [] : [`Make sure first ${makeSure}`]),
    ...(controllerWould === undefined ? [] : [`the controller would ${controllerWould}`]),
  ]
}

interface Entry {
  readonly about: string
  readonly code: string
  readonly message: string
  readonly hint?: string
}

function listText<E extends Entry>(
  title: string,
  entries: readonly E[],
  signOf: (entry: E) => string,
  { paint, width, symbols }: Screen,
): string {
  if (entries.length === 0) return ''
  const lines = entries.map((entry) => {
    const { about, code, message, hint } = entry
    const next = hint === undefined ? '' : wrapped(`    ${symbols.arrow} `, hint, width, paint.dim)
    return `${wrapped(`  ${signOf(entry)} `, `${about}${code}: ${message}`, width)}${next}`
  })
  return `${paint.bold(`${title}:`)}\n${lines.join('')}`
}

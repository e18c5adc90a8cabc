/** What `-o name` prints narrows again: each name of a plan or a status is one that `plan`, `apply` and `status` take, and finds what it is of. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { narrowing } from '../../src/core/cli/plan-arguments.ts'
import type { ClusterState } from '../../src/core/cluster/model/cluster-state.ts'
import { planCluster } from '../../src/core/cluster/pass/plan-cluster.ts'
import { statusAndPlan } from '../../src/core/explain/status/node-status.ts'
import { uniqueNameOfRow, type VolumeRow } from '../../src/core/facts/row.ts'
import type { ClusterPlan } from '../../src/core/plan/cluster-plan.ts'
import type { Plan } from '../../src/core/plan/plan.ts'
import { decideNode, planNode } from '../../src/core/reconcile/plan-node.ts'
import { clusterAnswerOf } from '../../src/core/views/answer/cluster-answer.ts'
import { namesOfPlan, namesOfRows } from '../../src/core/views/screen.ts'
import { rowOf } from '../../src/core/volumes/finding.ts'
import type { NodeState } from '../../src/core/volumes/snapshot.ts'
import { captureFiles, recorded } from '../helpers/captures.ts'
import { clusterOptions } from '../helpers/cluster-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { anyCluster } from '../helpers/random-cluster.ts'
import { randomFrom } from '../helpers/random-from.ts'
import { buildNode, randomNode } from '../helpers/random-node.ts'
import { WORKED_CLUSTERS } from '../helpers/worked-clusters.ts'

/** As --pod and --volume would have it. */
function scopeOf(name: string): { readonly pods?: string[]; readonly volumes?: string[] } {
  const { pod, volume } = narrowing([name], {})
  return { pods: pod, volumes: volume }
}

/** The name finds what is called so, and is not said to be nothing's. What comes after an operation that is left out is counted. */
function expectFound({ operations, problems, summary }: Plan | ClusterPlan, name: string, id: string): void {
  expect(problems.filter(({ code }) => code === 'NothingNamed')).toEqual([])
  expect(operations.some((one) => one.id === id) || summary.filtered > 0, name).toBe(true)
}

function checkNode(state: NodeState): void {
  const options = planOptions({ orphans: true })
  const decided = decideNode(state, options)
  const { operations } = decided.plan
  for (const [name, id] of each(namesOfPlan(decided.plan), operations)) {
    const part = planNode(state, planOptions({ orphans: true, ...scopeOf(name) }))
    expectFound(part, name, id)
    checkDirectories(state, name, part)
  }
  const touched = new Set(operations.map(({ subject }) => rowOf(subject)))
  checkRows(
    state,
    decided.context.ledger.all.filter(({ key }) => touched.has(key)),
  )
  const given = { applyFlags: [], settleMs: options.settleMs }
  const { rows } = statusAndPlan(decided, options, {}, given).status
  for (const name of new Set(namesOfRows(rows)))
    expect(statusAndPlan(decided, planOptions(scopeOf(name)), {}, given).status.rows.length, name).toBeGreaterThan(0)
}

/** By whichever of its own names a volume is given, the same is done with it. @param rows with which something is done at all */
function checkRows(state: NodeState, rows: readonly VolumeRow[]): void {
  for (const row of rows.filter(({ identity }) => identity !== undefined)) {
    const { namespace = 'default', name: claim } = row.persistentVolume?.spec.claimRef ?? {}
    const names = [
      ...[uniqueNameOfRow(row), row.identity?.handle, row.persistentVolume?.metadata.name],
      ...[row.attachment?.metadata.name, claim === undefined ? undefined : `${namespace}/${claim}`],
    ].filter((name) => name !== undefined)
    const done = names.map((name) => {
      const { operations } = planNode(state, planOptions({ orphans: true, volumes: [name] }))
      return operations.flatMap(({ id, subject }) => (rowOf(subject) === row.key ? id : []))
    })
    expect(done, names.join(' ')).toEqual(names.map(() => done[0]))
  }
}

/** What --orphans is said to remove besides, it removes. */
function checkDirectories(state: NodeState, name: string, withOrphans: Plan): void {
  const removed = withOrphans.operations.filter(({ kind }) => kind === 'RemoveOrphanPodDir').length
  const { problems } = planNode(state, planOptions(scopeOf(name)))
  const said = problems.filter(({ code }) => code === 'OrphanPodDir').map(({ message }) => Number.parseInt(message, 10))
  expect(said, name).toEqual(removed === 0 ? [] : [removed])
}

function checkCluster(state: ClusterState): void {
  const whole = planCluster(state, clusterOptions({}))
  for (const [name, id] of each(namesOfPlan(whole), whole.operations)) {
    expectFound(planCluster(state, clusterOptions(scopeOf(name))), name, id)
  }
  checkNext(state, whole)
}

/** What an answer says to ask next is a name, and has an answer; that of a plan of a name does not go round in a circle. */
function checkNext(state: ClusterState, whole: ClusterPlan): void {
  for (const cause of (whole.summary.causes ?? []).filter(({ severity }) => severity !== 'info')) {
    const plan = {
      ...whole,
      operations: [],
      summary: { ...whole.summary, causes: [{ ...cause, command: undefined }] },
    }
    const [, , , ...words] = clusterAnswerOf(plan, { applyFlags: [] }, true).next[0]?.command.split(' ') ?? []
    if (words.length === 0) continue
    const [first = '', node] = words
    const options = clusterOptions(first === '--node' ? { nodes: [node ?? ''] } : scopeOf(first))
    const part = planCluster(state, options)
    expect(part.problems.filter(({ code }) => code === 'NothingNamed')).toEqual([])
    const { next } = clusterAnswerOf(part, { applyFlags: [] }, true)
    expect(next.map(({ command }) => command)).not.toContain(`volctl plan --cluster ${words.join(' ')}`)
  }
}

/** Each name once, with the first operation that has it. */
function each(names: readonly string[], operations: readonly { readonly id: string }[]): Map<string, string> {
  return new Map(names.map((name, index) => [name, operations[index]?.id ?? ''] as const).toReversed())
}

describe('of a node', () => {
  it.each(captureFiles())('%s', async (file) => {
    checkNode(await recorded(file))
  })

  it('as no one would think of it', () =>
    fc.assert(
      fc.property(randomNode, (random) => checkNode(buildNode(random))),
      { numRuns: 15, seed: 3425 },
    ))
})

describe('of a cluster', () => {
  it.each(Object.entries(WORKED_CLUSTERS))('%s', (_, state) => checkCluster(state))

  it('as no one would think of it', () => {
    for (let seed = 1; seed <= 20; seed++) checkCluster(anyCluster(randomFrom(seed)))
  })
})

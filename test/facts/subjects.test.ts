/** Whose each finding of a plan is, and that each that is wrong is said: of recorded nodes and clusters, and of any as no one would think of them. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ClusterContext } from '../../src/core/cluster/model/cluster-context.ts'
import type { ClusterState } from '../../src/core/cluster/model/cluster-state.ts'
import { planCluster } from '../../src/core/cluster/pass/plan-cluster.ts'
import { readClusterSnapshot } from '../../src/core/cluster/read/cluster-snapshot.ts'
import type { Ledger } from '../../src/core/facts/ledger.ts'
import type { VolumeRow } from '../../src/core/facts/row.ts'
import { namespacedName } from '../../src/core/kube/api/names.ts'
import type { Cause } from '../../src/core/plan/cause.ts'
import type { ClusterOptions } from '../../src/core/plan/cluster-plan.ts'
import type { PlanOptions } from '../../src/core/plan/plan.ts'
import { decisionsOf } from '../../src/core/reconcile/decisions.ts'
import { decideNode, planNode } from '../../src/core/reconcile/plan-node.ts'
import { podOf, rowsOf, type Subject } from '../../src/core/volumes/finding.ts'
import type { NodeSnapshot, NodeState } from '../../src/core/volumes/snapshot.ts'
import { captureFiles, recorded } from '../helpers/captures.ts'
import { clusterOptions } from '../helpers/cluster-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { anyCluster } from '../helpers/random-cluster.ts'
import { randomFrom } from '../helpers/random-from.ts'
import { buildNode, randomNode } from '../helpers/random-node.ts'

interface Judged {
  readonly problems: readonly { readonly message: string; readonly severity: string; readonly cause?: string }[]
  readonly summary: { readonly causes?: readonly Cause[] }
}

/** A cause about a node or cluster as a whole has one sentence: nothing that is wrong hides behind another. */
function hidden({ problems, summary: { causes = [] } }: Judged): string[][] {
  const whole = new Set(causes.flatMap(({ key, subject }) => (Object.keys(subject).length === 0 ? key : [])))
  const said = Map.groupBy(
    problems.filter(({ severity, cause = '' }) => severity !== 'info' && whole.has(cause)),
    ({ cause }) => cause,
  )
  return [...said.values()]
    .map((all) => [...new Set(all.map(({ message }) => message))])
    .filter(({ length }) => length > 1)
}

/** Findings that say of nothing whose they are, or of something that is not there. */
function lost(
  found: readonly { readonly subject?: Subject }[],
  unknown: (subject: Subject) => string | undefined,
): string[] {
  return found.flatMap((each) => {
    const why = each.subject === undefined ? 'no subject' : unknown(each.subject)
    return why === undefined ? [] : [`${why}: ${JSON.stringify(each)}`]
  })
}

function unknownOnNode(ledger: Ledger, subject: Subject): string | undefined {
  if ('path' in subject) return subject.path.startsWith('/') ? undefined : 'no absolute path'
  if (!('row' in subject)) return undefined
  const row = ledger.row(subject.row)
  if (row === undefined) return 'no such row'
  return subject.pod === undefined || row.podUids.has(subject.pod) ? undefined : 'the pod has nothing of this row'
}

/** A thing's row is the same whether it is asked of the thing, or of all rows. */
function strayThings(ledger: Ledger): string[] {
  const subjects = (row: VolumeRow): Subject[] => [
    ...[...row.wanted, ...row.ended].map((volume) => ledger.wanted(volume)),
    ...[...row.unresolved, ...row.onDisk, ...row.leaked, ...row.staged, ...row.globals].map((thing) =>
      ledger.of(thing),
    ),
    ...row.maps.map((block) => ledger.of(block)),
    ...(row.attachment === undefined ? [] : [ledger.attachment(row.attachment)]),
  ]
  return ledger.all.flatMap((row) =>
    subjects(row).flatMap((each) =>
      'row' in each && each.row === row.key ? [] : `${row.key}: ${JSON.stringify(each)}`,
    ),
  )
}

function expectWhole(state: NodeState, options: Partial<PlanOptions>): void {
  const decided = decideNode(state, planOptions(options))
  const { plan, context } = decided
  const found = [...plan.operations, ...plan.waiting, ...plan.problems, ...decisionsOf(decided)]
  expect(lost(found, (subject) => unknownOnNode(context.ledger, subject))).toEqual([])
  expect(strayThings(context.ledger)).toEqual([])
  expect(hidden(plan)).toEqual([])
}

describe('every operation, wait, problem and decision has a subject that the node has, and of all that is wrong each its sentence', () => {
  it.each(captureFiles())('%s', async (path) => {
    const state = await recorded(path)
    expectWhole(state, {})
    expectWhole(state, { orphans: true, remount: true, expand: true, settleMs: 0 })
  })

  it('nodes as no one would think of them', () =>
    fc.assert(
      fc.property(randomNode, fc.boolean(), (random, orphans) => expectWhole(buildNode(random), { orphans })),
      { numRuns: 100, seed: 34 },
    ))
})

it('objects that could not be read', async () => {
  const state = await recorded(captureFiles()[0] ?? '')
  const errors = ['persistentvolumes', 'volumeattachments', 'csidrivers'].map((resource) => ({
    ...{ resource, name: 'x', status: 500, reason: 'InternalError', message: 'etcdserver: request timed out' },
  }))
  const snapshot: NodeSnapshot = {
    ...state.snapshot,
    ...(state.snapshot.api && { api: { ...state.snapshot.api, errors } }),
  }
  const { summary } = planNode({ ...state, snapshot }, planOptions())
  const said = summary.causes?.map(({ message }) => message).filter((each) => each.includes('could not be read'))
  expect(said).toHaveLength(3)
})

const CLUSTERS = join(import.meta.dirname, '..', 'fixtures', 'clusters')

/** Every node, and every volume. */
function everyName({ state, rows }: ClusterContext): ClusterOptions[] {
  const nodes = [...state.nodes, ...(state.lostNodes ?? [])].map(({ name }) => name)
  const others = [...state.attachments, ...state.pods].flatMap(({ node }) => node ?? [])
  const volumes = [...rows.known.keys()]
  const pods = state.pods.map(({ uid }) => uid)
  return [{ nodes: [...nodes, ...others] }, { volumes }, { pods }].map((named) => clusterOptions(named))
}

function rowsNamed(state: ClusterState, options: ClusterOptions): readonly string[] {
  return (planCluster(state, options).stands ?? []).flatMap(({ subject }) => rowsOf(subject))
}

function unknownInCluster({ state }: ClusterContext, keys: ReadonlySet<string>, subject: Subject): string | undefined {
  const rows = rowsOf(subject)
  if (rows.some((key) => !keys.has(key))) return 'no such row'
  const pod = podOf(subject)
  if (pod !== undefined && !state.pods.some(({ uid }) => uid === pod)) return 'no such pod'
  if ('claim' in subject && !state.claims.some((each) => namespacedName(each) === subject.claim)) return 'no such claim'
  return undefined
}

function expectWholeCluster(state: ClusterState): void {
  const context = new ClusterContext(state, clusterOptions())
  const plan = planCluster(context.state, context.options)
  const keys = new Set(everyName(context).flatMap((options) => rowsNamed(context.state, options)))
  const found = [...plan.operations, ...plan.waiting, ...plan.problems]
  expect(lost(found, (subject) => unknownInCluster(context, keys, subject))).toEqual([])
  expect(hidden(plan)).toEqual([])
}

describe('every operation, wait and problem of a cluster has a subject that the cluster has, and of all that is wrong each its sentence', () => {
  it.each(readdirSync(CLUSTERS))('%s', async (file) =>
    expectWholeCluster(await readClusterSnapshot(join(CLUSTERS, file))),
  )

  it.each(Array.from({ length: 40 }, (_, seed) => seed))('any cluster, seed %i', (seed) =>
    expectWholeCluster(anyCluster(randomFrom(seed))),
  )
})

/** Whose each finding of a cluster's plan is: of recorded clusters, and of clusters as no one would think of them. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ClusterContext } from '../../src/core/cluster/model/cluster-context.ts'
import type { ClusterState } from '../../src/core/cluster/model/cluster-state.ts'
import { planCluster } from '../../src/core/cluster/pass/plan-cluster.ts'
import { readClusterSnapshot } from '../../src/core/cluster/read/cluster-snapshot.ts'
import type { ClusterOptions } from '../../src/core/plan/cluster-plan.ts'
import { namespacedName } from '../../src/core/plan/pod-name.ts'
import { podOf, rowsOf, type Subject } from '../../src/core/plan/subject.ts'
import { clusterOptions } from '../helpers/cluster-builder.ts'
import { anyCluster } from '../helpers/random-cluster.ts'
import { randomFrom } from '../helpers/random-from.ts'

const CLUSTERS = join(import.meta.dirname, '..', 'fixtures', 'clusters')

/** Findings that say of nothing whose they are, or of something that the cluster does not have. */
function lost(context: ClusterContext): string[] {
  const plan = planCluster(context.state, context.options)
  const { operations, waiting, problems } = plan
  const keys = new Set(everyName(context).flatMap((options) => rowsNamed(context.state, options)))
  return [...operations, ...waiting, ...problems].flatMap(({ subject, message }) => {
    const why = subject === undefined ? 'no subject' : unknownBy(context, keys, subject)
    return why === undefined ? [] : [`${message}: ${why} ${JSON.stringify(subject)}`]
  })
}

/** Every node, and every volume. */
function everyName({ state, known, rows }: ClusterContext): ClusterOptions[] {
  const nodes = [...state.nodes, ...(state.lostNodes ?? [])].map(({ name }) => name)
  const others = [...state.attachments, ...state.pods].flatMap(({ node }) => node ?? [])
  const volumes = [...known.keys(), ...rows.unscheduled.map(({ volume }) => volume.uniqueName)]
  const pods = state.pods.map(({ uid }) => uid)
  return [{ nodes: [...nodes, ...others] }, { volumes }, { pods }].map((named) => clusterOptions(named))
}

function rowsNamed(state: ClusterState, options: ClusterOptions): readonly string[] {
  return (planCluster(state, options).stands ?? []).flatMap(({ subject }) => rowsOf(subject))
}

function unknownBy(
  { state, objects }: ClusterContext,
  keys: ReadonlySet<string>,
  subject: Subject,
): string | undefined {
  const rows = rowsOf(subject)
  if (rows.some((key) => !keys.has(key))) return 'no such row'
  const pod = podOf(subject)
  if (pod !== undefined && !state.pods.some(({ uid }) => uid === pod)) return 'no such pod'
  if ('claim' in subject && !state.claims.some((each) => namespacedName(each) === subject.claim)) return 'no such claim'
  if ('persistentVolume' in subject && objects.volume(subject.persistentVolume).state === 'Absent') return 'no such PV'
  return undefined
}

function expectWhole(state: ClusterState): void {
  const context = new ClusterContext(state, clusterOptions())
  expect(lost(context)).toEqual([])
}

describe('every operation, wait and problem of a cluster has a subject that the cluster has', () => {
  it.each(readdirSync(CLUSTERS))('%s', async (file) => expectWhole(await readClusterSnapshot(join(CLUSTERS, file))))

  it.each(Array.from({ length: 40 }, (_, seed) => seed))('any cluster, seed %i', (seed) =>
    expectWhole(anyCluster(randomFrom(seed))),
  )
})

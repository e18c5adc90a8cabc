/** Whose each finding of a cluster's plan is: of recorded clusters, and of clusters as no one would think of them. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ClusterContext, clusterContext } from '../../src/core/cluster/context/cluster-context.ts'
import type { ClusterState } from '../../src/core/cluster/model/cluster-state.ts'
import { planOver } from '../../src/core/cluster/pass/plan-cluster.ts'
import { readClusterSnapshot } from '../../src/core/cluster/snapshot/cluster-snapshot.ts'
import { namespacedName } from '../../src/core/plan/pod-name.ts'
import { type ClusterSubject, podOf, rowsOf } from '../../src/core/plan/subject.ts'
import { clusterOptions } from '../helpers/cluster-builder.ts'
import { anyCluster } from '../helpers/random-cluster.ts'
import { randomFrom } from '../helpers/random-from.ts'

const CLUSTERS = join(import.meta.dirname, '..', 'fixtures', 'clusters')

/** Findings that say of nothing whose they are, or of something that the cluster does not have. */
function lost(context: ClusterContext): string[] {
  const { operations, waiting, problems } = planOver(context)
  return [...operations, ...waiting, ...problems].flatMap(({ subject, message }) => {
    const why = subject === undefined ? 'no subject' : unknownBy(context, subject)
    return why === undefined ? [] : [`${message}: ${why} ${JSON.stringify(subject)}`]
  })
}

function unknownBy({ ledger, state, objects }: ClusterContext, subject: ClusterSubject): string | undefined {
  const rows = rowsOf(subject)
  if (rows.some((key) => ledger.row(key) === undefined)) return 'no such row'
  const pod = podOf(subject)
  if (pod !== undefined && !state.pods.some(({ uid }) => uid === pod)) return 'no such pod'
  if ('claim' in subject && !state.claims.some((each) => namespacedName(each) === subject.claim)) return 'no such claim'
  if ('persistentVolume' in subject && objects.volume(subject.persistentVolume).state === 'Absent') return 'no such PV'
  return undefined
}

/** A thing's rows are the same whether it is asked of the thing, or of all rows; what nobody has any more is asked of the thing alone. */
function strayRows({ ledger, state, known, actual }: ClusterContext): string[] {
  const own = [
    ...state.pods.flatMap((pod) => ledger.ofPod(pod)),
    ...state.claims.flatMap((claim) => ledger.ofClaim(namespacedName(claim))),
    ...state.volumes.flatMap(({ name }) => ledger.ofPersistentVolume(name)),
    ...[...known.keys()].flatMap((uniqueName) => ledger.ofVolume(uniqueName)),
    ...actual.all.map((attached) => ledger.ofAttachment(attached)),
    ...state.drivers.flatMap(({ name }) => ledger.ofDriver(name)),
  ]
  return own.flatMap(({ key, pods, attached }) => {
    const isThere = attached.length > 0 || pods.some(({ terminated }) => !terminated)
    return !isThere || ledger.row(key) !== undefined ? [] : [key]
  })
}

function expectWhole(state: ClusterState): void {
  const context = clusterContext(state, clusterOptions())
  expect(lost(context)).toEqual([])
  expect(strayRows(context)).toEqual([])
}

describe('every operation, wait and problem of a cluster has a subject that the cluster has', () => {
  it.each(readdirSync(CLUSTERS))('%s', async (file) => expectWhole(await readClusterSnapshot(join(CLUSTERS, file))))

  it.each(Array.from({ length: 40 }, (_, seed) => seed))('any cluster, seed %i', (seed) =>
    expectWhole(anyCluster(randomFrom(seed))),
  )
})

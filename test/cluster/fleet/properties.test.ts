/** What holds of every plan with snapshots of nodes, on small clusters in any state and snapshots that say anything. */

import { expect, it } from 'vitest'
import { clusterContext } from '../../../src/core/cluster/context/cluster-context.ts'
import type { NodeLedger } from '../../../src/core/cluster/fleet/node-ledger.ts'
import { withFleet } from '../../../src/core/cluster/fleet/with-fleet.ts'
import type { ClusterNode, ClusterState } from '../../../src/core/cluster/model/cluster-state.ts'
import { isExclusive } from '../../../src/core/cluster/model/known-volume.ts'
import { planCluster } from '../../../src/core/cluster/pass/plan-cluster.ts'
import { parseCsiUniqueName } from '../../../src/core/names/volume-names.ts'
import type { ClusterOptions, ClusterPlan } from '../../../src/core/plan/cluster-plan.ts'
import { ago, clusterOptions } from '../../helpers/cluster-builder.ts'
import { anyCluster, chance, healthyCluster, oneOf, type Random } from '../../helpers/random-cluster.ts'
import { randomFrom } from '../../helpers/random-from.ts'

const SEEDS = 1000

function withBoots(state: ClusterState): ClusterState {
  return { ...state, nodes: state.nodes.map((node) => ({ ...node, bootID: `boot-${node.name}` })) }
}

function ledger({ name, uid }: ClusterNode, minutes: number, names: readonly string[]): NodeLedger {
  return {
    ...{ source: `${name}.json`, node: name, nodeUID: uid, capturedAt: ago(minutes), bootID: `boot-${name}` },
    unseen: [],
    volumes: names.map((uniqueName) => ({
      ...{ uniqueName, ...parseCsiUniqueName(uniqueName), identity: 'vol_data.json', wanted: false },
      found: [{ how: 'staged', path: `/staged/${uniqueName}`, certain: true }],
    })),
  }
}

function anyLedgers(random: Random, { nodes, volumes }: ClusterState): NodeLedger[] {
  const names = volumes.flatMap(({ uniqueName }) => uniqueName ?? [])
  return nodes
    .filter(() => chance(random, 0.8))
    .map((node) =>
      ledger(
        node,
        oneOf(random, [0.5, 1, 60]),
        names.filter(() => chance(random, 0.3)),
      ),
    )
}

interface Trial {
  readonly state: ClusterState
  readonly ledgers: readonly NodeLedger[]
  readonly options: ClusterOptions
  readonly before: ClusterPlan
  readonly after: ClusterPlan
}

const trials = Array.from({ length: SEEDS }, (_, seed): Trial => {
  const random = randomFrom(seed)
  const state = withBoots(anyCluster(random))
  const ledgers = anyLedgers(random, state)
  const given = clusterOptions(chance(random, 0.4) ? { nodeGone: ['missing'] } : {})
  const options = { ...given, acceptOutage: planCluster(state, given).inputs.counts.detaches }
  const before = planCluster(state, options)
  return {
    state,
    ledgers,
    options,
    before,
    after: withFleet(before, clusterContext(state, options), { ledgers, defects: [] }),
  }
})

it('snapshots make no operation, and unblock none; the counts are those of what is left', () => {
  let held = 0
  for (const { before, after } of trials) {
    expect(after.operations.map(({ id }) => id)).toEqual(before.operations.map(({ id }) => id))
    for (const [index, { blocked }] of before.operations.entries()) {
      if (blocked !== undefined) {
        // What only follows has the cause of the first that is blocked before it, which a snapshot may have blocked.
        const causes = blocked.code === 'Predecessor' ? causesBefore(after, index) : [blocked.cause]
        expect(causes).toContain(after.operations[index]?.blocked?.cause)
        expect({ ...after.operations[index]?.blocked, cause: blocked.cause }).toEqual(blocked)
      } else if (after.operations[index]?.blocked !== undefined) held++
    }
    const blocked = after.operations.filter((each) => each.blocked !== undefined)
    expect(after.summary).toMatchObject({ blocked: blocked.length, ready: after.operations.length - blocked.length })
    expect(after.summary.problems).toBe(after.problems.length)
  }
  expect(held).toBeGreaterThan(100)
})

function causesBefore({ operations }: ClusterPlan, index: number): readonly (string | undefined)[] {
  const before = operations[index]?.after ?? []
  return operations.filter(({ id }) => before.includes(id)).map(({ blocked }) => blocked?.cause)
}

function shows({ ledgers }: Trial, uniqueName: string | undefined): readonly NodeLedger[] {
  return ledgers.filter(({ volumes }) => volumes.some((each) => each.uniqueName === uniqueName))
}

it('nothing is detached from a node that has it, nor attached while another node has it', () => {
  let looked = 0
  for (const trial of trials) {
    for (const { kind, node, volume, basis, blocked } of trial.after.operations) {
      if (blocked !== undefined) continue
      looked++
      const having = shows(trial, volume.uniqueName)
      if (kind === 'DetachVolume') {
        const old = basis.exception !== undefined
        expect(having.filter((each) => each.node === node && !(old && each.capturedAt === ago(60)))).toEqual([])
      } else if (isExclusive(volume.accessModes ?? [])) {
        expect(having.filter((each) => each.node !== node && each.capturedAt !== ago(60))).toEqual([])
      }
    }
  }
  expect(looked).toBeGreaterThan(100)
})

it('of a healthy cluster and its nodes nothing is said', () => {
  for (let seed = 0; seed < SEEDS / 4; seed++) {
    const state = withBoots(healthyCluster(randomFrom(seed)))
    const ledgers = state.nodes.map((node) => ledger(node, 0.5, node.volumesInUse ?? []))
    const options = clusterOptions()
    const before = planCluster(state, options)
    const { operations, problems, complete } = withFleet(before, clusterContext(state, options), {
      ledgers,
      defects: [],
    })
    expect({ operations, problems, complete }).toEqual({ operations: [], problems: before.problems, complete: true })
  }
})

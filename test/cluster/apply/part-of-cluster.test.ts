/** The verdict about one operation over a part of the cluster is that over all of it, also after the world has changed. */
import { describe, expect, it } from 'vitest'
import { judgeFresh } from '../../../src/core/cluster/apply/cluster-run.ts'
import { restsOnDriver } from '../../../src/core/cluster/apply/fresh-look.ts'
import type { FreshDriver, FreshLook } from '../../../src/core/cluster/apply/fresh-records.ts'
import { type Judged, judgeAgain } from '../../../src/core/cluster/apply/judge-again.ts'
import { KnownCluster } from '../../../src/core/cluster/apply/known-cluster.ts'
import { partOf } from '../../../src/core/cluster/apply/part-of-cluster.ts'
import { clusterContext } from '../../../src/core/cluster/context/cluster-context.ts'
import { isDriverGone, lastPart, leaseName } from '../../../src/core/cluster/context/drivers.ts'
import type { ClusterState } from '../../../src/core/cluster/model/cluster-state.ts'
import { planCluster, planPart } from '../../../src/core/cluster/pass/plan-cluster.ts'
import type { ClusterOperation, ClusterOptions } from '../../../src/core/plan/cluster-plan.ts'
import { clusterOptions } from '../../helpers/cluster-builder.ts'
import { anyCluster, chance, oneOf, type Random } from '../../helpers/random-cluster.ts'
import { randomFrom } from '../../helpers/random-from.ts'

const SEEDS = 500

/** The guard counts the whole cluster; everything is judged as if it were lifted. */
function planOf(state: ClusterState, options: ClusterOptions) {
  const plan = planCluster(state, options)
  return plan.refused === undefined
    ? plan
    : planCluster(state, { ...options, acceptOutage: plan.inputs.counts.detaches })
}

function anyOptions(random: Random, { nodes, pods }: ClusterState): ClusterOptions {
  const names = [...nodes.map(({ name }) => name), 'missing']
  const given = pods.length > 0 && chance(random, 0.25) ? oneOf(random, pods) : undefined
  return clusterOptions({
    ...(chance(random, 0.4) && { nodeGone: [oneOf(random, names)] }),
    ...(chance(random, 0.2) && { stripFinalizers: true }),
    ...(chance(random, 0.15) && { nodes: [oneOf(random, names)] }),
    ...(chance(random, 0.1) && { only: [oneOf(random, ['DetachVolume', 'AttachVolume'] as const)] }),
    ...(given && { pods: [oneOf(random, [given.name, given.uid, `${given.namespace}/${given.name}`])] }),
  })
}

/** What a look at this operation reads of a world that has become another one. */
function lookAt(operation: ClusterOperation, now: ClusterState): FreshLook {
  const isAttach = operation.kind === 'AttachVolume'
  const namespaces = isAttach ? [...new Set(operation.pods.flatMap(({ namespace }) => namespace ?? []))] : []
  const { persistentVolume } = operation.volume
  const { name } = operation.attachment
  const pods = now.pods.filter(({ node, namespace }) => node === operation.node || namespaces.includes(namespace))
  const claims = pods.flatMap((pod) =>
    pod.volumes.flatMap((volume) => ('claim' in volume ? [{ namespace: pod.namespace, name: volume.claim }] : [])),
  )
  const isAsked = (each: { readonly namespace: string; readonly name: string }): boolean =>
    claims.some((asked) => asked.namespace === each.namespace && asked.name === each.name)
  const record = now.nodes.find((each) => each.name === operation.node)
  return {
    capturedAt: now.capturedAt,
    controller: now.controller,
    node: { name: operation.node, record, leaseRenewTime: record?.leaseRenewTime },
    attachments: isAttach
      ? { records: now.attachments }
      : { of: name, records: now.attachments.filter((each) => each.name === name).slice(0, 1) },
    pods: { namespaces, records: pods },
    volumes: {
      asked: persistentVolume === undefined ? [] : [persistentVolume],
      records: now.volumes.filter((each) => each.name === persistentVolume).slice(0, 1),
    },
    claims: { asked: claims, records: now.claims.filter(isAsked) },
  }
}

/** What a look at its driver reads there, if the operation rests on one that is gone. */
function driverLook(operation: ClusterOperation, known: ClusterState, now: ClusterState): FreshDriver | undefined {
  const name = known.attachments.find((each) => each.name === operation.attachment.name)?.attacher
  if (name === undefined || !restsOnDriver(operation)) return undefined
  const isKnown = new Set(known.nodes.map((node) => node.name))
  return {
    name,
    drivers: now.drivers,
    csi: new Map(now.nodes.flatMap((node) => (node.csi.state === 'known' ? [[node.name, node.csi] as const] : []))),
    attachers: now.attachers.filter((lease) => lastPart(lease.name) === leaseName(name)),
    nodes: now.nodes
      .filter((node) => node.csi.state === 'known' && !isKnown.has(node.name))
      .map((record) => ({ name: record.name, record, leaseRenewTime: record.leaseRenewTime })),
  }
}

/** The same world, and others in which the driver of the attachment has come back, in each of the ways in which one shows. */
function worldsOf(now: ClusterState, operation: ClusterOperation, known: ClusterState): ClusterState[] {
  const name = known.attachments.find((each) => each.name === operation.attachment.name)?.attacher
  if (name === undefined || !restsOnDriver(operation)) return [now]
  const lease = { name: `storage/${leaseName(name)}`, renewTime: now.capturedAt, durationSeconds: 15 }
  const csi = { state: 'known', drivers: [{ name, nodeID: 'n' }], migrated: [] } as const
  const [first, ...others] = now.nodes
  return [
    now,
    { ...now, drivers: [...now.drivers, { name }] },
    { ...now, attachers: [...now.attachers, lease] },
    ...(first === undefined ? [] : [{ ...now, nodes: [{ ...first, csi }, ...others] }]),
    ...(first === undefined ? [] : [{ ...now, nodes: [...now.nodes, { ...first, name: 'new', uid: 'new', csi }] }]),
  ]
}

interface Case {
  readonly seed: number
  /** The world at the time of the look. */
  readonly now: ClusterState
  readonly planned: ClusterOperation
  readonly options: ClusterOptions
  readonly cluster: KnownCluster
}

/** Each operation that is ready, at once and after the world has changed under it. */
function casesOf(seed: number): Case[] {
  const random = randomFrom(seed)
  const state = anyCluster(random)
  const options = anyOptions(random, state)
  const world = chance(random, 0.5) ? anyCluster(random) : changed(random, state)
  return planOf(state, options)
    .operations.filter(({ blocked }) => blocked === undefined)
    .flatMap((planned) => [
      { seed, planned, options, cluster: new KnownCluster(state), now: state },
      ...worldsOf(world, planned, state).map((now) => {
        const cluster = new KnownCluster(state)
        const driver = driverLook(planned, state, now)
        if (driver !== undefined) cluster.layDriver(driver)
        cluster.lay(lookAt(planned, now))
        return { seed, planned, options, cluster, now }
      }),
    ])
}

/** The same cluster a moment later: pods that end or come, volumes that are in use, attachments that go. */
function changed(random: Random, state: ClusterState): ClusterState {
  const { nodes, pods, attachments, volumes } = state
  const names = nodes.map(({ name }) => name)
  const some = <T>(list: readonly T[], change: (each: T) => T): T[] =>
    list.map((each) => (chance(random, 0.1) ? change(each) : each))
  return {
    ...state,
    pods: some(pods, (pod) => ({
      ...pod,
      ...(chance(random, 0.5) ? { node: oneOf(random, names) } : { terminated: true }),
    })),
    nodes: some(nodes, (node) => ({
      ...node,
      volumesInUse: volumes.flatMap(({ uniqueName }) => (chance(random, 0.3) ? (uniqueName ?? []) : [])),
      ready: oneOf(random, ['True', 'False']),
    })),
    attachments: attachments.filter(() => chance(random, 0.95)),
    volumes: volumes.filter(() => chance(random, 0.95)),
  }
}

/** By the pass over everything. */
function wholeVerdict({ cluster, planned, options }: Case): Judged {
  const state = cluster.whole()
  return judgeAgain(planned, planOf(state, options), state)
}

/** The number of another operation in a plan is not part of a verdict. */
function verdict(judged: Judged): string {
  return JSON.stringify(judged).replaceAll(/Resolve operation \d+ first/g, 'Resolve that operation first')
}

const cases = Array.from({ length: SEEDS }, (_, seed) => casesOf(seed)).flat()

function differing(judge: (each: Case) => Judged): string[] {
  return cases.flatMap((each) => {
    const [part, whole] = [verdict(judge(each)), verdict(wholeVerdict(each))]
    return part === whole ? [] : [`${each.seed} ${each.planned.kind}: ${part} and not ${whole}`]
  })
}

describe(`operations of ${SEEDS} random clusters`, () => {
  it('are worth something: of both kinds, the same and refused', () => {
    const ends = cases.map((each) => `${each.planned.kind} ${wholeVerdict(each).refused?.code ?? 'same'}`)
    const count = (end: string): number => ends.filter((each) => each === end).length
    expect(count('DetachVolume same')).toBeGreaterThan(100)
    expect(count('AttachVolume same')).toBeGreaterThan(10)
    expect(count('DetachVolume Changed')).toBeGreaterThan(10)
    expect(count('AttachVolume Changed')).toBeGreaterThan(5)
    expect(count('DetachVolume AlreadyDone')).toBeGreaterThan(5)
  })

  it('have the verdict of the whole cluster over their part of it', () => {
    expect(differing(({ cluster, planned, options }) => judgeFresh(cluster, planned, options))).toEqual([])
  })

  it('that rest on a driver being gone know what has become of it', () => {
    const ofDrivers = cases.filter(({ planned }) => restsOnDriver(planned))
    const isGone = (state: ClusterState, driver: string): boolean =>
      isDriverGone(clusterContext(state, clusterOptions()), driver)
    const found = ofDrivers.map(({ cluster, planned, now }) => {
      const [known] = cluster.attachments.of('name', planned.attachment.name)
      const driver = known?.attacher ?? planned.volume.driver ?? ''
      // What was not readable at the beginning stays so.
      const seen = { ...now, lists: cluster.head.lists, errors: cluster.head.errors, lostNodes: cluster.head.lostNodes }
      return [isGone(cluster.whole(), driver), isGone(seen as ClusterState, driver)]
    })
    expect(found.filter(([known, now]) => known !== now)).toEqual([])
    expect(found.filter(([, now]) => now).length).toBeGreaterThan(10)
    expect(found.filter(([, now]) => !now).length).toBeGreaterThan(30)
  })

  it('would not, if the part were the node alone', () => {
    const alone = ({ cluster, planned, options }: Case): Judged => {
      const part = partOf(cluster, planned, options)
      const isHere = ({ node }: { readonly node?: string }): boolean => node === planned.node
      const less = {
        ...part,
        nodes: part.nodes.filter(({ name }) => name === planned.node),
        pods: part.pods.filter(isHere),
        attachments: part.attachments.filter(isHere),
      }
      return judgeAgain(planned, planPart(less, options, cluster.facts(options.settleMs)), less)
    }
    expect(differing(alone).length).toBeGreaterThan(20)
  })

  it('leave most of the cluster out', () => {
    const sizes = cases.map(({ cluster, planned, options }) => {
      const [part, whole] = [partOf(cluster, planned, options), cluster.whole()]
      return part.pods.length / Math.max(1, whole.pods.length)
    })
    expect(sizes.reduce((sum, each) => sum + each, 0) / sizes.length).toBeLessThan(0.7)
  })
})

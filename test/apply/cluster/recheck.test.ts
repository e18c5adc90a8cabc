/** The verdict about one operation over a part of the cluster is that over all of it, also after the world has changed. */
import { describe, expect, it } from 'vitest'
import { driverOf, findAgain, type Look, readAgain, recheck } from '../../../src/core/apply/cluster/recheck.ts'
import type { FoundAgain } from '../../../src/core/apply/find-again.ts'
import { clusterFacts, lastPart, leaseName } from '../../../src/core/cluster/model/cluster-context.ts'
import type { ClusterState } from '../../../src/core/cluster/model/cluster-state.ts'
import { planPart } from '../../../src/core/cluster/pass/plan-cluster.ts'
import type { RecordReader } from '../../../src/core/cluster/read/read-cluster.ts'
import type { ObjectKey } from '../../../src/core/kube/api/resources.ts'
import type { ClusterOperation, ClusterOptions } from '../../../src/core/plan/cluster-plan.ts'
import { attachmentName } from '../../../src/core/volumes/volume-names.ts'
import { ago, attachment, cluster as clusterOf, clusterOptions, DEAD } from '../../helpers/cluster-builder.ts'
import {
  anyCluster,
  anyOptions,
  chance,
  created,
  liftedPlan,
  oneOf,
  type Random,
} from '../../helpers/random-cluster.ts'
import { randomFrom } from '../../helpers/random-from.ts'

const SEEDS = 1000

/** Single objects of a world. */
function sourceOf(world: ClusterState): RecordReader {
  const { nodes, lostNodes = [], pods, claims, volumes, attachments, drivers, controller, capturedAt } = world
  const leases = [...nodes, ...lostNodes].flatMap(({ name, leaseRenewTime: renewTime }) =>
    renewTime === undefined ? [] : { name: `kube-node-lease/${name}`, renewTime },
  )
  const records: Record<string, readonly Found[]> = {
    ...{ nodes, csinodes: nodes, pods, claims, volumes, attachments, drivers },
    leases: [...leases, ...world.attachers, ...(controller.lease ? [controller.lease] : [])],
  }
  const isCalled = ({ name, namespace }: Found, key: ObjectKey): boolean =>
    namespace === undefined
      ? [key.name, `${key.namespace}/${key.name}`].includes(name)
      : name === key.name && namespace === key.namespace
  const isListed = ({ name, node, namespace }: Found, selector: string | undefined, within: string | undefined) =>
    (within === undefined || namespace === within) &&
    (selector === undefined || [`spec.nodeName=${node}`, `metadata.name=${lastPart(name)}`].includes(selector))
  const source: Pick<RecordReader, 'get' | 'list' | 'byServer' | 'writes'> = {
    get: async (kind, key) => records[kind]?.find((each) => isCalled(each, key)) as never,
    list: async (kind, { fieldSelector, namespace } = {}) => {
      const found = records[kind]?.filter((each) => isListed(each, fieldSelector, namespace)) ?? []
      return { records: found as never, count: found.length, resourceVersion: undefined }
    },
    byServer: () => capturedAt,
    writes: { found: () => controller.writes ?? [] } as unknown as RecordReader['writes'],
  }
  return source as RecordReader
}

interface Found {
  readonly name: string
  readonly namespace?: string
  readonly node?: string
}

/** The world as it may have become: what does not change in Kubernetes, or nobody can find out for one row, is as it was. */
function possible(first: ClusterState, then: ClusterState, planned: ClusterOperation): ClusterState {
  const { node, kind, volume } = planned
  const isAttach = kind === 'AttachVolume'
  const { lists, errors, rights, drivers, attachers } = first
  const wasBound = first.claims.filter(({ volumeName }) => first.volumes.some(({ name }) => name === volumeName))
  const isOwn = ({ name }: { readonly name: string }): boolean => name === volume.persistentVolume
  const other = (each: { readonly name: string }): boolean => each.name !== node
  const lostNodes = first.lostNodes && [
    ...first.lostNodes.filter(other),
    ...(then.lostNodes ?? []).filter((each) => !other(each) && !then.nodes.some(({ name }) => name === node)),
  ]
  return {
    ...then,
    ...{ lists, errors, rights, controller: then.controller },
    // A claim keeps its volume, and a volume its source.
    claims: [...wasBound, ...then.claims.filter((each) => !wasBound.some(({ name }) => name === each.name))],
    volumes: [...first.volumes.filter((each) => !isOwn(each)), ...then.volumes.filter(isOwn)],
    // That other nodes report a volume without an attachment is not asked again.
    nodes: isAttach ? [...first.nodes.filter(other), ...then.nodes.filter((each) => !other(each))] : then.nodes,
    ...(driverOf(first, planned) === undefined && { drivers, attachers }),
    lostNodes,
  }
}

/** The same world, and others in which the driver of the attachment has come back, in each of the ways in which one shows. */
function worldsOf(now: ClusterState, operation: ClusterOperation, known: ClusterState): ClusterState[] {
  const name = driverOf(known, operation)
  if (name === undefined) return [now]
  const lease = { name: `storage/${leaseName(name)}`, renewTime: now.capturedAt, durationSeconds: 15 }
  const csi = { state: 'known', drivers: [{ name }] } as const
  const [first, ...others] = now.nodes
  return [
    now,
    { ...now, drivers: [...now.drivers, { name }] },
    { ...now, attachers: [...now.attachers, lease] },
    ...(first === undefined ? [] : [{ ...now, nodes: [{ ...first, csi }, ...others] }]),
    ...(first === undefined ? [] : [{ ...now, nodes: [...now.nodes, { ...first, name: 'new', uid: 'new', csi }] }]),
  ]
}

/** The same world, and one in which somebody else has attached the volume, or runs a pod with it. */
function elsewhere(now: ClusterState, { kind, node, volume, pods, creates }: ClusterOperation): ClusterState[] {
  const { driver = '', handle = '' } = volume
  const on = now.nodes.find(({ name }) => name !== node)?.name
  const [wanting] = now.pods.filter(({ uid }) => uid === pods[0]?.uid)
  if (kind !== 'AttachVolume' || on === undefined || wanting === undefined || creates === undefined) return []
  const name = attachmentName(handle, driver, on)
  const source = (of: string) => created(name, driver, on, { persistentVolume: of })
  return [
    { ...now, attachments: [...now.attachments, source(volume.persistentVolume ?? '')] },
    { ...now, attachments: [...now.attachments, source('deleted')] },
    { ...now, pods: [...now.pods, { ...wanting, name: 'new', uid: 'new', node: on }] },
  ]
}

interface Case {
  readonly seed: number
  /** The world at the time of the look. */
  readonly now: ClusterState
  readonly planned: ClusterOperation
  readonly options: ClusterOptions
  /** What was read again of it. */
  readonly look: Look
}

/** Each operation that is ready, at once and after the world has changed under it. */
async function casesOf(seed: number): Promise<Case[]> {
  const random = randomFrom(seed)
  const state = anyCluster(random)
  const options = anyOptions(random, state)
  const world = chance(random, 0.5) ? anyCluster(random) : changed(random, state)
  const ready = liftedPlan(state, options).plan.operations.filter(({ blocked }) => blocked === undefined)
  const tried = ready.flatMap((planned) => {
    const then = [state, ...worldsOf(world, planned, state), ...elsewhere(state, planned)]
    return then.map((now) => ({ planned, now: possible(state, now, planned) }))
  })
  return await Promise.all(
    tried.map(async ({ planned, now }) => {
      const first = { state, facts: clusterFacts(state, options.settleMs) }
      return { seed, planned, options, now, look: await readAgain(sourceOf(now), first, planned, options) }
    }),
  )
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

/** By the pass over a whole world. */
function wholeVerdict({ look: { facts }, planned, options, now: state }: Case): FoundAgain<ClusterOperation> {
  return findAgain(planPart(state, options, facts), state)(planned)
}

/** The number of another operation in a plan is not part of a verdict; where else the volume is attached decides nothing. */
function verdict(judged: FoundAgain<ClusterOperation>): string {
  return JSON.stringify(judged)
    .replaceAll(/Resolve operation \d+ first/g, 'Resolve that operation first')
    .replaceAll(/"attachedElsewhere":\[[^\]]*\],/g, '')
}

const cases = (await Promise.all(Array.from({ length: SEEDS }, (_, seed) => casesOf(seed)))).flat()

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

  it('have the verdict of the whole world by what was read again of it', () => {
    const differing = cases.flatMap((each) => {
      const { look, planned, options, seed } = each
      const [part, whole] = [verdict(recheck(look, planned, options)), verdict(wholeVerdict(each))]
      return part === whole ? [] : [`${seed} ${planned.kind}: ${part} and not ${whole}`]
    })
    expect(differing).toEqual([])
  })

  it('have no verdict by the flags that narrowed the plan', () => {
    const narrowed = cases.filter(({ look, planned, options }) => {
      const flags = {
        nodes: [planned.node],
        only: [planned.kind],
        pods: planned.pods.slice(0, 1).map(({ uid }) => uid),
      }
      const given = { ...options, ...flags, nodes: ['other'] }
      return verdict(recheck(look, planned, given)) !== verdict(recheck(look, planned, options))
    })
    expect(narrowed).toEqual([])
  })
})

describe('a controller that was dead', () => {
  const first = clusterOf({ attachments: [attachment('data', 'gone')] })
  const options = clusterOptions({ nodeGone: ['gone'] })
  const stateIn = async (now: Partial<ClusterState>): Promise<string> => {
    const [planned] = liftedPlan(first, options).plan.operations
    if (planned === undefined) throw new Error('nothing is planned')
    const look = { state: first, facts: clusterFacts(first, options.settleMs) }
    return (await readAgain(sourceOf({ ...first, ...now }), look, planned, options)).facts.controller.state
  }

  it('stays dead however long an apply takes, whose nodes are all gone', async () => {
    expect(await stateIn({ capturedAt: ago(-10) })).toBe('dead')
  })

  it('is back once its lease is renewed', async () => {
    expect(await stateIn({ controller: { lease: { ...DEAD, renewTime: ago(0) } } })).toBe('lives')
  })
})

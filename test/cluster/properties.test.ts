/** What holds of every plan, on small clusters in any state: shown by an eye of its own, which knows nothing of the pass. */
import { describe, expect, it } from 'vitest'
import type { ClusterAttachment, ClusterNode, ClusterState } from '../../src/core/cluster/model/cluster-state.ts'
import { planCluster } from '../../src/core/cluster/pass/plan-cluster.ts'
import type { ClusterOperation, ClusterOptions, ClusterPlan } from '../../src/core/plan/cluster-plan.ts'
import { attachmentName, csiUniqueName, parseCsiUniqueName } from '../../src/core/volumes/volume-names.ts'
import { ALIVE, clusterOptions, DEAD, NOW } from '../helpers/cluster-builder.ts'
import {
  anyCluster,
  anyOptions,
  created,
  healthyCluster,
  liftedPlan,
  NEVER_DONE,
  SEEDS,
} from '../helpers/random-cluster.ts'
import { randomFrom } from '../helpers/random-from.ts'

interface Trial {
  readonly seed: number
  readonly state: ClusterState
  readonly options: ClusterOptions
  readonly plan: ClusterPlan
}

function planned(seed: number): Trial {
  const random = randomFrom(seed)
  const state = anyCluster(random)
  return { seed, state, ...liftedPlan(state, anyOptions(random, state)) }
}

const trials = Array.from({ length: SEEDS }, (_, seed) => planned(seed))

function ready({ operations }: ClusterPlan): readonly ClusterOperation[] {
  return operations.filter(({ blocked }) => blocked === undefined)
}

const isDead = ({ controller }: ClusterState): boolean => controller.lease === DEAD

/** The volume of an attachment, by its PersistentVolume, its source, or the hash in its name. */
function nameOf(
  { volumes }: ClusterState,
  { persistentVolume, inline, attacher, name, node }: ClusterAttachment,
  candidates: readonly string[],
): string | undefined {
  const of = volumes.find((each) => each.name === persistentVolume)
  if (of !== undefined) return of.uniqueName
  if (inline?.handle !== undefined) return csiUniqueName(attacher, inline.handle)
  return candidates.find((each) => {
    const csi = parseCsiUniqueName(each)
    return csi !== undefined && attachmentName(csi.handle, csi.driver, node) === name
  })
}

function isSilent(state: ClusterState, { ready: status, leaseRenewTime }: ClusterNode): boolean {
  const age = Date.parse(NOW) - Date.parse(leaseRenewTime ?? NOW)
  return status === 'False' || status === 'Unknown' || (isDead(state) && age > 120_000)
}

/** Pods of the node that have not ended, and whose claim leads to the volume. */
function wanters({ pods, claims, volumes }: ClusterState, on: string, uniqueName: string): string[] {
  return pods.flatMap((each) => {
    if (each.node !== on || each.terminated) return []
    const names = each.volumes.map((of) => claims.find(({ name }) => 'claim' in of && name === of.claim)?.volumeName)
    return volumes.some((of) => names.includes(of.name) && of.uniqueName === uniqueName) ? [each.name] : []
  })
}

function exclusive({ volumes }: ClusterState, uniqueName: string): boolean {
  return volumes.some(
    (of) =>
      of.uniqueName === uniqueName &&
      of.accessModes.length > 0 &&
      !of.accessModes.some((mode) => mode.endsWith('Many')),
  )
}

/** Volumes that the plan detaches, or attaches, against the rules. */
function wrongDetaches({ state, options, plan, seed }: Trial): string[] {
  return ready(plan).flatMap((each) => {
    if (each.kind !== 'DetachVolume') return []
    const attachment = state.attachments.find(({ uid }) => uid === each.attachment.uid)
    const node = state.nodes.find(({ name }) => name === each.node)
    if (attachment === undefined) return [`${seed}: of nothing`]
    const name = nameOf(state, attachment, node?.volumesInUse ?? [])
    const isGiven = options.nodeGone?.includes(each.node) ?? false
    if (name !== undefined && wanters(state, each.node, name).length > 0) return [`${seed}: wanted`]
    if (node === undefined) return isGiven || isDead(state) ? [] : neverDone(each, seed)
    const isUsed = name !== undefined && node.volumesInUse?.includes(name) === true
    const isAllowed = isSilent(state, node) && (node.outOfService || isGiven)
    return isUsed && !isAllowed ? [`${seed}: in use`] : []
  })
}

/** Beside a controller that lives. */
const NEVER: readonly string[] = NEVER_DONE

function neverDone({ reason }: ClusterOperation, seed: number): string[] {
  return NEVER.includes(reason) ? [] : [`${seed}: the controller's work`]
}

function wrongAttaches({ state, options, plan, seed }: Trial): string[] {
  const operations = ready(plan)
  const gone = new Set(operations.filter(({ kind }) => kind === 'DetachVolume').map(({ attachment }) => attachment.uid))
  const seen = new Set<string>()
  return operations.flatMap((each) => {
    const { uniqueName = '' } = each.volume
    if (each.kind !== 'AttachVolume' || !exclusive(state, uniqueName)) return []
    if (seen.has(uniqueName)) return [`${seed}: twice in one plan`]
    seen.add(uniqueName)
    const others = state.attachments.filter(
      (of) => of.node !== each.node && nameOf(state, of, [uniqueName]) === uniqueName,
    )
    const kept = others.filter(({ uid }) => !gone.has(uid))
    const early = others.filter(
      ({ uid }) => !each.after.some((id) => operations.some((op) => op.id === id && op.attachment.uid === uid)),
    )
    const used = state.nodes.filter((of) => {
      const isFree = isSilent(state, of) && (of.outOfService || options.nodeGone?.includes(of.name) === true)
      const isGoing = others.some((other) => other.node === of.name)
      return of.name !== each.node && of.volumesInUse?.includes(uniqueName) === true && !isFree && !isGoing
    })
    return [
      ...(kept.length > 0 ? [`${seed}: attached elsewhere`] : []),
      ...(early.length > 0 ? [`${seed}: before it is detached`] : []),
      ...(used.length > 0 ? [`${seed}: in use elsewhere`] : []),
      ...(state.nodes.some((of) => of.name !== each.node && wanters(state, of.name, uniqueName).length > 0)
        ? [`${seed}: wanted elsewhere`]
        : []),
    ]
  })
}

/** The cluster after every operation that is not blocked. */
function afterwards({ state, plan }: Trial): ClusterState {
  const done = ready(plan)
  const gone = new Set(done.map(({ kind, attachment }) => (kind === 'DetachVolume' ? attachment.uid : undefined)))
  const made = done.flatMap(({ creates }) => {
    if (creates === undefined) return []
    const { name, attacher, nodeName, source } = creates
    const of = 'persistentVolumeName' in source ? { persistentVolume: source.persistentVolumeName } : { inline: {} }
    return [created(name, attacher, nodeName, of)]
  })
  return { ...state, attachments: [...state.attachments.filter(({ uid }) => !gone.has(uid)), ...made] }
}

describe(`of ${SEEDS} clusters in any state`, () => {
  it('the trials are worth something: operations of every reason, blocked and not, waits and refusals', () => {
    const operations = trials.flatMap(({ plan }) => plan.operations)
    const reasons = new Set(operations.map(({ reason }) => reason))
    expect([...reasons].toSorted()).toEqual(
      ['NotWanted', 'OutOfService', 'NodeLost', 'NodeDeleted', 'WantedNotAttached', ...NEVER].toSorted(),
    )
    expect(trials.flatMap(({ plan }) => ready(plan)).length).toBeGreaterThan(SEEDS / 2)
    expect(operations.filter(({ after }) => after.length > 0).length).toBeGreaterThan(10)
    expect(trials.filter(({ options }) => options.acceptOutage !== undefined).length).toBeGreaterThan(3)
  })

  it('none is detached that a pod wants, or that its node reports in use, but from nodes shown to be out of service or gone', () => {
    expect(trials.flatMap(wrongDetaches)).toEqual([])
  })

  it('none that only one node may have is attached a second time', () => {
    expect(trials.flatMap(wrongAttaches)).toEqual([])
  })

  it('beside a controller that lives, or may, only what it never does is an operation', () => {
    const wrong = trials.flatMap(({ state, options, plan, seed }) =>
      isDead(state)
        ? []
        : plan.operations.flatMap((each) => (options.nodeGone?.includes(each.node) ? [] : neverDone(each, seed))),
    )
    expect(wrong).toEqual([])
  })

  it('none whose plan is carried out with nothing blocked needs another one', () => {
    // Where an attachment that somebody created lately is the controller's only sign of life, the sign goes with it.
    const isPlain = ({ state, plan }: Trial): boolean => isDead(state) === (plan.inputs.controller.state === 'dead')
    const clean = trials.filter(
      (each) => isPlain(each) && ready(each.plan).length > 0 && each.plan.summary.blocked === 0,
    )
    expect(clean.length).toBeGreaterThan(SEEDS / 10)
    const again = clean.flatMap((trial) => {
      const next = planCluster(afterwards(trial), trial.options)
      return next.operations.map(({ kind, node, blocked }) => `${trial.seed}: ${kind} ${node} ${blocked?.code ?? ''}`)
    })
    expect(again).toEqual([])
  })

  it('the order of the lists makes no difference, nor does a file in between', () => {
    for (const { state, options, plan } of trials.slice(0, 200)) {
      const turned: ClusterState = {
        ...(JSON.parse(JSON.stringify(state)) as ClusterState),
        nodes: state.nodes.toReversed(),
        attachments: state.attachments.toReversed(),
        volumes: state.volumes.toReversed(),
      }
      const ids = (of: ClusterPlan): string[] => of.operations.map(({ id, blocked }) => `${id} ${blocked?.code}`)
      expect(ids(planCluster(turned, options))).toEqual(ids(plan))
    }
  })

  it('every plan counts what it has, and an operation comes after those that it waits for', () => {
    for (const { plan } of trials) {
      const { operations, waiting, problems, summary } = plan
      expect(summary).toMatchObject({ waiting: waiting.length, problems: problems.length, ready: ready(plan).length })
      const seen = new Set<string>()
      for (const { id, after } of operations) {
        expect(after.every((before) => seen.has(before))).toBe(true)
        expect(seen.has(id)).toBe(false)
        seen.add(id)
      }
    }
  })
})

it.each([
  { name: 'dead', controller: { lease: DEAD, leaseAtEnd: DEAD } },
  { name: 'alive', controller: { lease: ALIVE } },
  { name: 'not known', controller: {} },
])('a healthy cluster: has an empty plan, its controller $name', ({ controller }) => {
  for (let seed = 0; seed < 150; seed++) {
    const { operations, waiting, problems, complete } = planCluster(
      { ...healthyCluster(randomFrom(seed)), controller },
      clusterOptions(),
    )
    expect({ seed, operations, waiting, problems, complete }).toEqual({
      seed,
      operations: [],
      waiting: [],
      problems: [],
      complete: true,
    })
  }
})

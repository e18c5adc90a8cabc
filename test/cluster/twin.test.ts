/**
 * volctl's plan of random clusters beside what the controller itself would come to (test/cluster/controller/decide.ts, an eye of its
 * own): nothing that it would not do, and nothing of its work is left out in silence.
 */
import { describe, expect, it } from 'vitest'
import type { ClusterAttachment, ClusterNode, ClusterState } from '../../src/core/cluster/model/cluster-state.ts'
import type { Node, VolumeAttachment } from '../../src/core/kube/api/objects.ts'
import type { ClusterPlan } from '../../src/core/plan/cluster-plan.ts'
import { clusterOptions, DEAD } from '../helpers/cluster-builder.ts'
import { anyCluster, liftedPlan, NEVER_DONE, SEEDS } from '../helpers/random-cluster.ts'
import { randomFrom } from '../helpers/random-from.ts'
import { type Action, decide, type Memory } from './controller/decide.ts'
import type { World } from './controller/world.ts'

const NEVER: readonly string[] = NEVER_DONE

interface Twin {
  readonly seed: number
  readonly state: ClusterState
  readonly plan: ClusterPlan
  /** `detach` and `attach`, by the name of the attachment. */
  readonly controller: ReadonlyMap<string, Change>
}

type Change = Exclude<Action, { kind: 'report' }>

/** A controller that is dead, and lists that are whole: else volctl does nothing that the controller would have to confirm. */
function twins(): Twin[] {
  return Array.from({ length: SEEDS }, (_, seed) => seed).flatMap((seed) => {
    const state = anyCluster(randomFrom(seed))
    const isWhole = Object.values(state.lists).every((list) => list.state === 'whole')
    if (state.controller.lease !== DEAD || !isWhole || hasTwice(state)) return []
    const { plan } = liftedPlan(state, clusterOptions({ nodeGone: ['missing'] }))
    return [{ seed, state, plan, controller: courseOf(worldOf(state)) }]
  })
}

function hasTwice({ pods, volumes, attachments }: ClusterState): boolean {
  return [pods, volumes, attachments].some((list) => new Set(list.map(({ name }) => name)).size < list.length)
}

/** All that the controller does until it finds nothing to do, with attachers that work at once. */
function courseOf(from: World): Map<string, Change> {
  const [all, memory]: [Map<string, Change>, Memory] = [new Map(), new Map()]
  let world = from
  // In each pass all waits are over.
  for (let now = 0; now < 20; now++) {
    const actions = decide(world, memory, { now, longestWaitMs: 1 })
    const there = new Set(world.attachments.map(({ metadata }) => metadata.name))
    for (const action of actions) {
      // A DELETE of what the status of a Node alone lists is answered with 404, a POST of what is there with 409.
      const isChange = action.kind !== 'report' && there.has(action.attachment) === (action.kind === 'detach')
      if (isChange) all.set(`${action.kind} ${action.attachment}`, action)
    }
    world = after(world, actions)
  }
  return all
}

function after(world: World, actions: readonly Action[]): World {
  const gone = new Set(actions.flatMap((each) => (each.kind === 'detach' ? [each.attachment] : [])))
  const made = actions.flatMap((each): VolumeAttachment[] =>
    each.kind === 'attach'
      ? [
          {
            metadata: { name: each.attachment, uid: each.attachment },
            spec: each.spec as VolumeAttachment['spec'],
            status: { attached: true },
          },
        ]
      : [],
  )
  const reports = new Map(actions.flatMap((each) => (each.kind === 'report' ? [[each.node, each.volumes]] : [])))
  const isLeft = ({ metadata }: VolumeAttachment): boolean =>
    metadata.deletionTimestamp == null && !gone.has(metadata.name)
  return {
    ...world,
    attachments: [...world.attachments.filter(isLeft), ...made],
    nodes: world.nodes.map((node) => {
      const volumes = reports.get(node.metadata.name)
      if (volumes === undefined) return node
      return { ...node, status: { ...node.status, volumesAttached: volumes.map((name) => ({ name })) } }
    }),
  }
}

/** The same cluster as objects of the API. */
function worldOf(state: ClusterState): World {
  const attachable = new Set(
    state.volumes.filter((each) => each.attachability === 'attachable').map(({ uniqueName }) => uniqueName),
  )
  const names = new Map(state.volumes.map(({ name, uniqueName }) => [name, uniqueName]))
  return {
    nodes: state.nodes.map(nodeObject),
    pods: state.pods.map(({ namespace, name, node, terminated, volumes }) => ({
      metadata: { namespace, name, uid: name },
      spec: {
        ...(node !== undefined && { nodeName: node }),
        volumes: volumes.flatMap((each) =>
          'claim' in each ? [{ name: each.claim, persistentVolumeClaim: { claimName: each.claim } }] : [],
        ),
      },
      status: { phase: terminated ? 'Failed' : 'Running' },
    })),
    // A record says of each volume what the API says of its driver: here a claim of one that is not shown to be attachable leads nowhere.
    claims: state.claims.map(({ namespace, name, uid, volumeName = '', phase = '' }) => ({
      metadata: { namespace, name, uid },
      spec: { volumeName },
      status: { phase: attachable.has(names.get(volumeName)) ? phase : 'Pending' },
    })),
    volumes: state.volumes.map(({ name, driver = '', handle = '', accessModes, claim }) => ({
      metadata: { name, uid: name },
      spec: { csi: { driver, volumeHandle: handle }, accessModes, claimRef: { uid: claim?.uid ?? '' } },
    })),
    attachments: state.attachments.map(attachmentObject),
    drivers: [],
  }
}

function nodeObject({
  name,
  managed,
  ready,
  outOfService,
  volumesInUse = [],
  volumesAttached = [],
}: ClusterNode): Node {
  return {
    metadata: {
      name,
      uid: name,
      annotations: managed ? { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' } : {},
    },
    spec: { taints: outOfService ? [{ key: 'node.kubernetes.io/out-of-service' }] : [] },
    status: {
      conditions: ready === undefined ? [] : [{ type: 'Ready', status: ready }],
      volumesInUse,
      volumesAttached: volumesAttached.map((each) => ({ name: each })),
    },
  }
}

function attachmentObject({
  name,
  deletedAt,
  attacher,
  node,
  persistentVolume,
  attached,
}: ClusterAttachment): VolumeAttachment {
  return {
    metadata: { name, uid: name, ...(deletedAt !== undefined && { deletionTimestamp: deletedAt }) },
    spec: {
      ...{ attacher, nodeName: node },
      source: persistentVolume === undefined ? {} : { persistentVolumeName: persistentVolume },
    },
    status: { attached: attached === true },
  }
}

const all = twins()

interface Planned {
  readonly key: string
  /** The controller never does it, or not before what it never does is done. */
  readonly isNever: boolean
}

function changesOf({ plan: { operations } }: Twin): Planned[] {
  const never = new Set(operations.filter(({ reason }) => NEVER.includes(reason)).map(({ id }) => id))
  return operations
    .filter(({ blocked }) => blocked === undefined)
    .map(({ kind, id, attachment, after: before }) => ({
      key: `${kind === 'AttachVolume' ? 'attach' : 'detach'} ${attachment.name}`,
      isNever: [id, ...before].some((each) => never.has(each)),
    }))
}

/** Whether a plan says something of the volume, of the attachment, or of the node. */
function isSaid({ operations, waiting, problems }: ClusterPlan, { attachment, volume, node }: Change): boolean {
  return (
    operations.some((each) => each.attachment.name === attachment) ||
    waiting.some((each) => each.attachment === attachment) ||
    problems.some(
      ({ about }) =>
        about.attachment === attachment || about.volume?.persistentVolume === volume || about.nodes?.includes(node),
    )
  )
}

/** S5: a pod keeps what it has, also where its claim does not lead to the volume any more, and a restarted controller forgets it. */
function isKept({ pods, volumes }: ClusterState, { kind, volume, node }: Change): boolean {
  const claim = volumes.find(({ name }) => name === volume)?.claim
  const has = pods.some(
    (pod) =>
      pod.node === node &&
      !pod.terminated &&
      pod.namespace === claim?.namespace &&
      pod.volumes.some((each) => 'claim' in each && each.claim === claim.name),
  )
  return kind === 'detach' && has
}

describe('beside the controller', () => {
  it('the trials are worth something', () => {
    expect(all.length).toBeGreaterThan(SEEDS / 4)
    expect(all.filter((twin) => changesOf(twin).length > 0).length).toBeGreaterThan(SEEDS / 10)
    expect(all.filter(({ controller }) => controller.size > 0).length).toBeGreaterThan(SEEDS / 10)
  })

  it('volctl does nothing that the controller would not do, but for what it never does and volctl names as such', () => {
    const more = all.flatMap((twin) =>
      changesOf(twin).flatMap(({ key, isNever }) =>
        isNever || twin.controller.has(key) ? [] : [`${twin.seed}: ${key}`],
      ),
    )
    expect(more).toEqual([])
  })

  it('and what the controller would do and volctl does not is said in the plan, or is what a pod has', () => {
    const silent = all.flatMap((twin) => {
      const done = new Set(changesOf(twin).map(({ key }) => key))
      return [...twin.controller].flatMap(([key, change]) =>
        done.has(key) || isKept(twin.state, change) || isSaid(twin.plan, change)
          ? []
          : [`${twin.seed}: ${key} ${change.volume} ${change.node}`],
      )
    })
    expect(silent).toEqual([])
  })
})

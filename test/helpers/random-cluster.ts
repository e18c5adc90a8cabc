/** Small clusters in any state that the API can show, and healthy ones; by a seed. */
import type {
  ClusterAttachment,
  ClusterNode,
  ClusterPod,
  ClusterResource,
  ClusterState,
  ClusterVolume,
} from '../../src/core/cluster/model/cluster-state.ts'
import { planCluster } from '../../src/core/cluster/pass/plan-cluster.ts'
import type { Reason } from '../../src/core/messages/codes.ts'
import type { ClusterOptions, ClusterPlan } from '../../src/core/plan/cluster-plan.ts'
import { attachmentName, csiUniqueName } from '../../src/core/volumes/volume-names.ts'
import {
  ALIVE,
  ago,
  attachment,
  claim,
  cluster,
  clusterOptions,
  DEAD,
  DRIVER,
  NOW,
  node,
  pod,
  uniqueName,
  volume,
} from './cluster-builder.ts'

export type Random = () => number

export function chance(random: Random, of: number): boolean {
  return random() < of
}

export function oneOf<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T
}

function upTo(random: Random, most: number): number {
  return 1 + Math.floor(random() * most)
}

/** How many clusters a property is tried on; VOLCTL_RUNS tries more. */
export const SEEDS = Number(process.env.VOLCTL_RUNS ?? 1500)

/** Reasons of operations that no controller carries out, however long it lives (R718, R738, R835). */
export const NEVER_DONE = [
  'VolumeDeleted',
  'InlineNotWanted',
  'HandleWithCaret',
  'AttachmentNameWrong',
  'DriverRemoved',
] as const satisfies readonly Reason[]

const OTHER_DRIVER = 'gone.csi.example.com'
const MODES = [['ReadWriteOnce'], ['ReadWriteOncePod'], ['ReadWriteMany'], ['ReadOnlyMany', 'ReadWriteOnce'], []]

/** Every pod runs, and what it wants is attached, reported and in use. */
export function healthyCluster(random: Random): ClusterState {
  const nodes = Array.from({ length: upTo(random, 6) }, (_, n) => `n${n}`)
  const names = Array.from({ length: upTo(random, 10) }, (_, n) => `v${n}`)
  const volumes = names.map((name) => volume(name, { accessModes: oneOf(random, MODES) }))
  const pods: ClusterPod[] = []
  for (const { name, accessModes } of volumes) {
    const isShared = accessModes.length === 0 || accessModes.some((mode) => mode.endsWith('Many'))
    const on = chance(random, 0.15) ? [] : isShared ? nodes.filter(() => chance(random, 0.6)) : [oneOf(random, nodes)]
    for (const each of on) {
      for (let n = upTo(random, 2); n > 0; n--) pods.push(pod(`${name}-${each}-${n}`, each, [name.slice(3)]))
    }
  }
  const has = (on: string, name: string): boolean =>
    pods.some((each) => each.node === on && each.volumes.some((of) => of.name === name))
  const onNode = (on: string): string[] => names.filter((name) => has(on, name)).map((name) => uniqueName(name))
  return cluster({
    nodes: nodes.map((name) => node(name, { volumesAttached: onNode(name), volumesInUse: onNode(name) })),
    pods,
    podCount: pods.length + 3,
    claims: names.map((name) => claim(name)),
    volumes,
    attachments: nodes.flatMap((on) => names.filter((name) => has(on, name)).map((name) => attachment(name, on))),
    controller: { lease: chance(random, 0.5) ? DEAD : ALIVE },
  })
}

/** Anything: nodes that are gone, silent, tainted or unmanaged, attachments of everything, pods of missing nodes, lists in part. */
export function anyCluster(random: Random): ClusterState {
  // In a calm one fewer things are odd at once, so that more of the plan can be carried out.
  const odd = oneOf(random, [0.2, 1])
  const nodes = Array.from({ length: upTo(random, 6) }, (_, n) => `n${n}`)
  const places = [...nodes, 'missing']
  const names = Array.from({ length: upTo(random, 10) }, (_, n) => `v${n}`)
  const volumes = names.filter(() => chance(random, 0.9)).map((name) => anyVolume(random, name, odd))
  const uniqueNames = [
    ...volumes.flatMap((each) => each.uniqueName ?? []),
    uniqueName('nobody'),
    'kubernetes.io/iscsi/iqn:lun',
  ]
  const some = (of: number): string[] => uniqueNames.filter(() => chance(random, of))
  const pods = names.flatMap((name) =>
    Array.from({ length: Math.floor(random() * (odd < 1 ? 2 : 3)) }, (_, n) => anyPod(random, name, n, places)),
  )
  const attached = names.flatMap((name) =>
    places.flatMap((on) => (chance(random, odd < 1 ? 0.12 : 0.35) ? [anyAttachment(random, name, on, volumes)] : [])),
  )
  const state = cluster({
    nodes: nodes.map((name) => anyNode(random, name, some, odd)),
    pods,
    podCount: chance(random, 0.1) ? pods.length : pods.length + 5,
    claims: names.filter(() => chance(random, 0.95)).map((name) => claim(name, anyClaim(random))),
    volumes,
    // Of two volumes of one handle the attachments have one name.
    attachments: [...new Map(attached.map((each) => [each.name, each])).values()],
    drivers: chance(random, 0.9) ? [{ name: DRIVER }] : [],
    controller: oneOf(random, [
      { lease: DEAD, leaseAtEnd: DEAD },
      { lease: DEAD, leaseAtEnd: DEAD },
      { lease: DEAD, leaseAtEnd: DEAD },
      { lease: ALIVE },
      {},
      { lease: { name: DEAD.name } },
    ]),
    ...(chance(random, 0.1) && { rights: { deleteAttachments: false, createAttachments: chance(random, 0.5) } }),
    ...(chance(random, 0.5) && { lostNodes: [{ name: 'missing', leaseRenewTime: ago(oneOf(random, [0.1, 30])) }] }),
  })
  return chance(random, 0.1) ? { ...state, lists: inPart(random, state) } : state
}

function inPart(random: Random, { lists }: ClusterState): ClusterState['lists'] {
  const resource = oneOf(random, Object.keys(lists) as ClusterResource[])
  return { ...lists, [resource]: { state: 'failed' as const, count: 0 } }
}

function anyNode(random: Random, name: string, some: (of: number) => string[], odd: number): ClusterNode {
  if (odd < 1 && chance(random, 0.6)) return node(name, { volumesInUse: some(0.1 * odd) })
  const silent = ago(oneOf(random, [0.1, 5, 30]))
  const made = node(name, {
    managed: chance(random, 0.95),
    ready: oneOf(random, ['True', 'True', 'True', 'False', 'Unknown']),
    readySince: ago(oneOf(random, [5, 30])),
    heartbeat: silent,
    leaseRenewTime: silent,
    outOfService: chance(random, 0.15),
    createdAt: ago(oneOf(random, [1, 9000])),
    volumesInUse: some(0.2 * odd),
    volumesAttached: some(0.3 * odd),
    csi: oneOf(random, [
      {
        state: 'known',
        drivers: [{ name: DRIVER, ...(chance(random, 0.3) && { limit: upTo(random, 3) }) }],
      },
      { state: 'known', drivers: [{ name: DRIVER }] },
      { state: 'known' },
      { state: 'absent' },
    ] as const),
  })
  if (chance(random, 0.95)) return made
  const { ready: _, ...without } = made
  return without
}

function anyVolume(random: Random, name: string, odd: number): ClusterVolume {
  if (odd < 1 && chance(random, 0.6)) return volume(name)
  const driver = chance(random, 0.9) ? DRIVER : OTHER_DRIVER
  const handle = oneOf(random, [`h-${name}`, `h-${name}`, `h-${name}`, 'h-v0', `h^${name}`])
  return volume(name, {
    ...{ driver, handle, uniqueName: csiUniqueName(driver, handle), accessModes: oneOf(random, MODES) },
    attachability: oneOf(random, ['attachable', 'attachable', 'attachable', 'notAttachable', 'unknown']),
    ...(chance(random, 0.1) && { claim: { namespace: 'default', name, uid: 'another' } }),
    ...(chance(random, 0.1) && { deletedAt: ago(10), finalizers: ['kubernetes.io/pv-protection'] }),
  })
}

function anyClaim(random: Random): Parameters<typeof claim>[1] {
  return {
    ...(chance(random, 0.1) && { phase: oneOf(random, ['Pending', 'Lost']) }),
    ...(chance(random, 0.1) && { deletedAt: ago(10) }),
  }
}

function anyPod(random: Random, name: string, n: number, places: readonly string[]): ClusterPod {
  const isTerminated = chance(random, 0.2)
  return pod(`${name}-${n}`, chance(random, 0.9) ? oneOf(random, places) : undefined, [name], {
    terminated: isTerminated,
    started: chance(random, 0.7),
    ...((isTerminated || chance(random, 0.1)) && { deletedAt: ago(oneOf(random, [1, 30])) }),
  })
}

function anyAttachment(random: Random, name: string, on: string, volumes: readonly ClusterVolume[]): ClusterAttachment {
  const of = volumes.find((each) => each.name === `pv-${name}`)
  const [driver, handle] = [of?.driver ?? DRIVER, of?.handle ?? `h-${name}`]
  const { persistentVolume, ...made } = attachment(name, on, {
    attacher: chance(random, 0.97) ? driver : OTHER_DRIVER,
    name: chance(random, 0.93) ? attachmentName(handle, driver, on) : `mine-${name}-${on}`,
    createdAt: oneOf(random, [ago(1), ago(900), ago(900), ago(900)]),
    ...(chance(random, 0.9) && { byVolctl: true as const }),
    ...(chance(random, 0.15) && { deletedAt: ago(oneOf(random, [1, 10])) }),
    ...(chance(random, 0.15) && { attached: false }),
  })
  if (chance(random, 0.05)) return { ...made, inline: { driver, handle } }
  return { ...made, persistentVolume }
}

/** As volctl marks what it creates, a moment after NOW. */
export function created(
  name: string,
  attacher: string,
  on: string,
  source: Pick<ClusterAttachment, 'persistentVolume' | 'inline'>,
): ClusterAttachment {
  return {
    ...source,
    name,
    uid: `new-${name}`,
    resourceVersion: '1',
    createdAt: NOW,
    attacher,
    node: on,
    attached: true,
    byVolctl: true,
  }
}

export function anyOptions(random: Random, { nodes }: ClusterState): ClusterOptions {
  return clusterOptions({
    ...(chance(random, 0.4) && { nodeGone: [oneOf(random, [...nodes.map(({ name }) => name), 'missing'])] }),
  })
}

/** The outage guard counts the whole cluster; everything is judged as if it were lifted, so that there is something to look at. */
export function liftedPlan(
  state: ClusterState,
  given: ClusterOptions,
): { readonly plan: ClusterPlan; readonly options: ClusterOptions } {
  const planWith = (options: ClusterOptions) => ({ plan: planCluster(state, options), options })
  const first = planWith(given)
  const { refused, inputs } = first.plan
  return refused === undefined ? first : planWith({ ...given, acceptOutage: inputs.counts.detaches })
}

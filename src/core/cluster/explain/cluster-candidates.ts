/** Everything in a cluster that can be asked about, with the names under which it goes; also what others only refer to. */
import { driverCandidate, type Nameable, namesWith } from '../../explain/match-name.ts'
import { defined } from '../../lang/defined.ts'
import type { ClusterPlan } from '../../plan/cluster-plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { type RowKey, rowOf } from '../../plan/subject.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import type { ClusterPod } from '../model/cluster-state.ts'

export type ClusterTarget =
  | { readonly kind: 'Pod'; readonly pod: ClusterPod }
  | { readonly kind: 'PersistentVolumeClaim'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'PersistentVolume'; readonly name: string }
  /** `row`: of one that is still to be created. */
  | { readonly kind: 'VolumeAttachment'; readonly name: string; readonly row?: RowKey }
  | { readonly kind: 'Volume'; readonly uniqueName: string }
  | { readonly kind: 'Node'; readonly name: string }
  | { readonly kind: 'Driver'; readonly name: string }

export interface ClusterCandidate extends Nameable {
  readonly target: ClusterTarget
  /** The unique name of the volume behind a claim or PersistentVolume, or of the volume itself. */
  readonly volume?: string | undefined
}

/** @param plan names attachments that are still to be created */
export function clusterCandidates(context: ClusterContext, plan: ClusterPlan): readonly ClusterCandidate[] {
  const all = [
    ...pods(context),
    ...claims(context),
    ...persistentVolumes(context),
    ...attachments(context, plan),
    ...volumes(context),
    ...nodes(context),
    ...drivers(context),
  ]
  // What a list has twice, or others refer to as well, is one question.
  const asked = new Set<string>()
  return all.filter(({ ask }) => !asked.has(ask) && asked.add(ask) !== undefined)
}

function pods({ state }: ClusterContext): ClusterCandidate[] {
  const uids = new Map<string, Set<string>>()
  for (const pod of state.pods) {
    const name = namespacedName(pod)
    uids.set(name, (uids.get(name) ?? new Set()).add(pod.uid))
  }
  return state.pods.map((pod) => {
    const name = namespacedName(pod)
    const isShared = (uids.get(name)?.size ?? 0) > 1
    return {
      ask: `pod/${isShared ? pod.uid : name}`,
      names: [name, pod.name, pod.uid],
      about: pod.node === undefined ? 'pod without a node' : `pod on node ${pod.node}`,
      target: { kind: 'Pod', pod },
    }
  })
}

function claims({ state, objects }: ClusterContext): ClusterCandidate[] {
  const named = state.pods.flatMap(({ namespace, volumes: own }) =>
    own.flatMap((each) => ('claim' in each ? [{ namespace, name: each.claim, uid: undefined }] : [])),
  )
  return [...state.claims, ...named].map(({ namespace, name, uid }) => {
    const found = objects.claim(namespace, name)
    const bound = found.state === 'Found' ? found.object.volumeName : undefined
    return {
      ask: `pvc/${namespace}/${name}`,
      names: [`${namespace}/${name}`, ...namesWith(name, uid)],
      about: found.state === 'Found' ? 'claim' : 'claim that a pod names',
      target: { kind: 'PersistentVolumeClaim', namespace, name },
      volume: bound === undefined ? undefined : uniqueNameOf(objects, bound),
    }
  })
}

function uniqueNameOf(objects: ClusterContext['objects'], persistentVolume: string): string | undefined {
  const found = objects.volume(persistentVolume)
  return found.state === 'Found' ? found.object.uniqueName : undefined
}

function persistentVolumes({ state, objects }: ClusterContext): ClusterCandidate[] {
  const named = [
    ...state.attachments.map(({ persistentVolume }) => persistentVolume),
    ...state.claims.map(({ volumeName }) => volumeName),
  ].flatMap((name) => (name === undefined || name === '' ? [] : [{ name, uid: undefined, claim: undefined }]))
  return [...state.volumes, ...named].map(({ name, uid, claim }) => ({
    ask: `pv/${name}`,
    names: namesWith(name, uid),
    about: claim === undefined ? 'PersistentVolume' : `PersistentVolume of claim ${namespacedName(claim)}`,
    target: { kind: 'PersistentVolume', name },
    volume: uniqueNameOf(objects, name),
  }))
}

function attachments({ state }: ClusterContext, { operations, waiting }: ClusterPlan): ClusterCandidate[] {
  const planned = [
    ...operations.map(({ attachment: { name }, node, subject }) => ({ name, node, subject })),
    ...waiting.flatMap(({ attachment: name, node, subject }) => (name === undefined ? [] : [{ name, node, subject }])),
  ]
  const all = [
    ...state.attachments.map(({ name, uid, node }) => ({ name, uid, node, row: undefined })),
    ...planned.map(({ name, node, subject }) => ({ name, uid: undefined, node, row: rowOf(subject) })),
  ]
  return all.map(({ name, uid, node, row }) => ({
    ask: `va/${name}`,
    names: namesWith(name, uid),
    about: `VolumeAttachment to node ${node}`,
    target: { kind: 'VolumeAttachment', name, ...defined({ row }) },
  }))
}

/** Also what Nodes report and nobody knows otherwise. */
function volumes(context: ClusterContext): ClusterCandidate[] {
  const { state, known, desired, actual } = context
  const wanted = new Map(desired.all().map(({ volume }) => [volume.uniqueName, volume]))
  for (const { volume } of desired.unscheduled) wanted.set(volume.uniqueName, volume)
  const names = new Set([...known.keys(), ...wanted.keys()])
  for (const { volumesAttached = [], volumesInUse = [] } of state.nodes)
    for (const each of [...volumesAttached, ...volumesInUse]) names.add(each)
  for (const { uniqueName } of actual.all) if (uniqueName !== undefined) names.add(uniqueName)
  return [...names].map((uniqueName) => {
    const { handle, driver, plugin } = known.get(uniqueName) ?? wanted.get(uniqueName) ?? {}
    return {
      ask: `volume/${uniqueName}`,
      names: [uniqueName, ...(handle === undefined ? [] : [handle])],
      about: `volume of ${driver ?? plugin ?? uniqueName.split('^', 1)[0]}`,
      target: { kind: 'Volume', uniqueName },
      volume: uniqueName,
    }
  })
}

function nodes({ state }: ClusterContext): ClusterCandidate[] {
  const listed = new Set(state.nodes.map(({ name }) => name))
  const names = new Set([
    ...listed,
    ...state.attachments.map(({ node }) => node),
    ...state.pods.flatMap(({ node }) => node ?? []),
    ...(state.lostNodes ?? []).map(({ name }) => name),
  ])
  return [...names].map((name) => ({
    ask: `node/${name}`,
    names: [name],
    about: listed.has(name) ? 'node' : 'node that is not in the list',
    target: { kind: 'Node', name },
  }))
}

function drivers({ state }: ClusterContext): ClusterCandidate[] {
  const names = new Set([
    ...state.drivers.map(({ name }) => name),
    ...state.attachments.map(({ attacher }) => attacher),
    ...state.volumes.flatMap(({ driver }) => driver ?? []),
    ...state.nodes.flatMap(({ csi }) => (csi.state === 'known' ? csi.drivers.map(({ name }) => name) : [])),
  ])
  return [...names].map(driverCandidate)
}

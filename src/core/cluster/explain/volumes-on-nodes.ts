/** A volume on a node as the pass sees it: who has it, and by which attachments. What a question is about becomes a list of these. */

import { defined } from '../../lang/defined.ts'
import type { Attached } from '../actual/actual-attachments.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import type { Want } from '../desired/desired-attachments.ts'
import { resolvePodVolume, type UnresolvedPodVolume } from '../desired/pod-volume.ts'
import type { ClusterPod } from '../model/cluster-state.ts'
import type { KnownVolume } from '../model/known-volume.ts'

export interface VolumeOnNode {
  /** Absent: of pods without a node, or attached nowhere. */
  readonly node?: string
  /** Absent: it is not known which volume it is. */
  readonly uniqueName?: string
  readonly volume?: KnownVolume
  readonly want?: Want
  /** Pods of the node that want it, have it, or have ended; of a question about a pod this one alone. */
  readonly pods: readonly ClusterPod[]
  readonly attached: readonly Attached[]
  /** What the pod names, and nobody can find. */
  readonly unresolved?: UnresolvedPodVolume
  /** namespace/name */
  readonly claim?: string
  readonly persistentVolume?: string
}

export function onNode(context: ClusterContext, node: string, uniqueName: string): VolumeOnNode {
  const { desired, actual, known } = context
  const want = desired.on(node, uniqueName)
  const attached = actual.on(node, uniqueName)
  const volume = want?.volume ?? known.get(uniqueName) ?? attached[0]?.volume
  const having = [...(want?.pods ?? []), ...(want?.others ?? []).map(({ pod }) => pod)]
  const pods = having.length > 0 ? having : desired.endedOn(node, uniqueName)
  const [first] = attached
  return {
    ...{ node, uniqueName, pods: [...new Set(pods)], attached },
    ...defined({
      want,
      volume,
      claim: volume?.claim,
      persistentVolume: first?.object.persistentVolume ?? want?.persistentVolume ?? volume?.persistentVolumes[0],
    }),
  }
}

/** Every node that has the volume or may, or whose pods want it; pods without a node. Never empty. */
export function ofVolume(context: ClusterContext, uniqueName: string): VolumeOnNode[] {
  const { desired, actual, known } = context
  const nodes = new Set([...actual.nodesWith(uniqueName), ...desired.ofVolume(uniqueName).map(({ node }) => node)])
  const found = [...nodes].map((node) => onNode(context, node, uniqueName))
  const waiting = desired.unscheduled.filter(({ volume }) => volume.uniqueName === uniqueName)
  if (found.length > 0 && waiting.length === 0) return found
  const volume = known.get(uniqueName) ?? waiting[0]?.volume
  const without: VolumeOnNode = {
    ...{ uniqueName, pods: waiting.map(({ pod }) => pod), attached: [] },
    ...defined({ volume, claim: volume?.claim, persistentVolume: volume?.persistentVolumes[0] }),
  }
  return [...found, without]
}

export function ofAttachment(context: ClusterContext, attached: Attached): VolumeOnNode {
  const { object, uniqueName } = attached
  const { node, persistentVolume } = object
  const whole: VolumeOnNode =
    uniqueName === undefined ? { node, pods: [], attached: [] } : onNode(context, node, uniqueName)
  return { ...whole, attached: [attached], ...defined({ persistentVolume }) }
}

/** In the order of its spec. */
export function ofPod(context: ClusterContext, pod: ClusterPod): VolumeOnNode[] {
  const { objects, known } = context
  return pod.volumes.map((own): VolumeOnNode => {
    const resolution = resolvePodVolume(pod, own, objects, known)
    const claim = 'claim' in own ? `${pod.namespace}/${own.claim}` : undefined
    const mine = { pods: [pod], ...defined({ claim }) }
    if ('unresolved' in resolution)
      return { attached: [], ...mine, ...defined({ node: pod.node }), unresolved: resolution.unresolved }
    const { volume, persistentVolume } = resolution
    const { uniqueName } = volume
    const named = defined({ persistentVolume: persistentVolume ?? volume.persistentVolumes[0] })
    if (pod.node === undefined) return { uniqueName, volume, attached: [], ...named, ...mine }
    return { ...onNode(context, pod.node, uniqueName), volume, ...named, ...mine }
  })
}

/** Each volume that a node has, may have or is to have; attachments of unknown volumes. */
export function ofNode(context: ClusterContext, node: string): VolumeOnNode[] {
  const { desired, actual } = context
  const names = new Set([...actual.confirmedOn(node), ...actual.inUseOn(node)])
  for (const { volume } of desired.onNode(node)) names.add(volume.uniqueName)
  const here = actual.onNode(node)
  for (const { uniqueName } of here) if (uniqueName !== undefined) names.add(uniqueName)
  return [
    ...[...names].map((name) => onNode(context, node, name)),
    ...here.filter(({ uniqueName }) => uniqueName === undefined).map((attached) => ofAttachment(context, attached)),
    ...desired.unresolvedOn(node).map(
      (unresolved): VolumeOnNode => ({
        ...{ node, pods: [unresolved.pod], attached: [], unresolved },
        ...defined({ claim: unresolved.claim }),
      }),
    ),
  ]
}

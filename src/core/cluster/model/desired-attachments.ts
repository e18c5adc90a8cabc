/** Node to volume to pods: what the attach/detach controller wants attached (R706-R711). */

import { Grouped } from '../../base/append.ts'
import { memoize, once } from '../../base/memoize.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import { CSI_PLUGIN } from '../../facts/actual/volume-names.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { mayBeNamed, mayBeOne } from '../../volumes/desired-state.ts'
import type { ClusterObjects } from './cluster-objects.ts'
import type { ClusterNode, ClusterPod, ClusterState } from './cluster-state.ts'
import { type KnownVolume, type ResolvedPodVolume, resolvePodVolume, type UnresolvedPodVolume } from './volumes.ts'

/**
 * Why the controller does not attach a volume that a pod of the node has. All of these hold a detach: the controller remembers
 * what it wanted before, and volctl cannot (R118, R709).
 */
export type NotAttachedFor =
  /** The driver needs no attachment. */
  | 'NotAttachable'
  /** The CSIDriver could not be read. */
  | 'AttachabilityUnknown'
  /** The kubelet of the node mounts the in-tree volume itself. */
  | 'NotMigrated'
  /** The claim is not bound to it, or not the pod's. */
  | 'Unusable'
  /** The node's kubelet attaches, or the Node is not known. */
  | 'NotManaged'

export interface Want {
  readonly node: string
  readonly volume: KnownVolume
  /** The one that a VolumeAttachment names; absent: the volume stands in the spec of a pod. */
  readonly persistentVolume?: string
  /** Pods for which it is to be attached. */
  readonly pods: ClusterPod[]
  /** Pods that have it without being a reason to attach it. */
  readonly others: { readonly pod: ClusterPod; readonly why: NotAttachedFor; readonly fault?: string }[]
}

/** What is known of the volume of an attachment. */
interface MaybeHeld {
  readonly uniqueName?: string | undefined
  readonly driver: string
  /** By the name in the attachment, there or not. */
  readonly persistentVolume?: string | undefined
}

export class DesiredAttachments {
  /** Volumes of pods without a node, or that could not be resolved; of pods on nodes also in `heldBy`. */
  readonly unresolved: UnresolvedPodVolume[] = []
  readonly #wants = new Map<string, Map<string, Want>>()
  readonly #byVolume = new Grouped<string, Want>()
  readonly #unresolvedOn = new Grouped<string, UnresolvedPodVolume>()
  /** Pods that have ended and are still in the API, by node and unique name. */
  readonly #ended = new Grouped<string, ClusterPod>()
  /** Volumes of pods that wait for a node. */
  readonly unscheduled: { readonly pod: ClusterPod; readonly volume: KnownVolume; readonly fault?: string }[] = []

  /** In the order of the pods. */
  all(): readonly Want[] {
    return [...this.#wants.values()].flatMap((each) => [...each.values()])
  }

  on(node: string, uniqueName: string): Want | undefined {
    return this.#wants.get(node)?.get(uniqueName)
  }

  /** Everything that pods of a node have. */
  onNode(node: string): readonly Want[] {
    return [...(this.#wants.get(node)?.values() ?? [])]
  }

  ofVolume(uniqueName: string): readonly Want[] {
    return this.#byVolume.of(uniqueName)
  }

  endedOn(node: string, uniqueName: string): readonly ClusterPod[] {
    return this.#ended.of(`${node} ${uniqueName}`)
  }

  unresolvedOn(node: string): readonly UnresolvedPodVolume[] {
    return this.#unresolvedOn.of(node)
  }

  /**
   * A volume of a pod of the node that could not be resolved, and may be this one (S4): also where the PersistentVolume was deleted
   * under both, and nothing but its name is left.
   */
  mayBeOn(node: string, attached: MaybeHeld): UnresolvedPodVolume | undefined {
    const { uniqueName, driver, persistentVolume } = attached
    return this.unresolvedOn(node).find((each) => {
      if (persistentVolume !== undefined && each.persistentVolumeName === persistentVolume) return true
      return uniqueName === undefined
        ? mayBeOne(each.mayBe, { plugin: CSI_PLUGIN, driver })
        : mayBeNamed(each.mayBe, uniqueName)
    })
  }

  add(node: string, pod: ClusterPod, resolved: ResolvedPodVolume, why: NotAttachedFor | undefined): void {
    const { volume, persistentVolume, fault } = resolved
    const ofNode = once(this.#wants, node, () => new Map<string, Want>())
    const want = once(ofNode, volume.uniqueName, () => {
      const made: Want = { node, volume, pods: [], others: [], ...omitUndefined({ persistentVolume }) }
      this.#byVolume.add(volume.uniqueName, made)
      return made
    })
    if (why !== undefined) want.others.push({ pod, why, ...omitUndefined({ fault }) })
    else if (!want.pods.includes(pod)) want.pods.push(pod)
  }

  addUnresolved(unresolved: UnresolvedPodVolume): void {
    this.unresolved.push(unresolved)
    if (unresolved.pod.node !== undefined) this.#unresolvedOn.add(unresolved.pod.node, unresolved)
  }

  addEnded(node: string, uniqueName: string, pod: ClusterPod): void {
    this.#ended.add(`${node} ${uniqueName}`, pod)
  }
}

/**
 * Every volume of `spec.volumes`, used by a container or not, of every pod (R708). A pod that has ended wants nothing (R707);
 * no controller since 1.31 looks at the annotation by which a node kept its volumes (R710). Pods on nodes that the controller does not manage, or that do not
 * exist, are no reason to attach (R702, R706); what they have is in use all the same.
 */
export function desiredAttachments(
  state: ClusterState,
  objects: ClusterObjects,
  known: ReadonlyMap<string, KnownVolume>,
): DesiredAttachments {
  const desired = new DesiredAttachments()
  for (const pod of state.pods) addPod(pod, desired, { objects, known })
  return desired
}

interface Sources {
  readonly objects: ClusterObjects
  readonly known: ReadonlyMap<string, KnownVolume>
}

/** By the claim that the PersistentVolume names. Asked for only where a claim does not lead to its volume. */
const volumesByClaim = memoize((known: ReadonlyMap<string, KnownVolume>): Grouped<string, KnownVolume> => {
  const byClaim = new Grouped<string, KnownVolume>()
  for (const volume of known.values()) if (volume.claim !== undefined) byClaim.add(namespacedName(volume.claim), volume)
  return byClaim
})

function addPod(pod: ClusterPod, desired: DesiredAttachments, sources: Sources): void {
  const { objects, known } = sources
  const found = pod.node === undefined ? undefined : objects.node(pod.node)
  const node = found?.state === 'Found' ? found.object : undefined
  for (const each of pod.volumes) {
    const resolution = resolvePodVolume(pod, each, objects, known)
    if ('unresolved' in resolution) {
      if (!pod.terminated) addUnresolved(resolution.unresolved, desired, sources)
    } else if (pod.node === undefined) {
      if (!pod.terminated) desired.unscheduled.push({ pod, ...resolution })
    } else if (pod.terminated) desired.addEnded(pod.node, resolution.volume.uniqueName, pod)
    else {
      const { volume, fault } = resolution
      desired.add(pod.node, pod, resolution, whyNot(volume, node, fault))
    }
  }
}

/**
 * The controller remembers the volume of a claim that was deleted under a pod, or was bound to something else: a
 * PersistentVolume that still names the claim counts as the pod's.
 */
function addUnresolved(unresolved: UnresolvedPodVolume, desired: DesiredAttachments, { known }: Sources): void {
  desired.addUnresolved(unresolved)
  const { pod, claimName, message } = unresolved
  if (pod.node === undefined || claimName === undefined) return
  for (const volume of volumesByClaim(known).of(`${pod.namespace}/${claimName}`))
    desired.add(pod.node, pod, { volume, fault: message }, 'Unusable')
}

function whyNot(
  volume: KnownVolume,
  node: ClusterNode | undefined,
  fault: string | undefined,
): NotAttachedFor | undefined {
  if (fault !== undefined) return 'Unusable'
  if (volume.attachability === 'notAttachable') return 'NotAttachable'
  if (volume.attachability === 'unknown') return 'AttachabilityUnknown'
  if (node === undefined || !node.managed) return 'NotManaged'
  return migratesOn(node, volume) ? undefined : 'NotMigrated'
}

/** The first version whose kubelet migrates every in-tree plugin, whatever CSINode lists. */
const ALL_MIGRATED_MINOR = 33

/**
 * Is an in-tree volume left to its CSI driver on a node (R150, R709)?
 * What CSINode lists decides; where it lists nothing, the version of the kubelet does. An unknown CSINode does not make a volume
 * unmigrated: nothing is attached to such a node anyway.
 */
export function migratesOn(node: ClusterNode, { migratedFrom }: Pick<KnownVolume, 'migratedFrom'>): boolean {
  if (migratedFrom === undefined || node.csi.state !== 'known') return true
  const { migrated = [] } = node.csi
  if (migrated.length > 0) return migrated.includes(migratedFrom)
  const found = /^v?(\d+)\.(\d+)/.exec(node.kubeletVersion ?? '')
  return found === null || Number(found[1]) > 1 || Number(found[2]) >= ALL_MIGRATED_MINOR
}

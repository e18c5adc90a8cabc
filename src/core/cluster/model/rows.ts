/**
 * Volume × node, the one relation that the pass is about: which pods want a volume on a node (R706-R711), and what shows that it is
 * attached there, or in use (R714-R719).
 */

import { Grouped, lazy, once } from '../../base/collections.ts'
import { compareText } from '../../base/text.ts'
import { namespacedName } from '../../kube/api/names.ts'
import type { Finding } from '../../messages/findings.ts'
import { foundOf, type Lookup } from '../../volumes/api-lookup.ts'
import { mayBeNamed, mayBeOne } from '../../volumes/desired-state.ts'
import { attachmentName, CSI_PLUGIN, csiUniqueName, parseCsiUniqueName } from '../../volumes/volume-names.ts'
import {
  type ClusterAttachment,
  type ClusterObjects,
  type ClusterPod,
  type ClusterState,
  type ClusterVolume,
  clusterObjects,
} from './cluster-state.ts'
import {
  type KnownVolume,
  knownVolumes,
  type NotAttachedFor,
  type ResolvedPodVolume,
  resolvePodVolume,
  type UnresolvedPodVolume,
  volumeCalled,
  whyNotAttached,
} from './volumes.ts'

export interface Row {
  readonly node: string
  readonly uniqueName: string
  volume: KnownVolume
  /** The one that a new VolumeAttachment names; absent: the volume stands in the spec of a pod. */
  persistentVolume?: string
  /** Pods for which it is to be attached. */
  readonly pods: ClusterPod[]
  /** Pods that have it without being a reason to attach it. */
  readonly others: { readonly pod: ClusterPod; readonly why: NotAttachedFor; readonly fault?: Finding }[]
  /** Pods that have ended and are still in the API. */
  readonly ended: ClusterPod[]
  readonly attached: Attached[]
  /** R716: volumesInUse of the Node lists it. */
  isInUse: boolean
  /** R714: volumesAttached of the Node lists it. */
  isConfirmed: boolean
}

/** A VolumeAttachment, and what is known of its volume. */
export interface Attached {
  readonly object: ClusterAttachment
  /** Absent: nothing shows which volume it is of. */
  readonly row?: Row
  /** `None`: it is of a volume in the spec of a pod (R718). */
  readonly persistentVolume: Lookup<ClusterVolume>['state'] | 'None'
  /** C33: its name follows from its volume, driver and node. Absent: the handle is not known. */
  readonly isNamedRight?: boolean
  /** Why nobody can say for certain which volume it is of. */
  readonly unclear?: string
}

/**
 * C33: not by a name that Kubernetes made. Somebody has created it for a use which neither pods nor kubelets, the only
 * witnesses of a volume's use, know of; the controller never deletes it.
 */
export function isForeign({ name }: ClusterAttachment): boolean {
  return !/^csi-[0-9a-f]{64}$/.test(name)
}

/** R738: the controller splits the unique name at ^, and needs exactly two parts. */
export function hasCaret({ row }: Attached): boolean {
  return row?.volume.handle?.includes('^') ?? false
}

/** By a pod of the node; what pods merely have counts as well. */
export function isWanted(row: Row | undefined): boolean {
  return row !== undefined && row.pods.length + row.others.length > 0
}

/** Every pod that has the volume and has not ended, once. */
export function podsOf({ pods, others }: Row): ClusterPod[] {
  return [...new Set([...pods, ...others.map(({ pod }) => pod)])]
}

/**
 * R330: a kubelet lists a volume in volumesInUse as soon as a pod of its node wants the volume, before it is attached. Until such a pod
 * has started, the list shows nothing more than the wish.
 */
export function isUsing(row: Row): boolean {
  return row.isInUse && (!isWanted(row) || row.ended.length > 0 || podsOf(row).some(({ started }) => started))
}

/** By VolumeAttachments alone. Sorted. */
export function nodesAttached(rows: readonly Row[]): string[] {
  return rows
    .filter(({ attached }) => attached.length > 0)
    .map(({ node }) => node)
    .toSorted(compareText)
}

export class Rows {
  readonly #byNode = new Map<string, Map<string, Row>>()
  readonly ofVolume = new Grouped<string, Row>()
  readonly #nodesWith = new Map<string, readonly string[]>()
  /** Every VolumeAttachment, sorted by name. */
  readonly attached: readonly Attached[]
  readonly attachedTo = new Grouped<string, Attached>()
  /** Attachments of volumes that nobody knows, by driver. */
  readonly unidentified = new Grouped<string, Attached>()
  /** Volumes of pods that could not be resolved. */
  readonly unresolved: UnresolvedPodVolume[] = []
  readonly #unresolvedOn = new Grouped<string, UnresolvedPodVolume>()
  /** Volumes of PersistentVolumes, by unique name. */
  readonly known: ReadonlyMap<string, KnownVolume>
  readonly #objects: ClusterObjects

  constructor(state: ClusterState, objects = clusterObjects(state)) {
    const { pods, nodes, attachments } = state
    this.known = knownVolumes(state)
    this.#objects = objects
    for (const pod of pods) this.#addPod(pod)
    for (const { name, volumesInUse = [], volumesAttached = [] } of nodes) {
      for (const each of volumesInUse) this.#at(name, each).isInUse = true
      for (const each of volumesAttached) this.#at(name, each).isConfirmed = true
    }
    this.attached = attachments
      .map((object) => this.#attachedBy(object))
      .toSorted((a, b) => compareText(a.object.name, b.object.name))
    for (const each of this.attached) {
      this.attachedTo.add(each.object.node, each)
      if (each.row === undefined) this.unidentified.add(each.object.attacher, each)
      else each.row.attached.push(each)
    }
  }

  #at(node: string, uniqueName: string): Row {
    const ofNode = once(this.#byNode, node, () => new Map())
    return once(ofNode, uniqueName, () => {
      const lists = { pods: [], others: [], ended: [], attached: [] }
      const volume = this.known.get(uniqueName) ?? volumeCalled(uniqueName)
      const row: Row = { node, uniqueName, volume, ...lists, isInUse: false, isConfirmed: false }
      this.ofVolume.add(uniqueName, row)
      return row
    })
  }

  all(): readonly Row[] {
    return [...this.#byNode.values()].flatMap((each) => [...each.values()])
  }

  onNode(node: string): readonly Row[] {
    return [...(this.#byNode.get(node)?.values() ?? [])]
  }

  /** Every node that has the volume or may: attached in whatever state, confirmed, or in use by more than a pod that waits. Sorted. */
  nodesWith(uniqueName: string): readonly string[] {
    return once(this.#nodesWith, uniqueName, () =>
      this.ofVolume
        .of(uniqueName)
        .filter((row) => row.attached.length > 0 || row.isConfirmed || isUsing(row))
        .map(({ node }) => node)
        .toSorted(compareText),
    )
  }

  /**
   * A volume of a pod of the node that could not be resolved, and may be this one (S4): also where the PersistentVolume was deleted
   * under both, and nothing but its name is left.
   */
  mayBeOn(
    { node, attacher: driver, persistentVolume }: Pick<ClusterAttachment, 'node' | 'attacher' | 'persistentVolume'>,
    row: Row | undefined,
  ): UnresolvedPodVolume | undefined {
    return this.#unresolvedOn.of(node).find((each) => {
      if (persistentVolume !== undefined && each.persistentVolumeName === persistentVolume) return true
      return row === undefined
        ? mayBeOne(each.mayBe, { plugin: CSI_PLUGIN, driver })
        : mayBeNamed(each.mayBe, row.uniqueName)
    })
  }

  /**
   * Every volume of `spec.volumes`, used by a container or not, of every pod (R708). A pod that has ended wants nothing (R707); no
   * controller since 1.31 looks at the annotation by which a node kept its volumes (R710). Pods on nodes that the controller does not
   * manage, or that do not exist, are no reason to attach (R702, R706); what they have is in use all the same.
   */
  #addPod(pod: ClusterPod): void {
    const { node, terminated } = pod
    if (node === undefined) return
    for (const each of pod.volumes) {
      const resolution = resolvePodVolume(pod, each, this.#objects, this.known)
      if (terminated) {
        if (!('cause' in resolution)) this.#at(node, resolution.volume.uniqueName).ended.push(pod)
      } else if ('cause' in resolution) this.#addUnresolved(node, resolution)
      else this.#want(node, pod, resolution, whyNotAttached(resolution, this.#objects.node(node)))
    }
  }

  #want(node: string, pod: ClusterPod, resolved: ResolvedPodVolume, why: NotAttachedFor | undefined): void {
    const { volume, persistentVolume, fault } = resolved
    const row = this.#at(node, volume.uniqueName)
    if (!isWanted(row)) Object.assign(row, { volume, persistentVolume })
    if (why !== undefined) row.others.push({ pod, why, fault })
    else if (!row.pods.includes(pod)) row.pods.push(pod)
  }

  /**
   * The controller remembers the volume of a claim that was deleted under a pod, or was bound to something else: a
   * PersistentVolume that still names the claim counts as the pod's.
   */
  #addUnresolved(node: string, unresolved: UnresolvedPodVolume): void {
    this.unresolved.push(unresolved)
    const { pod, claimName } = unresolved
    this.#unresolvedOn.add(node, unresolved)
    if (claimName === undefined) return
    for (const volume of this.#volumesByClaim().of(`${pod.namespace}/${claimName}`))
      this.#want(node, pod, { volume, fault: unresolved }, 'Unusable')
  }

  /** By the claim that the PersistentVolume names. */
  readonly #volumesByClaim = lazy(() => {
    const byClaim = new Grouped<string, KnownVolume>()
    for (const volume of this.known.values())
      if (volume.claim !== undefined) byClaim.add(namespacedName(volume.claim), volume)
    return byClaim
  })

  // Which volume an attachment is of: by its PersistentVolume, its source, or the hash in its name.

  /** Of each node the rows of CSI volumes that its status or its pods name, by the name of their attachment; made when first asked. */
  readonly #namesOn = new Map<string, ReadonlyMap<string, Row>>()

  #rowNamed({ name, node }: ClusterAttachment): Row | undefined {
    const names = once(this.#namesOn, node, () => {
      const named = this.onNode(node).filter((row) => row.isInUse || row.isConfirmed || isWanted(row))
      return new Map(
        named.flatMap((row) => {
          const csi = parseCsiUniqueName(row.uniqueName)
          return csi === undefined ? [] : [[attachmentName(csi.handle, csi.driver, node), row] as const]
        }),
      )
    })
    return names.get(name)
  }

  #attachedBy(object: ClusterAttachment): Attached {
    const { name, attacher, node, persistentVolume, inline } = object
    const found = persistentVolume === undefined ? undefined : this.#objects.volume(persistentVolume)
    const volume = foundOf(found)
    const { driver = attacher, handle = '' }: Partial<ClusterVolume> = { ...(found === undefined ? inline : volume) }
    const is = (more: Pick<Attached, 'row' | 'isNamedRight'>, why?: string): Attached => {
      const unclear = found && inline ? 'it names a PersistentVolume and has an inline source, too' : why
      return { object, persistentVolume: found?.state ?? 'None', ...more, unclear }
    }
    const named = (): Row | undefined => this.#rowNamed(object)
    // Only the hash in its name identifies the volume: compared with everything that the node or its pods name (R007).
    if (found === undefined ? handle === '' : volume === undefined) {
      const row = named()
      return is(row === undefined ? {} : { row, isNamedRight: true })
    }
    const uniqueName = volume === undefined ? csiUniqueName(driver, handle) : (volume.uniqueName ?? '')
    if (volume !== undefined && (handle === '' || !this.known.has(uniqueName)))
      return is({}, `PersistentVolume ${volume.name}: ${volume.problem ?? 'it is no volume of a CSI driver'}`)
    const isNamedRight = name === attachmentName(handle, attacher, node)
    // The PersistentVolume may have been created again, with another handle (S17).
    const other = volume === undefined || isNamedRight ? undefined : named()
    const what = volume === undefined ? 'source' : 'PersistentVolume'
    return is(
      { row: this.#at(node, uniqueName), isNamedRight },
      driver === attacher
        ? other && `its name is that of volume ${other.uniqueName}, and its PersistentVolume is another`
        : `its attacher is ${attacher}, and the driver of its ${what} is ${driver}`,
    )
  }
}

/**
 * Every volume on every node of a cluster, a row each, between desired and actual attachments and the pass: findings are made with its
 * keys, and whoever shows a finding asks here whose it is. A row is made when it is asked for: a plan asks for none.
 */

import { defined } from '../../lang/defined.ts'
import { parseCsiUniqueName } from '../../names/volume-names.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import type { RowKey } from '../../plan/subject.ts'
import type { ActualAttachments, Attached } from '../actual/actual-attachments.ts'
import type { DesiredAttachments } from '../desired/desired-attachments.ts'
import { resolvePodVolume, type UnresolvedPodVolume } from '../desired/pod-volume.ts'
import type { ClusterObjects } from '../model/cluster-objects.ts'
import type { ClusterPod, ClusterState } from '../model/cluster-state.ts'
import type { KnownVolume } from '../model/known-volume.ts'
import { attachmentKey, type ClusterRow, unresolvedKey, volumeKey } from './cluster-row.ts'

export interface ClusterSources {
  readonly state: ClusterState
  readonly objects: ClusterObjects
  /** Volumes of PersistentVolumes, by unique name. */
  readonly known: ReadonlyMap<string, KnownVolume>
  readonly desired: DesiredAttachments
  readonly actual: ActualAttachments
}

export class ClusterLedger {
  readonly #sources: ClusterSources
  #byKey: ReadonlyMap<RowKey, ClusterRow> | undefined

  constructor(sources: ClusterSources) {
    this.#sources = sources
  }

  /** What a finding names that is of a volume on a node. */
  row(key: RowKey): ClusterRow | undefined {
    this.#byKey ??= new Map([...this.#ofNoNode(), ...this.all].map((row) => [row.key, row]))
    return this.#byKey.get(key)
  }

  /** Each volume of each node once; each attachment of an unknown volume, and each volume that nobody can find, is one as well. */
  get all(): readonly ClusterRow[] {
    const { state, actual, desired } = this.#sources
    const nodes = new Set(state.nodes.map(({ name }) => name))
    for (const { object } of actual.all) nodes.add(object.node)
    for (const { node } of desired.all()) nodes.add(node)
    for (const { pod } of desired.unresolved) if (pod.node !== undefined) nodes.add(pod.node)
    return [...nodes].flatMap((node) => this.ofNode(node))
  }

  #ofNoNode(): ClusterRow[] {
    const { unresolved, unscheduled } = this.#sources.desired
    return [
      ...unresolved.filter(({ pod }) => pod.node === undefined).map(unresolvedRow),
      ...unscheduled.flatMap(({ volume }) => this.ofVolume(volume.uniqueName)),
    ]
  }

  /** Each volume that a node has, may have or is to have; attachments of unknown volumes. */
  ofNode(node: string): ClusterRow[] {
    const { desired, actual } = this.#sources
    const names = new Set([...actual.confirmedOn(node), ...actual.inUseOn(node)])
    for (const { volume } of desired.onNode(node)) names.add(volume.uniqueName)
    const here = actual.onNode(node)
    for (const { uniqueName } of here) if (uniqueName !== undefined) names.add(uniqueName)
    return [
      ...[...names].map((name) => this.onNode(node, name)),
      ...here.filter(({ uniqueName }) => uniqueName === undefined).map((attached) => this.ofAttachment(attached)),
      ...desired.unresolvedOn(node).map(unresolvedRow),
    ]
  }

  onNode(node: string, uniqueName: string): ClusterRow {
    const { desired, actual, known } = this.#sources
    const want = desired.on(node, uniqueName)
    const attached = actual.on(node, uniqueName)
    const volume = want?.volume ?? known.get(uniqueName) ?? attached[0]?.volume
    const having = [...(want?.pods ?? []), ...(want?.others ?? []).map(({ pod }) => pod)]
    const pods = having.length > 0 ? having : desired.endedOn(node, uniqueName)
    const [first] = attached
    return {
      ...{ key: volumeKey(node, uniqueName), node, uniqueName, ...ofPods(new Set(pods)), attached },
      ...defined({
        want,
        volume,
        identity: identityOf(uniqueName, volume, first),
        claim: volume?.claim,
        persistentVolume: first?.object.persistentVolume ?? want?.persistentVolume ?? volume?.persistentVolumes[0],
      }),
    }
  }

  /** Every node that has the volume or may, or whose pods want it; pods without a node. Never empty. */
  ofVolume(uniqueName: string): ClusterRow[] {
    const { desired, actual, known } = this.#sources
    const nodes = new Set([...actual.nodesWith(uniqueName), ...desired.ofVolume(uniqueName).map(({ node }) => node)])
    const found = [...nodes].map((node) => this.onNode(node, uniqueName))
    const waiting = desired.unscheduled.filter(({ volume }) => volume.uniqueName === uniqueName)
    if (found.length > 0 && waiting.length === 0) return found
    const volume = known.get(uniqueName) ?? waiting[0]?.volume
    const without: ClusterRow = {
      ...{ key: volumeKey(undefined, uniqueName), uniqueName, attached: [] },
      ...ofPods(waiting.map(({ pod }) => pod)),
      ...defined({
        volume,
        identity: identityOf(uniqueName, volume),
        claim: volume?.claim,
        persistentVolume: volume?.persistentVolumes[0],
      }),
    }
    return [...found, without]
  }

  /** Of this attachment alone. */
  ofAttachment(attached: Attached): ClusterRow {
    const { object, uniqueName } = attached
    const { node, persistentVolume, attacher } = object
    const whole: ClusterRow =
      uniqueName === undefined
        ? { key: attachmentKey(attached), node, ...ofPods([]), attached: [], identity: { driver: attacher } }
        : this.onNode(node, uniqueName)
    return { ...whole, attached: [attached], ...defined({ persistentVolume }) }
  }

  attachmentsNamed(name: string): readonly ClusterRow[] {
    const { all } = this.#sources.actual
    return all.filter(({ object }) => object.name === name).map((each) => this.ofAttachment(each))
  }

  /** In the order of its spec. */
  ofPod(pod: ClusterPod): ClusterRow[] {
    const { objects, known } = this.#sources
    return pod.volumes.map((own): ClusterRow => {
      const resolution = resolvePodVolume(pod, own, objects, known)
      const claim = 'claim' in own ? `${pod.namespace}/${own.claim}` : undefined
      if ('unresolved' in resolution) return { ...unresolvedRow(resolution.unresolved), ...defined({ claim }) }
      const { volume, persistentVolume } = resolution
      const { uniqueName } = volume
      const mine = {
        ...{ volume, pods: [pod] },
        ...defined({
          identity: identityOf(uniqueName, volume),
          claim,
          persistentVolume: persistentVolume ?? volume.persistentVolumes[0],
        }),
      }
      return pod.node === undefined
        ? { key: volumeKey(undefined, uniqueName), uniqueName, attached: [], ...ofPods([pod]), ...mine }
        : { ...this.onNode(pod.node, uniqueName), ...mine }
    })
  }

  /**
   * By the PersistentVolume that it is bound to, else by one that names it; with the pods that use it, whatever they find.
   *
   * @param claim NAMESPACE/NAME
   */
  ofClaim(claim: string): ClusterRow[] {
    const { state, objects } = this.#sources
    const [namespace = '', name = ''] = claim.split('/')
    const found = objects.claim(namespace, name)
    const bound = found.state === 'Found' ? found.object.volumeName : undefined
    const naming = state.volumes.find((each) => each.claim !== undefined && namespacedName(each.claim) === claim)?.name
    const persistentVolume = bound || naming
    const volumes = persistentVolume === undefined ? [] : this.ofPersistentVolume(persistentVolume)
    const seen = new Set(volumes.flatMap(({ pods }) => pods))
    const others = state.pods
      .filter((pod) => pod.namespace === namespace && isNamedBy(pod, name) && !seen.has(pod))
      .flatMap((pod) => this.ofPod(pod).filter((each) => each.claim === claim))
    const all = [...volumes.map((each) => ({ ...each, claim })), ...others]
    return all.length > 0 ? all : [{ ...unused(`pvc/${claim}`), claim, ...defined({ persistentVolume }) }]
  }

  ofPersistentVolume(name: string): ClusterRow[] {
    const { objects, actual, known } = this.#sources
    const found = objects.volume(name)
    const object = found.state === 'Found' ? found.object : undefined
    const claim = object?.claim && namespacedName(object.claim)
    // One that the list has twice is no object, and may be the volume all the same.
    const listed = [...known.values()].filter(({ persistentVolumes }) => persistentVolumes.includes(name))
    const names = object === undefined ? listed.map(({ uniqueName }) => uniqueName) : [object.uniqueName]
    const own = names.flatMap((each) => (each === undefined ? [] : this.ofVolume(each)))
    const seen = new Set(own.map(({ key }) => key))
    const others = actual.all.filter((each) => each.object.persistentVolume === name && !seen.has(attachmentKey(each)))
    const rows = own.map((each) => ({
      ...each,
      persistentVolume: each.attached[0]?.object.persistentVolume ?? name,
      ...defined({ claim: claim ?? each.claim }),
    }))
    if (rows.length + others.length > 0) return [...rows, ...others.map((each) => this.ofAttachment(each))]
    return [{ ...unused(`pv/${name}`), persistentVolume: name, ...defined({ claim }) }]
  }

  ofDriver(driver: string): ClusterRow[] {
    const { known, actual, desired, state } = this.#sources
    const names = new Set([...known.values()].flatMap((each) => (each.driver === driver ? [each.uniqueName] : [])))
    for (const { volumesAttached = [], volumesInUse = [] } of state.nodes)
      for (const name of [...volumesAttached, ...volumesInUse])
        if (parseCsiUniqueName(name)?.driver === driver) names.add(name)
    for (const { volume } of desired.all()) if (volume.driver === driver) names.add(volume.uniqueName)
    const own = [...names].flatMap((name) => this.ofVolume(name))
    const seen = new Set(own.flatMap(({ attached }) => attached))
    const others = actual.all.filter((each) => each.object.attacher === driver && !seen.has(each))
    return [...own, ...others.map((each) => this.ofAttachment(each))]
  }
}

function isNamedBy({ volumes }: ClusterPod, claim: string): boolean {
  return volumes.some((volume) => 'claim' in volume && volume.claim === claim)
}

function ofPods(pods: Iterable<ClusterPod>): Pick<ClusterRow, 'pods' | 'podUids'> {
  const all = [...pods]
  return { pods: all, podUids: new Set(all.map(({ uid }) => uid)) }
}

function identityOf(uniqueName: string, volume: KnownVolume | undefined, attached?: Attached): ClusterRow['identity'] {
  const driver = volume?.driver ?? attached?.object.attacher ?? parseCsiUniqueName(uniqueName)?.driver
  return driver === undefined ? undefined : { driver }
}

function unresolvedRow(unresolved: UnresolvedPodVolume): ClusterRow {
  const { pod, claim } = unresolved
  const of = { key: unresolvedKey(unresolved), ...ofPods([pod]), attached: [], unresolved }
  return { ...of, ...defined({ node: pod.node, claim }) }
}

/** On no node. */
function unused(name: string): ClusterRow {
  return { key: `- ${name}`, ...ofPods([]), attached: [] }
}

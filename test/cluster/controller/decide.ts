/**
 * One pass of the attach/detach controller over CSI volumes, as upstream's reconciler decides (R706-R752): a separate eye that
 * shares nothing with volctl's pass. Pure, but for what the controller remembers.
 */
import type { Node, PersistentVolume, Pod } from '../../../src/core/kube/api/objects.ts'
import { nameOfAttachment, uniqueNameOf, type World } from './world.ts'

/** A volume on a node. */
interface Place {
  readonly volume: string
  readonly driver: string
  readonly handle: string
  readonly node: string
}

export type Action =
  /** The whole list volumesAttached of a Node (R750). */
  | { readonly kind: 'report'; readonly node: string; readonly volumes: readonly string[] }
  | { readonly kind: 'detach'; readonly node: string; readonly volume: string; readonly attachment: string }
  | {
      readonly kind: 'attach'
      readonly node: string
      readonly volume: string
      readonly attachment: string
      readonly spec: object
    }

/** When each volume on a node was first seen unwanted (R735): in memory, so that a restart begins again. */
export type Memory = Map<string, number>

export interface Timing {
  readonly now: number
  /** R725: six minutes, in a controller that is not made for tests. */
  readonly longestWaitMs: number
}

export function decide(world: World, memory: Memory, timing: Timing): Action[] {
  const seen = new Sight(world)
  for (const place of seen.wanted()) memory.delete(seen.keyOf(place))
  const detaches = seen.attached().filter((place) => !seen.wants(place) && mayDetach(seen, place, memory, timing))
  const going = new Set(detaches.map((place) => seen.keyOf(place)))
  return [
    ...world.nodes.flatMap((node) => report(seen, node, going)),
    ...detaches.flatMap((place) => detach(place)),
    ...seen.wanted().flatMap((place) => attach(seen, place)),
  ]
}

/** R725, R731. */
function mayDetach(seen: Sight, place: Place, memory: Memory, { now, longestWaitMs }: Timing): boolean {
  const key = seen.keyOf(place)
  const since = memory.get(key) ?? now
  memory.set(key, since)
  const node = seen.node(place.node)
  // A volume is in use until a Node shows that it is not, and a Node that does not exist shows nothing.
  const isInUse = node?.status?.volumesInUse?.includes(uniqueNameOf(place.driver, place.handle)) ?? node === undefined
  const isReady = node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
  const isForced = now - since >= longestWaitMs && !isReady
  const isTainted = node?.spec?.taints?.some(({ key: of }) => of === 'node.kubernetes.io/out-of-service') ?? false
  return !isInUse || isForced || isTainted
}

/** R738: of a handle with ^ the controller cannot make the name. */
function detach({ volume, driver, handle, node }: Place): Action[] {
  if (handle.includes('^')) return []
  return [{ kind: 'detach', node, volume, attachment: nameOfAttachment(driver, handle, node) }]
}

/** R742, R745. */
function attach(seen: Sight, place: Place): Action[] {
  const { volume, driver, handle, node } = place
  const others = seen.attachmentsOf(place)
  if (others.some(({ spec }) => spec.nodeName === node)) return []
  if (others.length > 0 && seen.isExclusive(volume)) return []
  const spec = { attacher: driver, nodeName: node, source: { persistentVolumeName: volume } }
  return [{ kind: 'attach', node, volume, attachment: nameOfAttachment(driver, handle, node), spec }]
}

/** R725, R750: what is being detached is taken out before, what is attached is put in after. */
function report(seen: Sight, { metadata: { name }, status }: Node, going: ReadonlySet<string>): Action[] {
  const volumes = seen
    .confirmed(name)
    .filter((place) => !going.has(seen.keyOf(place)))
    .map(({ driver, handle }) => uniqueNameOf(driver, handle))
  const is = new Set(status?.volumesAttached?.map((each) => each.name) ?? [])
  const isSame = is.size === volumes.length && volumes.every((each) => is.has(each))
  return isSame ? [] : [{ kind: 'report', node: name, volumes }]
}

class Sight {
  readonly #world: World
  readonly #nodes: ReadonlyMap<string, Node>
  readonly #volumes: ReadonlyMap<string, PersistentVolume>
  readonly #wanted: ReadonlyMap<string, Place>

  constructor(world: World) {
    this.#world = world
    this.#nodes = new Map(world.nodes.map((node) => [node.metadata.name, node]))
    this.#volumes = new Map(world.volumes.map((volume) => [volume.metadata.name, volume]))
    const places = world.pods.filter((pod) => this.#counts(pod)).flatMap((pod) => this.#placesOf(pod))
    this.#wanted = new Map(places.map((place) => [this.keyOf(place), place]))
  }

  keyOf({ driver, handle, node }: Place): string {
    return `${uniqueNameOf(driver, handle)} ${node}`
  }

  node(name: string): Node | undefined {
    return this.#nodes.get(name)
  }

  wanted(): Place[] {
    return [...this.#wanted.values()]
  }

  wants(place: Place): boolean {
    return this.#wanted.has(this.keyOf(place))
  }

  /** R714, R717, R718: by VolumeAttachments whose PersistentVolume exists, and by what Nodes list as attached. */
  attached(): Place[] {
    const places = [
      ...this.#world.nodes.flatMap(({ metadata, status }) =>
        (status?.volumesAttached ?? []).flatMap(({ name }) => placeOfName(name, metadata.name)),
      ),
      // Later ones win: these know their PersistentVolume.
      ...this.#world.attachments.flatMap(({ metadata, spec }) => {
        const place = this.#place(spec.source.persistentVolumeName, spec.nodeName)
        return metadata.deletionTimestamp == null && place !== undefined ? [place] : []
      }),
    ]
    return [...new Map(places.map((place) => [this.keyOf(place), place])).values()]
  }

  confirmed(node: string): Place[] {
    return this.#world.attachments.flatMap(({ metadata, spec, status }) => {
      const isThere = spec.nodeName === node && status?.attached === true && metadata.deletionTimestamp == null
      const place = isThere ? this.#place(spec.source.persistentVolumeName, node) : undefined
      return place === undefined ? [] : [place]
    })
  }

  /** One of another name it cannot delete: it deletes what has the right name, finds nothing, and forgets the volume there. */
  attachmentsOf({ driver, handle }: Place): World['attachments'] {
    return this.#world.attachments.filter(({ metadata, spec }) => {
      const csi = this.#volumes.get(spec.source.persistentVolumeName ?? '')?.spec.csi
      const isSame = csi?.driver === driver && csi.volumeHandle === handle
      return isSame && metadata.name === nameOfAttachment(driver, handle, spec.nodeName)
    })
  }

  /** R740. */
  isExclusive(volume: string): boolean {
    const modes = this.#volumes.get(volume)?.spec.accessModes ?? []
    return modes.length > 0 && !modes.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany')
  }

  /** R706, R707, R221: scheduled to a node that the controller manages, and not ended. */
  #counts({ metadata, spec, status }: Pod): boolean {
    const annotations = this.#nodes.get(spec.nodeName ?? '')?.metadata.annotations ?? {}
    if (!('volumes.kubernetes.io/controller-managed-attach-detach' in annotations)) return false
    if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return false
    return metadata.deletionTimestamp == null || status?.containerStatuses?.some((each) => each.state?.running) === true
  }

  /** R709. */
  #placesOf({ metadata: { namespace }, spec }: Pod): Place[] {
    return (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) => {
      const claim = this.#world.claims.find(
        ({ metadata }) => metadata.namespace === namespace && metadata.name === persistentVolumeClaim?.claimName,
      )
      if (claim?.status?.phase !== 'Bound') return []
      const place = this.#place(claim.spec.volumeName, spec.nodeName ?? '')
      const owner = this.#volumes.get(claim.spec.volumeName ?? '')?.spec.claimRef?.uid
      return place !== undefined && owner === claim.metadata.uid && this.#isAttachable(place) ? [place] : []
    })
  }

  #isAttachable({ driver }: Place): boolean {
    return this.#world.drivers.find(({ metadata }) => metadata.name === driver)?.spec?.attachRequired !== false
  }

  #place(volume: string | undefined, node: string): Place | undefined {
    const csi = this.#volumes.get(volume ?? '')?.spec.csi
    if (volume === undefined || csi === undefined) return undefined
    return { volume, driver: csi.driver, handle: csi.volumeHandle, node }
  }
}

/** Of an entry of volumesAttached. */
function placeOfName(name: string, node: string): Place[] {
  const [, driver, handle] = /^kubernetes\.io\/csi\/([^^]+)\^(.*)$/.exec(name) ?? []
  return driver === undefined || handle === undefined ? [] : [{ volume: name, driver, handle, node }]
}

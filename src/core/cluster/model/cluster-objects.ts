/** The objects of a cluster by name, and whether one that is not there is shown to be absent (S3). */

import type { ApiLookup, Lookup } from '../../desired/api-lookup.ts'
import { BOUND_ANNOTATION } from '../../desired/resolve-claim.ts'
import { compareText } from '../../lang/compare-text.ts'
import { defined } from '../../lang/defined.ts'
import type { CsiDriver, PersistentVolume, PersistentVolumeClaim } from '../../model/objects.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import type {
  ClusterAttachment,
  ClusterClaim,
  ClusterDriver,
  ClusterNode,
  ClusterPod,
  ClusterResource,
  ClusterState,
  ClusterVolume,
} from './cluster-state.ts'

/** An object that a list has twice is as little known as one that was not read. */
export interface Duplicate {
  readonly resource: ClusterResource
  readonly name: string
}

export class ClusterObjects {
  readonly duplicates: readonly Duplicate[]
  readonly #state: ClusterState
  readonly #nodes: Index<ClusterNode>
  readonly #claims: Index<ClusterClaim>
  readonly #volumes: Index<ClusterVolume>
  readonly #attachments: Index<ClusterAttachment>
  readonly #drivers: Index<ClusterDriver>
  readonly #pods: Index<ClusterPod>

  constructor(state: ClusterState) {
    this.#state = state
    this.#nodes = new Index(this, 'nodes', state.nodes, ({ name }) => name)
    this.#claims = new Index(this, 'persistentvolumeclaims', state.claims, namespacedName)
    this.#volumes = new Index(this, 'persistentvolumes', state.volumes, ({ name }) => name)
    this.#attachments = new Index(this, 'volumeattachments', state.attachments, ({ name }) => name)
    this.#drivers = new Index(this, 'csidrivers', state.drivers, ({ name }) => name)
    this.#pods = new Index(this, 'pods', state.pods, namespacedName)
    const all = [this.#nodes, this.#claims, this.#volumes, this.#attachments, this.#drivers, this.#pods]
    this.duplicates = all.flatMap((each) => each.duplicates)
  }

  /** Consistent, all pages, all namespaces, and no error that could be about one of its objects (S2, S3). */
  isWhole(resource: ClusterResource): boolean {
    return (
      this.#state.lists[resource]?.state === 'whole' && !this.#state.errors.some((each) => each.resource === resource)
    )
  }

  node(name: string): Lookup<ClusterNode> {
    return this.#nodes.find(name)
  }

  claim(namespace: string, name: string): Lookup<ClusterClaim> {
    return this.#claims.find(namespacedName({ namespace, name }))
  }

  volume(name: string): Lookup<ClusterVolume> {
    return this.#volumes.find(name)
  }

  attachment(name: string): Lookup<ClusterAttachment> {
    return this.#attachments.find(name)
  }

  driver(name: string): Lookup<ClusterDriver> {
    return this.#drivers.find(name)
  }

  isDuplicatePod(pod: ClusterPod): boolean {
    if (this.#pods.duplicates.length === 0) return false
    return this.#pods.isDuplicate(namespacedName(pod))
  }

  /** The same objects for what resolves claims and sources in node scope: the few fields that it reads. */
  readonly lookup: ApiLookup = {
    isListedWhole: (resource) => this.isWhole(resource as ClusterResource),
    persistentVolumeClaim: (namespace, name) => mapped(this.claim(namespace, name), asClaim),
    persistentVolume: (name) => mapped(this.volume(name), asVolume),
    csiDriver: (name) => mapped(this.driver(name), asDriver),
    volumeAttachment: () => NOT_READ,
    configMap: () => NOT_READ,
    secret: () => NOT_READ,
  }
}

const NOT_READ = { state: 'Unknown', reason: 'was not read' } as const
const TWICE = { state: 'Unknown', reason: 'is in the list twice' } as const
const ABSENT = { state: 'Absent' } as const

/** What a look-up answers is made once: every pod asks for its node, its claims and their volumes. */
class Index<T> {
  readonly duplicates: readonly Duplicate[]
  readonly #objects: ClusterObjects
  readonly #resource: ClusterResource
  readonly #byName = new Map<string, Lookup<T>>()

  constructor(objects: ClusterObjects, resource: ClusterResource, list: readonly T[], nameOf: (object: T) => string) {
    this.#objects = objects
    this.#resource = resource
    const twice = new Set<string>()
    for (const object of list) {
      const name = nameOf(object)
      const isTwice = this.#byName.has(name)
      if (isTwice) twice.add(name)
      this.#byName.set(name, isTwice ? TWICE : { state: 'Found', object })
    }
    this.duplicates = [...twice].toSorted(compareText).map((name) => ({ resource, name }))
  }

  isDuplicate(name: string): boolean {
    return this.#byName.get(name) === TWICE
  }

  find(name: string): Lookup<T> {
    const found = this.#byName.get(name)
    if (found !== undefined) return found
    return this.#objects.isWhole(this.#resource) ? ABSENT : NOT_READ
  }
}

function mapped<T, U>(found: Lookup<T>, change: (object: T) => U): Lookup<U> {
  return found.state === 'Found' ? { state: 'Found', object: change(found.object) } : found
}

function asClaim({ namespace, name, uid, wasBound, ownerUid, volumeName, phase }: ClusterClaim): PersistentVolumeClaim {
  return {
    metadata: {
      namespace,
      name,
      uid,
      ...(wasBound && { annotations: { [BOUND_ANNOTATION]: 'yes' } }),
      ...(ownerUid !== undefined && { ownerReferences: [{ kind: '', name: '', uid: ownerUid, controller: true }] }),
    },
    spec: volumeName === undefined ? {} : { volumeName },
    status: phase === undefined ? {} : { phase },
  }
}

function asVolume({ name, uid, claim }: ClusterVolume): PersistentVolume {
  return { metadata: { name, uid }, spec: claim === undefined ? {} : { claimRef: claim } }
}

function asDriver({ name, attachRequired }: ClusterDriver): CsiDriver {
  return { metadata: { name, uid: '' }, spec: defined({ attachRequired }) }
}

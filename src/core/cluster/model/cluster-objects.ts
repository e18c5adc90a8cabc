/** The objects of a cluster by name, and whether one that is not there is shown to be absent (S3). */

import { compareText } from '../../lang/compare-text.ts'
import { defined } from '../../lang/defined.ts'
import type { CsiDriver, PersistentVolume, PersistentVolumeClaim } from '../../model/objects.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { type ApiLookup, type Lookup, mapFound } from '../../volumes/api-lookup.ts'
import { BOUND_ANNOTATION } from '../../volumes/resolve-claim.ts'
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

type Sources = Pick<
  ClusterState,
  'nodes' | 'pods' | 'claims' | 'volumes' | 'attachments' | 'drivers' | 'lists' | 'errors'
>

/** Its drivers alone, by which volumes are named. */
export function driversOf({ drivers, lists, errors }: Pick<Sources, 'drivers' | 'lists' | 'errors'>): ClusterObjects {
  return new ClusterObjects({ nodes: [], pods: [], claims: [], volumes: [], attachments: [], drivers, lists, errors })
}

export class ClusterObjects {
  readonly duplicates: readonly Duplicate[]
  readonly #state: Sources
  readonly #nodes: Index<ClusterNode>
  readonly #claims: Index<ClusterClaim>
  readonly #volumes: Index<ClusterVolume>
  readonly #attachments: Index<ClusterAttachment>
  readonly #drivers: Index<ClusterDriver>
  /** Pods are looked for by nothing else. */
  readonly #podsTwice: ReadonlySet<string>

  constructor(state: Sources) {
    this.#state = state
    this.#nodes = new Index(this, 'nodes', state.nodes)
    this.#claims = new Index(this, 'persistentvolumeclaims', state.claims)
    this.#volumes = new Index(this, 'persistentvolumes', state.volumes)
    this.#attachments = new Index(this, 'volumeattachments', state.attachments)
    this.#drivers = new Index(this, 'csidrivers', state.drivers)
    const pods = new Index(this, 'pods', state.pods).duplicates
    this.#podsTwice = new Set(pods.map(({ name }) => name))
    const all = [this.#nodes, this.#claims, this.#volumes, this.#attachments, this.#drivers]
    this.duplicates = [...all.flatMap((each) => each.duplicates), ...pods]
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
    return this.#claims.find(name, namespace)
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
    return this.#podsTwice.size > 0 && this.#podsTwice.has(namespacedName(pod))
  }

  /** The same objects for what resolves claims and sources in node scope: the few fields that it reads. */
  readonly lookup: ApiLookup = {
    isListedWhole: (resource) => this.isWhole(resource as ClusterResource),
    persistentVolumeClaim: (namespace, name) => mapFound(this.claim(namespace, name), asClaim),
    persistentVolume: (name) => mapFound(this.volume(name), asVolume),
    csiDriver: (name) => mapFound(this.driver(name), asDriver),
    volumeAttachment: () => NOT_READ,
    configMap: () => NOT_READ,
    secret: () => NOT_READ,
  }
}

const NOT_READ = { state: 'Unknown', reason: 'was not read' } as const
const TWICE = { state: 'Unknown', reason: 'is in the list twice' } as const
const ABSENT = { state: 'Absent' } as const

interface Named {
  readonly namespace?: string
  readonly name: string
}

/**
 * By namespace and name, as the records have them: texts of both would take more memory than the map. What a look-up answers is
 * made when it is asked.
 */
class Index<T extends Named> {
  readonly duplicates: readonly Duplicate[]
  readonly #objects: ClusterObjects
  readonly #resource: ClusterResource
  /** Undefined: the list has the name twice. */
  readonly #byName = new Map<string, Map<string, T | undefined>>()

  constructor(objects: ClusterObjects, resource: ClusterResource, list: readonly T[]) {
    this.#objects = objects
    this.#resource = resource
    const twice = new Set<string>()
    for (const object of list) {
      const names = this.#in(object.namespace)
      const isTwice = names.has(object.name)
      if (isTwice) twice.add(object.namespace === undefined ? object.name : namespacedName(object))
      names.set(object.name, isTwice ? undefined : object)
    }
    this.duplicates = [...twice].toSorted(compareText).map((name) => ({ resource, name }))
  }

  #in(namespace = ''): Map<string, T | undefined> {
    const known = this.#byName.get(namespace)
    if (known !== undefined) return known
    const names = new Map<string, T | undefined>()
    this.#byName.set(namespace, names)
    return names
  }

  find(name: string, namespace = ''): Lookup<T> {
    const names = this.#byName.get(namespace)
    const object = names?.get(name)
    if (object !== undefined) return { state: 'Found', object }
    if (names?.has(name) === true) return TWICE
    return this.#objects.isWhole(this.#resource) ? ABSENT : NOT_READ
  }
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

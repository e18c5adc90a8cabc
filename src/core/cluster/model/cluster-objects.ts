/** The objects of a cluster by name, and whether one that is not there is shown to be absent (S3). */

import { compareText } from '../../base/compare-text.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import type { CsiDriver, PersistentVolume, PersistentVolumeClaim } from '../../kube/api/objects.ts'
import type { ObjectKey } from '../../kube/api/resources.ts'
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
  RecordList,
} from './cluster-state.ts'

/** An object that a list has twice is as little known as one that was not read. */
interface Duplicate {
  readonly resource: ClusterResource
  readonly name: string
}

/** The list of each resource that is looked for by name. */
const LISTS = {
  nodes: 'nodes',
  persistentvolumeclaims: 'claims',
  persistentvolumes: 'volumes',
  volumeattachments: 'attachments',
  csidrivers: 'drivers',
  pods: 'pods',
} as const satisfies Partial<Record<ClusterResource, RecordList>>

type Sources = Pick<ClusterState, (typeof LISTS)[keyof typeof LISTS] | 'lists' | 'errors'>

/** Its drivers alone, by which volumes are named. */
export function driversOf({ drivers, lists, errors }: Pick<Sources, 'drivers' | 'lists' | 'errors'>): ClusterObjects {
  return new ClusterObjects({ nodes: [], pods: [], claims: [], volumes: [], attachments: [], drivers, lists, errors })
}

export class ClusterObjects {
  readonly duplicates: readonly Duplicate[]
  readonly #state: Sources
  /** By resource, then by name. Undefined: the list has the name twice. */
  readonly #byName: ReadonlyMap<string, ReadonlyMap<string, object | undefined>>

  constructor(state: Sources) {
    this.#state = state
    const duplicates: Duplicate[] = []
    this.#byName = new Map(
      Object.entries(LISTS).map(([resource, list]) => {
        const { byName, twice } = indexed<object & ObjectKey>(state[list])
        duplicates.push(...twice.map((name) => ({ resource: resource as keyof typeof LISTS, name })))
        // Pods are looked for by nothing else.
        return [resource, list === 'pods' ? new Map(twice.map((name) => [name, undefined])) : byName]
      }),
    )
    this.duplicates = duplicates
  }

  /** Consistent, all pages, all namespaces, and no error that could be about one of its objects (S2, S3). */
  isWhole(resource: ClusterResource): boolean {
    return (
      this.#state.lists[resource]?.state === 'whole' && !this.#state.errors.some((each) => each.resource === resource)
    )
  }

  #find<T extends object>(resource: keyof typeof LISTS, key: ObjectKey): Lookup<T> {
    const names = this.#byName.get(resource)
    const object = names?.get(nameOf(key))
    if (object !== undefined) return { state: 'Found', object: object as T }
    if (names?.has(nameOf(key)) === true) return TWICE
    return this.isWhole(resource) ? ABSENT : NOT_READ
  }

  readonly node = (name: string) => this.#find<ClusterNode>('nodes', { name })
  readonly claim = (namespace: string | undefined, name: string) =>
    this.#find<ClusterClaim>('persistentvolumeclaims', { namespace, name })
  readonly volume = (name: string) => this.#find<ClusterVolume>('persistentvolumes', { name })
  readonly attachment = (name: string) => this.#find<ClusterAttachment>('volumeattachments', { name })
  readonly driver = (name: string) => this.#find<ClusterDriver>('csidrivers', { name })

  isDuplicatePod(pod: ClusterPod): boolean {
    const twice = this.#byName.get('pods')
    return twice !== undefined && twice.size > 0 && twice.has(nameOf(pod))
  }

  /** The same objects for what resolves claims and sources in node scope: the few fields that it reads. */
  readonly lookup: ApiLookup = {
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

function nameOf({ namespace, name }: ObjectKey): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

function indexed<T extends ObjectKey>(list: readonly T[]): { byName: Map<string, T | undefined>; twice: string[] } {
  const byName = new Map<string, T | undefined>()
  const twice = new Set<string>()
  for (const object of list) {
    const name = nameOf(object)
    const isTwice = byName.has(name)
    if (isTwice) twice.add(name)
    byName.set(name, isTwice ? undefined : object)
  }
  return { byName, twice: [...twice].toSorted(compareText) }
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
  return { metadata: { name, uid: '' }, spec: omitUndefined({ attachRequired }) }
}

/** The objects of a cluster by name, and whether one that is not there is shown to be absent (S3). */

import { omitUndefined } from '../../base/omit-undefined.ts'
import type { ApiReadError } from '../../facts/actual/snapshot.ts'
import type { CsiDriver, PersistentVolume, PersistentVolumeClaim } from '../../kube/api/objects.ts'
import type { ObjectKey } from '../../kube/api/resources.ts'
import { type ApiLookup, type Lookup, mapFound } from '../../volumes/api-lookup.ts'
import { BOUND_ANNOTATION } from '../../volumes/resolve-claim.ts'
import type {
  ClusterClaim,
  ClusterDriver,
  ClusterResource,
  ClusterState,
  ClusterVolume,
  RecordList,
} from './cluster-state.ts'

/** The list of each resource that is looked for by name. */
const LISTS = {
  nodes: 'nodes',
  persistentvolumeclaims: 'claims',
  persistentvolumes: 'volumes',
  volumeattachments: 'attachments',
  csidrivers: 'drivers',
} as const satisfies Partial<Record<ClusterResource, RecordList>>

type Listed = typeof LISTS
type Sources = Partial<Pick<ClusterState, Listed[keyof Listed]>> & Pick<ClusterState, 'lists' | 'errors'>

/** A list that has a name twice contradicts itself: it was not read as a whole (S3). */
export function doubtTwice(state: ClusterState): ClusterState {
  const errors = Object.entries({ ...LISTS, pods: 'pods' } as const).flatMap(([resource, list]): ApiReadError[] => {
    const names = new Set<string>()
    const twice = state[list].map(nameOf).find((name) => names.size === names.add(name).size)
    if (twice === undefined || state.errors.some((each) => each.resource === resource)) return []
    return [{ resource, status: 200, reason: 'Duplicate', message: `the list has ${twice} twice` }]
  })
  return errors.length === 0 ? state : { ...state, errors: [...state.errors, ...errors] }
}

/** @param state a list that it lacks has no objects */
export class ClusterObjects {
  readonly #state: Sources
  readonly #byName: ReadonlyMap<string, ReadonlyMap<string, object>>

  constructor(state: Sources) {
    this.#state = state
    const lists = Object.entries(LISTS).map(([resource, list]) => {
      const objects: readonly (object & ObjectKey)[] = state[list] ?? []
      return [resource, new Map(objects.map((object) => [nameOf(object), object]))] as const
    })
    this.#byName = new Map(lists)
  }

  /** Consistent, all pages, all namespaces, and no error that could be about one of its objects (S2, S3). */
  isWhole(resource: ClusterResource): boolean {
    const { lists, errors } = this.#state
    return lists[resource]?.state === 'whole' && !errors.some((each) => each.resource === resource)
  }

  #find<R extends keyof Listed>(resource: R, key: ObjectKey): Lookup<ClusterState[Listed[R]][number]> {
    const object = this.#byName.get(resource)?.get(nameOf(key))
    if (object !== undefined) return { state: 'Found', object: object as ClusterState[Listed[R]][number] }
    return this.isWhole(resource) ? { state: 'Absent' } : NOT_READ
  }

  readonly node = (name: string) => this.#find('nodes', { name })
  readonly claim = (namespace: string | undefined, name: string) =>
    this.#find('persistentvolumeclaims', { namespace, name })
  readonly volume = (name: string) => this.#find('persistentvolumes', { name })
  readonly attachment = (name: string) => this.#find('volumeattachments', { name })
  readonly driver = (name: string) => this.#find('csidrivers', { name })

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

function nameOf({ namespace, name }: ObjectKey): string {
  return namespace === undefined ? name : `${namespace}/${name}`
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

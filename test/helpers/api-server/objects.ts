/** The kinds of objects that the test server has, and the objects themselves. */
import { randomUUID } from 'node:crypto'
import { StatusError } from './status.ts'

export interface ResourceType {
  readonly group: string
  readonly plural: string
  readonly kind: string
}

const KINDS: Readonly<Record<string, readonly string[]>> = {
  '': [
    ...['Pod', 'Namespace', 'Node', 'PersistentVolumeClaim', 'PersistentVolume'],
    ...['ConfigMap', 'Secret', 'ServiceAccount'],
  ],
  'storage.k8s.io': ['VolumeAttachment', 'CSIDriver', 'CSINode'],
  'certificates.k8s.io': ['ClusterTrustBundle'],
  'coordination.k8s.io': ['Lease'],
}

const TYPES: readonly ResourceType[] = Object.entries(KINDS).flatMap(([group, kinds]) =>
  kinds.map((kind) => ({ group, kind, plural: `${kind.toLowerCase()}s` })),
)

export function typeOfKind(kind: string | undefined): ResourceType {
  const type = TYPES.find((each) => each.kind === kind)
  if (type === undefined) throw new Error(`unknown kind ${kind}`)
  return type
}

export function typeOfPlural(group: string, plural: string): ResourceType | undefined {
  return TYPES.find((type) => type.group === group && type.plural === plural)
}

export function apiVersion({ group }: ResourceType): string {
  return group === '' ? 'v1' : `${group}/v1`
}

/** An object as in JSON: only the fields that the server itself uses are typed. */
export interface StoredObject {
  apiVersion?: string
  kind?: string
  metadata: {
    name: string
    namespace?: string
    uid?: string
    resourceVersion?: string
    deletionTimestamp?: string
    finalizers?: string[]
    annotations?: Record<string, string>
  }
  spec?: Record<string, unknown>
  status?: Record<string, unknown>
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

/** Objects with resource versions; pages of a list show one state, whatever is written meanwhile. */
export class Store {
  readonly #objects = new Map<string, StoredObject>()
  readonly #lists = new Map<string, { readonly left: readonly StoredObject[]; readonly resourceVersion: string }>()
  #version = 1000

  put(object: StoredObject): StoredObject {
    const type = typeOfKind(object.kind)
    const { metadata } = object
    this.#version = Math.max(this.#version + 1, Number(metadata.resourceVersion) || 0)
    const full = {
      creationTimestamp: now(),
      uid: this.get(object.kind, metadata.namespace, metadata.name)?.metadata.uid ?? randomUUID(),
      ...metadata,
      resourceVersion: metadata.resourceVersion ?? String(this.#version),
    }
    const stored = { ...object, apiVersion: apiVersion(type), metadata: full }
    this.#objects.set(keyOf(type.kind, full.namespace, full.name), stored)
    return stored
  }

  /** Writes a changed object: a new resource version. */
  update(object: StoredObject): StoredObject {
    const { resourceVersion: _, ...metadata } = object.metadata
    return this.put({ ...object, metadata })
  }

  /** As after so much time in which nobody did anything: all times in all objects are older. */
  elapse(ms: number): void {
    const earlier = (time: string): string =>
      new Date(Date.parse(time) - ms).toISOString().replace(/(\.\d+)Z/, time.includes('.') ? '$1000Z' : 'Z')
    const aged = (_: string, value: unknown): unknown =>
      typeof value === 'string' && TIME.test(value) ? earlier(value) : value
    for (const [key, object] of this.#objects) this.#objects.set(key, JSON.parse(JSON.stringify(object), aged))
  }

  get(kind: string | undefined, namespace: string | undefined, name: string | undefined): StoredObject | undefined {
    return this.#objects.get(keyOf(kind, namespace, name))
  }

  remove(kind: string, namespace: string | undefined, name: string): void {
    this.#version++
    this.#objects.delete(keyOf(kind, namespace, name))
  }

  /** All objects of a kind in key order, as in etcd. */
  all(kind: string): StoredObject[] {
    const found = [...this.#objects].filter(([key]) => key.startsWith(`${kind} `))
    return found.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object)
  }

  /** The first page of these, or the one that a token names. */
  page(
    items: () => readonly StoredObject[],
    limit: number,
    token: string | null,
  ): { items: readonly StoredObject[]; metadata: object } {
    const list = token ? this.#lists.get(token) : { left: items(), resourceVersion: String(this.#version) }
    if (!list) throw new StatusError(410, 'Expired', 'The provided continue parameter is too old')
    const { resourceVersion } = list
    const left = list.left.slice(limit || Infinity)
    if (left.length === 0) return { items: list.left, metadata: { resourceVersion } }
    const id = randomUUID()
    this.#lists.set(id, { left, resourceVersion })
    return {
      items: list.left.slice(0, limit),
      metadata: { resourceVersion, continue: id, remainingItemCount: left.length },
    }
  }
}

function keyOf(kind: string | undefined, namespace = '', name = ''): string {
  return `${kind} ${namespace}/${name}`
}

export function now(): string {
  return new Date().toISOString().replace(/\.\d+/, '')
}

/** Parts of a snapshot's `api` section, and the kind of their objects. */
const SECTIONS: Readonly<Record<string, string>> = {
  node: 'Node',
  pods: 'Pod',
  persistentVolumeClaims: 'PersistentVolumeClaim',
  persistentVolumes: 'PersistentVolume',
  volumeAttachments: 'VolumeAttachment',
  csiDrivers: 'CSIDriver',
  csiNode: 'CSINode',
  configMaps: 'ConfigMap',
  secrets: 'Secret',
}

/** The object itself, or those of a NodeSnapshot, without what a snapshot adds to them. */
export function objectsIn(document: object): StoredObject[] {
  const { kind, api } = document as { kind?: string; api?: Record<string, unknown> }
  if (kind !== 'NodeSnapshot') return [document as StoredObject]
  return Object.entries(SECTIONS).flatMap(([section, kind]) =>
    [api?.[section] ?? []].flat().map((object) => ({ ...(object as StoredObject), digests: undefined, kind })),
  )
}

import { randomUUID } from 'node:crypto'
import { apiVersion, type ResourceType, type StoredObject, typeOfKind } from './resource-types.ts'

export interface Page {
  readonly items: readonly StoredObject[]
  readonly resourceVersion: string
  readonly continue?: string
  readonly remaining?: number
}

/** Objects with resource versions; pages of a list show one state, whatever is written meanwhile. */
export class Store {
  readonly #objects = new Map<string, Map<string, StoredObject>>()
  readonly #lists = new Map<string, { items: readonly StoredObject[]; resourceVersion: string }>()
  #version = 1000

  put(object: StoredObject): void {
    const type = typeOfKind(object.kind ?? '')
    if (!type) throw new Error(`unknown kind ${object.kind}`)
    const { metadata } = object
    const known = Number(metadata.resourceVersion)
    this.#version = Math.max(this.#version + 1, Number.isNaN(known) ? 0 : known)
    const full = {
      creationTimestamp: new Date().toISOString().replace(/\.\d+/, ''),
      uid: this.get(type, metadata.namespace, metadata.name)?.metadata.uid ?? randomUUID(),
      ...metadata,
      resourceVersion: metadata.resourceVersion ?? String(this.#version),
    }
    this.#of(type).set(keyOf(full.namespace, full.name), { ...object, apiVersion: apiVersion(type), metadata: full })
  }

  /** Writes a changed object: a new resource version. */
  update(object: StoredObject): void {
    const { resourceVersion: _, ...metadata } = object.metadata
    this.put({ ...object, metadata })
  }

  /** As after so much time in which nobody did anything: all times in all objects are older. */
  elapse(ms: number): void {
    for (const objects of this.#objects.values()) {
      for (const [key, object] of objects) objects.set(key, older(object, ms) as StoredObject)
    }
  }

  get(type: ResourceType, namespace: string | undefined, name: string): StoredObject | undefined {
    return this.#of(type).get(keyOf(namespace, name))
  }

  remove(type: ResourceType, namespace: string | undefined, name: string): void {
    this.#version++
    this.#of(type).delete(keyOf(namespace, name))
  }

  /** All objects of a type in key order, as in etcd. */
  all(type: ResourceType): StoredObject[] {
    return [...this.#of(type)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object)
  }

  firstPage(items: readonly StoredObject[], limit: number): Page {
    return this.#page(randomUUID(), { items, resourceVersion: String(this.#version) }, 0, limit)
  }

  /** Undefined: the token is unknown. */
  nextPage(token: string, limit: number): Page | undefined {
    const [id = '', start] = token.split('.')
    const list = this.#lists.get(id)
    return list && this.#page(id, list, Number(start), limit)
  }

  #page(
    id: string,
    list: { items: readonly StoredObject[]; resourceVersion: string },
    start: number,
    limit: number,
  ): Page {
    const end = limit > 0 ? start + limit : list.items.length
    const items = list.items.slice(start, end)
    if (end >= list.items.length) return { items, resourceVersion: list.resourceVersion }
    this.#lists.set(id, list)
    return {
      items,
      resourceVersion: list.resourceVersion,
      continue: `${id}.${end}`,
      remaining: list.items.length - end,
    }
  }

  #of(type: ResourceType): Map<string, StoredObject> {
    const known = this.#objects.get(type.plural)
    if (known) return known
    const made = new Map<string, StoredObject>()
    this.#objects.set(type.plural, made)
    return made
  }
}

function keyOf(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

/** The same value, with other times of the same number of digits. */
function older(value: unknown, ms: number): unknown {
  if (typeof value === 'string') {
    const digits = TIME.exec(value)
    if (digits === null) return value
    const time = new Date(Date.parse(value) - ms).toISOString().slice(0, -1)
    return `${time.slice(0, 19)}${digits[1] === undefined ? '' : time.slice(19).padEnd(digits[1].length, '0')}Z`
  }
  if (Array.isArray(value)) return value.map((each) => older(each, ms))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, older(each, ms)]))
}

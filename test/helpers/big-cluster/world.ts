/**
 * A big cluster that can be changed: what a client and the attachers do to it is laid over the objects, which are made when they are
 * asked for. An attacher takes its finalizer off a while after an attachment was deleted, and attaches one that was created.
 */
import { randomUUID } from 'node:crypto'
import { StatusError } from '../api-server/status.ts'
import type { BigCluster, BigList, BigObject } from './objects.ts'

/** One resource, by the path of its list. */
export class WorldList {
  readonly base: BigList
  readonly #changed = new Map<number, BigObject | undefined>()
  readonly #added: (BigObject | undefined)[] = []
  /** Of every object, made when the first is asked for by name. */
  #places: Map<string, number> | undefined

  constructor(base: BigList) {
    this.base = base
  }

  get length(): number {
    return this.base.length + this.#added.length
  }

  at(index: number): BigObject | undefined {
    if (index >= this.base.length) return this.#added[index - this.base.length]
    return this.#changed.has(index) ? this.#changed.get(index) : this.base.at(index)
  }

  get(name: string, namespace?: string): BigObject | undefined {
    const place = this.#placeOf(name, namespace)
    return place === undefined ? undefined : this.at(place)
  }

  /** In the place of the one of this name, or as another one. */
  put(object: BigObject): void {
    const { name, namespace } = object.metadata
    const place = this.#placeOf(name, namespace)
    if (place !== undefined) this.#lay(place, object)
    else {
      this.#named().set(keyOf(name, namespace), this.length)
      this.#added.push(object)
    }
  }

  remove(name: string, namespace?: string): void {
    const place = this.#placeOf(name, namespace)
    if (place !== undefined) this.#lay(place, undefined)
  }

  #lay(place: number, object: BigObject | undefined): void {
    if (place >= this.base.length) this.#added[place - this.base.length] = object
    else this.#changed.set(place, object)
  }

  #placeOf(name: string, namespace: string | undefined): number | undefined {
    return this.#named().get(keyOf(name, namespace))
  }

  #named(): Map<string, number> {
    if (this.#places !== undefined) return this.#places
    const places = new Map<string, number>()
    for (let index = 0; index < this.base.length; index++) {
      const metadata = this.base.at(index)?.metadata
      if (metadata !== undefined) places.set(keyOf(metadata.name, metadata.namespace), index)
    }
    this.#places = places
    return places
  }
}

function keyOf(name: string, namespace = ''): string {
  return `${namespace}/${name}`
}

export interface WorldAnswer {
  readonly status: number
  readonly body: object
}

export class World {
  readonly #lists: ReadonlyMap<string, WorldList>
  readonly #attacherMs: number
  #version = 6_000_000

  /** @param attacherMs how long the attachers take */
  constructor({ resources }: BigCluster, attacherMs: number) {
    this.#lists = new Map(Object.entries(resources).map(([path, list]) => [path, new WorldList(list)]))
    this.#attacherMs = attacherMs
  }

  /** Of all namespaces. */
  list(path: string): WorldList | undefined {
    return this.#lists.get(path)
  }

  /** Of one namespace: its list, and which of its objects. */
  within(path: string): { readonly list: WorldList; readonly namespace: string } | undefined {
    const found = /^(.*)\/namespaces\/([^/]+)(\/[^/]+)$/.exec(path)
    const list = found === null ? undefined : this.#lists.get(`${found[1]}${found[3]}`)
    return list && { list, namespace: found?.[2] ?? '' }
  }

  /** One object: GET, PUT, DELETE of its path, or POST to the path of its list. */
  answer(method: string, path: string, body: string): WorldAnswer {
    if (method === 'POST') return this.#create(path, JSON.parse(body) as BigObject)
    const name = path.slice(path.lastIndexOf('/') + 1)
    const of = path.slice(0, path.lastIndexOf('/'))
    const within = this.within(of)
    const list = within?.list ?? this.#lists.get(of)
    const object = list?.get(name, within?.namespace)
    if (list === undefined || object === undefined) return failure(404, 'NotFound', name)
    if (method === 'PUT') return this.#replace(list, object, JSON.parse(body) as BigObject)
    if (method === 'DELETE') return this.#delete(list, object, JSON.parse(body) as DeleteOptions)
    return { status: 200, body: object }
  }

  #create(path: string, given: BigObject): WorldAnswer {
    const within = this.within(path)
    const list = within?.list ?? this.#lists.get(path)
    const { name } = given.metadata
    if (list === undefined) return failure(404, 'NotFound', name)
    if (list.get(name, within?.namespace) !== undefined) return failure(409, 'AlreadyExists', name)
    const object = this.#put(list, {
      ...given,
      metadata: {
        ...given.metadata,
        ...(within && { namespace: within.namespace }),
        ...{ uid: randomUUID(), creationTimestamp: new Date().toISOString().replace(/\.\d+/, '') },
      },
    })
    if (path.endsWith('/volumeattachments'))
      this.#later(() => this.#put(list, { ...object, status: { attached: true } }))
    return { status: 201, body: object }
  }

  #replace(list: WorldList, object: BigObject, given: BigObject): WorldAnswer {
    if (given.metadata.resourceVersion !== object.metadata.resourceVersion)
      return failure(409, 'Conflict', object.metadata.name)
    return { status: 200, body: this.#put(list, { ...given, metadata: { ...object.metadata, ...given.metadata } }) }
  }

  #delete(list: WorldList, object: BigObject, { preconditions = {} }: DeleteOptions): WorldAnswer {
    const { name, uid, resourceVersion } = object.metadata
    const wanted = { uid, resourceVersion, ...preconditions }
    if (wanted.uid !== uid || wanted.resourceVersion !== resourceVersion) return failure(409, 'Conflict', name)
    const deletionTimestamp = new Date().toISOString().replace(/\.\d+/, '')
    const deleting = this.#put(list, { ...object, metadata: { ...object.metadata, deletionTimestamp } })
    this.#later(() => list.remove(name))
    return { status: 200, body: deleting }
  }

  #put(list: WorldList, object: BigObject): BigObject {
    this.#version += 1
    const put = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } }
    list.put(put)
    return put
  }

  #later(change: () => void): void {
    if (this.#attacherMs === 0) change()
    else setTimeout(change, this.#attacherMs).unref()
  }
}

interface DeleteOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

function failure(code: number, reason: string, name: string): WorldAnswer {
  return { status: code, body: new StatusError(code, reason, `"${name}": ${reason}`, { name }).toJSON() }
}

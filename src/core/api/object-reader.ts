import { compareText } from '../lang/compare-text.ts'
import { defined } from '../lang/defined.ts'
import type { ApiObject } from '../model/objects.ts'
import { keyText, type ObjectKey, type Resource, type ResourcePath } from '../model/resources.ts'
import type { ApiReadError } from '../model/snapshot.ts'
import type { Budget } from '../trust/bytes.ts'
import { ApiError, lateError } from './api-error.ts'
import type { KubeClient, RequestSettings } from './kube-client.ts'
import { getObject, listObjects } from './received-objects.ts'
import { reduced } from './reduce-object.ts'

/** Requests for single objects in flight at once (N68). */
const CONCURRENCY = 10
/** Of one kind: a node has some hundred pods, each with some volumes. */
const MOST_NAMED = 50_000

export interface ReaderOptions {
  readonly signal?: AbortSignal | undefined
  /** What all that is read may take in memory. */
  readonly kept?: Budget | undefined
  /** For all of it: what is not here by then is unknown. */
  readonly deadlineMs?: number | undefined
}

const DEADLINE_MS = 300_000

/** Reads objects and remembers what could not be read, so that nobody takes a gap for an absence (S3). */
export class ObjectReader {
  readonly errors: ApiReadError[] = []
  readonly #client: KubeClient
  readonly #signal: AbortSignal | undefined
  readonly #kept: Budget | undefined
  readonly #deadlineMs: number
  readonly #late: AbortSignal

  constructor(client: KubeClient, { signal, kept, deadlineMs = DEADLINE_MS }: ReaderOptions = {}) {
    this.#client = client
    this.#signal = signal
    this.#kept = kept
    this.#deadlineMs = deadlineMs
    this.#late = AbortSignal.timeout(deadlineMs)
  }

  /** One object, or undefined with an entry in `errors`: NotFound where it is shown to be absent, else unknown. */
  async get<T extends ApiObject>(resource: Resource<T>, key: ObjectKey): Promise<T | undefined> {
    try {
      return reduced(await this.#inTime((settings) => getObject(this.#client, resource, key, settings)))
    } catch (error) {
      this.note(error, resource, key)
      return undefined
    }
  }

  /** The objects of these names that can be read, in the order of the names. */
  async getAll<T extends ApiObject>(resource: Resource<T>, keys: readonly ObjectKey[]): Promise<T[]> {
    if (keys.length > MOST_NAMED) throw this.#tooMany(resource)
    const found: (T | undefined)[] = []
    let next = 0
    const work = async (): Promise<void> => {
      for (let index = next++; index < keys.length; index = next++) {
        const key = keys[index]
        if (key) found[index] = await this.get(resource, key)
      }
    }
    await Promise.all(Array.from({ length: Math.min(CONCURRENCY, keys.length) }, work))
    return found.filter((object) => object !== undefined)
  }

  /** All objects of a resource, or the failure: whether this identity may list is found out by asking. */
  async list<T extends ApiObject>(resource: Resource<T>): Promise<T[] | ApiError> {
    try {
      const { items } = await this.#inTime((settings) => listObjects(this.#client, resource, settings))
      return items
    } catch (error) {
      if (error instanceof ApiError) return error
      throw error
    }
  }

  async #inTime<T>(ask: (settings: RequestSettings) => Promise<T>): Promise<T> {
    const signal = this.#signal ? AbortSignal.any([this.#signal, this.#late]) : this.#late
    try {
      signal.throwIfAborted()
      return await ask({ signal, kept: this.#kept })
    } catch (error) {
      this.#signal?.throwIfAborted()
      throw this.#late.aborted ? lateError(this.#client.server, this.#deadlineMs, 'all that was asked for') : error
    }
  }

  #tooMany({ plural }: ResourcePath): ApiError {
    return new ApiError('AnswerTooLarge', `${this.#client.server}: more than ${MOST_NAMED} ${plural} are named.`, {
      status: 0,
      reason: 'AnswerTooLarge',
      hint: 'Is this the address of a Kubernetes API server? No node has so many volumes.',
    })
  }

  /** Keeps a failure for `api.errors`; anything but an answer of the API (an interrupt, a bug) goes on upwards. */
  note(error: unknown, resource: ResourcePath, key?: ObjectKey): void {
    if (!(error instanceof ApiError)) throw error
    this.errors.push({
      resource: resource.plural,
      ...defined({ namespace: key?.namespace }),
      ...(key && { name: key.name }),
      status: error.status,
      reason: error.reason,
      message: error.message,
    })
  }

  /** The failures in an order that does not depend on which answer came first. */
  sortedErrors(): ApiReadError[] {
    const text = (error: ApiReadError): string =>
      `${error.resource} ${error.name ? keyText({ ...error, name: error.name }) : ''}`
    return this.errors.toSorted((a, b) => compareText(text(a), text(b)))
  }
}

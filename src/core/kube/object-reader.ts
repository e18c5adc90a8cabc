import { compareText } from '../base/compare-text.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import type { ApiReadError } from '../facts/actual/snapshot.ts'
import type { Budget } from '../trust/bytes.ts'
import type { ApiObject } from './api/objects.ts'
import { keyText, type ObjectKey, type Resource, type ResourcePath } from './api/resources.ts'
import { ApiError, lateError, TOO_MUCH, unusable } from './api-error.ts'
import type { KubeClient, RequestSettings } from './kube-client.ts'
import { getObject, listObjects } from './objects.ts'

/** Requests for single objects in flight at once (N68). */
const CONCURRENCY = 10
/** Objects of one kind: a node has some hundred pods, each with some volumes. */
const MOST_NAMED = 50_000

interface ReaderOptions {
  readonly signal?: AbortSignal | undefined
  /** Limits the memory of everything that is read. */
  readonly kept?: Budget | undefined
  /** For everything together: what is not read by then is unknown. */
  readonly deadlineMs?: number | undefined
}

const DEADLINE_MS = 300_000

/** Reads objects, and remembers what could not be read, so that a gap is not taken for an absence (S3). */
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

  /** One object; or undefined, with an entry in `errors`: NotFound if it is shown to be absent, otherwise unknown. */
  async get<T extends ApiObject>(resource: Resource<T>, key: ObjectKey): Promise<T | undefined> {
    try {
      return await this.#inTime((settings) => getObject(this.#client, resource, key, settings))
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

  /**
   * All objects of a resource; or undefined, for instance if this identity may not list them. Its entry in `errors` names no object:
   * the view is incomplete (S3; S21: a second PV; S30: other nodes).
   */
  async list<T extends ApiObject>(resource: Resource<T>): Promise<T[] | undefined> {
    try {
      const { items } = await this.#inTime((settings) => listObjects(this.#client, resource, settings))
      return items
    } catch (error) {
      this.note(error, resource)
      return undefined
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
    return unusable(
      `${this.#client.server}: the pods of this node name more than ${MOST_NAMED} ${plural}.`,
      TOO_MUCH,
      'AnswerTooLarge',
    )
  }

  /** Keeps a failure for `api.errors`; any other error (an interrupt, a bug) is thrown. */
  note(error: unknown, resource: ResourcePath, key?: ObjectKey): void {
    if (!(error instanceof ApiError)) throw error
    this.errors.push({
      resource: resource.plural,
      ...omitUndefined({ namespace: key?.namespace }),
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

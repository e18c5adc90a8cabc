import { compareText } from '../base/text.ts'
import { said } from '../messages/findings.ts'
import type { ApiObject, Resource, ResourcePath } from './api/objects.ts'
import { type ApiReadError, keyText, type ObjectKey } from './api/resources.ts'
import { ApiError, lateError, unusable } from './api-error.ts'
import type { KubeClient, RequestSettings } from './kube-client.ts'

/** Requests for single objects in flight at once (N68). */
const CONCURRENCY = 10
/** Objects of one kind: a node has some hundred pods, each with some volumes. */
const MOST_NAMED = 50_000

/** `kept` limits the memory of everything that is read. */
interface ReaderOptions extends Pick<RequestSettings, 'signal' | 'kept'> {
  /** For everything together: what is not read by then is unknown. */
  readonly deadlineMs?: number
}

const DEADLINE_MS = 300_000

export type ObjectReader = ReturnType<typeof objectReader>

/** One text for what an error is about: an object, or a resource as a whole. */
export function aboutText(resource: string, { namespace, name }: Partial<ObjectKey>): string {
  return `${resource} ${name ? keyText({ namespace, name }) : ''}`
}

/** Reads objects, and remembers what could not be read, so that a gap is not taken for an absence (S3). */
export function objectReader(client: KubeClient, { signal, kept, deadlineMs = DEADLINE_MS }: ReaderOptions) {
  const { server } = client
  const errors: ApiReadError[] = []
  const late = AbortSignal.timeout(deadlineMs)
  const ended = signal ? AbortSignal.any([signal, late]) : late

  /** Keeps a failure for `api.errors`; any other error (an interrupt, a bug) is thrown. */
  function note(error: unknown, { plural: resource }: ResourcePath, key?: ObjectKey): void {
    if (!(error instanceof ApiError)) throw error
    const { status, reason, message } = error
    errors.push({ resource, namespace: key?.namespace, name: key?.name, status, reason, message })
  }

  /** Undefined, with an entry in `errors`: NotFound if it is shown to be absent, otherwise unknown. */
  async function inTime<T>(
    resource: ResourcePath,
    key: ObjectKey | undefined,
    ask: (settings: RequestSettings) => Promise<T>,
  ): Promise<T | undefined> {
    try {
      ended.throwIfAborted()
      return await ask({ signal: ended, kept })
    } catch (error) {
      signal?.throwIfAborted()
      note(late.aborted ? lateError(server, deadlineMs, 'all that was asked for') : error, resource, key)
      return undefined
    }
  }

  const get = <T extends ApiObject>(resource: Resource<T>, key: ObjectKey): Promise<T | undefined> =>
    inTime(resource, key, (settings) => client.get(resource, key, settings))

  return {
    note,
    get,
    /** The objects of these names that can be read, in the order of the names. */
    getAll: async <T extends ApiObject>(resource: Resource<T>, keys: readonly ObjectKey[]): Promise<T[]> => {
      if (keys.length > MOST_NAMED) {
        const tooMany = said('ApiFailed.tooMany', { server, most: MOST_NAMED, resource: resource.plural })
        throw unusable(tooMany, undefined, 'AnswerTooLarge')
      }
      const found: (T | undefined)[] = []
      const left = keys.entries()
      const work = async (): Promise<void> => {
        for (const [index, key] of left) found[index] = await get(resource, key)
      }
      await Promise.all(Array.from({ length: CONCURRENCY }, work))
      return found.filter((object) => object !== undefined)
    },
    /**
     * All objects of a resource; or undefined, for instance if this identity may not list them. Its entry in `errors` names no object:
     * the view is incomplete (S3; S21: a second PV; S30: other nodes).
     */
    list: <T extends ApiObject>(resource: Resource<T>): Promise<T[] | undefined> =>
      inTime(resource, undefined, async (settings) => (await client.list(resource, settings)).items),
    /** The failures in an order that does not depend on which answer came first. */
    sortedErrors: (): ApiReadError[] =>
      errors.toSorted((a, b) => compareText(aboutText(a.resource, a), aboutText(b.resource, b))),
  }
}

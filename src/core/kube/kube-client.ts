import { Budget } from '../trust/bytes.ts'
import { JsonLimitError, type JsonLimits, parseJson } from '../trust/parse-json.ts'
import { TooLarge } from '../trust/plain-files.ts'
import type { Shape } from '../trust/shape.ts'
import type { ApiObject, Resource } from './api/objects.ts'
import { hasMetadata, listPath, type ObjectKey, objectPath, reduced } from './api/resources.ts'
import {
  ApiError,
  answerTooLarge,
  badAnswer,
  errorFromAnswer,
  errorFromTransport,
  lateError,
  received,
  unlessAbsent,
} from './api-error.ts'
import { withRetry } from './retry.ts'
import type { KubeCredentials } from './transport/connection.ts'
import { type Answer, createTransport, type Transport } from './transport/transport.ts'

export interface RequestSettings {
  readonly query?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Limits the memory of what is read and kept; a list without one has its own. */
  readonly kept?: Budget
}

interface GetSettings extends RequestSettings {
  /** Nothing of it is left out. */
  readonly whole?: true
}

interface ListSettings extends RequestSettings {
  /** Absent: in every one. */
  readonly namespace?: string
}

// A list, page by page (N45): one after the other, so that no more than one is held at a time.

/** What the last page of a list shows. */
export interface ListEnd {
  /** The one state that all pages show. */
  readonly resourceVersion?: string
}

export interface ObjectList<T> extends ListEnd {
  readonly items: T[]
}

/**
 * Takes a list page by page; none has to be kept. Called before the first page, and again whenever an expired list is started again: what
 * was taken before is void. What it gives takes the objects of a page, whole: what is kept of one has to be reduced (resources.ts).
 */
export type ListVisitor<T> = () => (objects: readonly T[]) => void

/** Limits of all pages of one list that is walked. */
export interface WalkLimits {
  readonly listBytes: number
  readonly listPages: number
  readonly listMs: number
}

/** Of one page, whatever limit the server was asked for: 500 objects are 10 MB, the largest object of etcd a few. */
const PAGE_BYTES = 64 * 1024 * 1024

interface ListBody {
  readonly kind?: string
  readonly apiVersion?: string
  readonly metadata?: {
    readonly resourceVersion?: string
    readonly continue?: string | null
    readonly remainingItemCount?: number
  }
  readonly items?: readonly unknown[] | null
}

interface WriteRequest {
  readonly method: string
  /** Of the body; default: application/json. */
  readonly contentType?: string
  /** May the request be repeated where it may have been carried out? */
  readonly idempotent?: true
}

/** The requests that send an object. */
export const WRITES = {
  /** Stores nothing (self reviews). */
  review: { method: 'POST', idempotent: true },
  /** A new object, to the path of its list. */
  create: { method: 'POST' },
  delete: { method: 'DELETE' },
  /** A whole object; its resourceVersion makes sure that nobody else's change is lost. */
  replace: { method: 'PUT' },
  /** A strategic merge patch. */
  patch: { method: 'PATCH', contentType: 'application/strategic-merge-patch+json' },
} as const satisfies Record<string, WriteRequest>

export type Write = keyof typeof WRITES

/** Limits of answers (S34): above what the largest clusters need, and below a node's memory. */
export interface ClientLimits extends WalkLimits {
  /** For one attempt. */
  readonly deadlineMs: number
  /** Objects in one page of a list. */
  readonly pageSize: number
  /** Of one answer that is no list, raw and unpacked. */
  readonly answerBytes: number
  /** Of all answers that are being received. */
  readonly budget: Budget
}

/** Memory for one look at the API (weightOf): enough for some 35,000 volumes with their claims and attachments. */
export function keptBudget(): Budget {
  return new Budget(240_000_000)
}

const LIMITS: ClientLimits = {
  deadlineMs: 30_000,
  pageSize: 500,
  // What is no list is one object, a review or a Status.
  answerBytes: 16 * 1024 * 1024,
  // All attachments of the largest cluster, with their managedFields. What is kept of them, keptBudget bounds.
  listBytes: 512 * 1024 * 1024,
  listPages: 2000,
  listMs: 120_000,
  // One for all clients: three of the largest that is taken. A single one must fit, or its own limit would never be the one that is named.
  budget: new Budget(3 * PAGE_BYTES),
}
/** Memory for parsing one answer. */
const ANSWER_MEMORY = 250_000_000
/** How often a list that expired half-way is started again. */
const LIST_RESTARTS = 3

interface ToSend<T> {
  readonly path: string
  readonly body: object
  /** Of the answer. */
  readonly shape: Shape<T>
}

interface Exchange extends RequestSettings, WriteRequest {
  readonly path: string
  readonly body?: object
  /** Of the answer, as received and as decompressed; default: that of an answer which is no list. */
  readonly maxBytes?: number
}

/** A client of one API server, for JSON objects. */
export type KubeClient = ReturnType<typeof createKubeClient>

/** Connects lazily: nothing is read or run before the first request. */
export function createKubeClient(credentials: KubeCredentials, given: Partial<ClientLimits> = {}) {
  const { server, source, kind, insecure } = credentials
  const limits: ClientLimits = { ...LIMITS, ...given }
  const { deadlineMs, pageSize, budget } = limits
  let connected: Promise<Transport> | undefined
  let clockSkewMs: number | undefined

  /** This host's clock may be set at any moment, so the skew is computed from every answer (S28). */
  function noteClock({ headers }: Answer, tookMs: number): void {
    const date = Date.parse(String(headers.date ?? ''))
    if (!Number.isNaN(date)) clockSkewMs = Math.round(date - (Date.now() - tookMs / 2))
  }

  async function begin(signal: AbortSignal | undefined): Promise<Transport> {
    const options = await credentials.load(signal).catch((error: unknown) => {
      // The user interrupted the request: the next one starts again.
      if (signal?.aborted) connected = undefined
      throw error
    })
    try {
      return createTransport(new URL(server), options, budget)
    } catch (error) {
      // A damaged certificate or key.
      throw errorFromTransport(error, server)
    }
  }

  async function attempt(exchange: Exchange, transport: Transport): Promise<Answer> {
    const { method, path, query = {}, body, contentType, signal, maxBytes = limits.answerBytes } = exchange
    const url = new URL(server + path)
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value)
    const request = `${method} ${path}`
    const late = AbortSignal.timeout(deadlineMs)
    const began = performance.now()
    let answer: Answer
    try {
      answer = await transport.send({
        method,
        url,
        maxBytes,
        signal: signal ? AbortSignal.any([signal, late]) : late,
        body: body && JSON.stringify(body),
        contentType,
      })
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (late.aborted) throw lateError(server, deadlineMs)
      if (error instanceof TooLarge) throw answerTooLarge(server, request, error.why)
      throw errorFromTransport(error, server)
    }
    noteClock(answer, performance.now() - began)
    if (answer.status >= 200 && answer.status < 300) return answer
    throw errorFromAnswer(answer, server, request)
  }

  /** One attempt; after a 401 the credential is read again, once (N42, N43). */
  async function authenticated(exchange: Exchange): Promise<Answer> {
    const { signal } = exchange
    connected ??= begin(signal)
    const transport = connected
    try {
      return await attempt(exchange, await transport)
    } catch (error) {
      const stale = error instanceof ApiError && (error.status === 401 || error.trouble === 'tls')
      if (!stale) throw error
      // Requests that fail together share one new connection.
      if (connected === transport) connected = undefined
      connected ??= begin(signal)
      return await attempt(exchange, await connected)
    }
  }

  function answered(exchange: Exchange): Promise<Answer> {
    return withRetry(exchange.idempotent === true, exchange.signal, () => authenticated(exchange))
  }

  function parsed({ body }: Answer, request: string, bounds: Partial<JsonLimits>): object {
    let value: unknown
    try {
      value = parseJson(body, bounds)
    } catch (error) {
      if (error instanceof JsonLimitError) throw answerTooLarge(server, request, error.message)
      throw badAnswer(server, request, 'not JSON')
    }
    if (typeof value !== 'object' || value === null) throw badAnswer(server, request, 'not an object')
    return value
  }

  function keep(value: unknown, kept: Budget | undefined, request: string): void {
    try {
      kept?.take(weightOf(value))
    } catch (error) {
      if (error instanceof TooLarge) throw answerTooLarge(server, request, error.why)
      throw error
    }
  }

  async function oneObject<T>(exchange: Exchange, shape: Shape<T>): Promise<T> {
    const request = `${exchange.method} ${exchange.path}`
    const bounds = { maxBytes: limits.answerBytes, maxMemory: ANSWER_MEMORY }
    const object = parsed(await answered(exchange), request, bounds)
    keep(object, exchange.kept, request)
    return received(shape, object, { server, request })
  }

  /** One object, reduced. */
  async function get<T extends ApiObject>(
    resource: Resource<T>,
    key: ObjectKey,
    { whole, ...settings }: GetSettings = {},
  ): Promise<T> {
    const exchange = { ...settings, method: 'GET', path: objectPath(resource, key), idempotent: true } as const
    const object = await oneObject(exchange, resource.shape)
    return whole === true ? object : reduced(object)
  }

  /**
   * The same as `list` for lists that are too large to be kept.
   *
   * @param limits other than those of a node's lists
   */
  async function walk<T extends ApiObject>(
    resource: Resource<T>,
    visitor: ListVisitor<T>,
    { namespace, ...settings }: ListSettings,
    bounds: WalkLimits = limits,
  ): Promise<ListEnd> {
    const { listMs, listBytes, listPages } = bounds
    const path = listPath(resource, namespace)
    const request = `GET ${path}`
    const late = AbortSignal.timeout(listMs)
    const signal = settings.signal ? AbortSignal.any([settings.signal, late]) : late
    const maxBytes = Math.min(listBytes, PAGE_BYTES)
    /** One page, without its text: what `oneState` has, is kept until the next page is there. */
    const ask = async (token: string): Promise<{ readonly value: ListBody; readonly bytes: number }> => {
      const query = { ...settings.query, limit: String(pageSize), ...(token !== '' && { continue: token }) }
      const answer = await answered({ ...settings, query, signal, method: 'GET', path, idempotent: true, maxBytes })
      return { value: parsed(answer, request, { maxBytes }), bytes: answer.body.length }
    }
    /** The pages of one state of the list. @throws ApiError: 410 if the state expired meanwhile */
    const oneState = async (): Promise<ListEnd> => {
      const visit = visitor()
      let [token, version, bytes, count] = ['', '', 0, 0]
      for (let pages = 1; ; pages++) {
        const page = await ask(token)
        bytes += page.bytes
        if (bytes > listBytes)
          throw answerTooLarge(server, request, `has more than ${listBytes} bytes in ${pages} pages`)
        const { kind, apiVersion = '', metadata, items } = page.value
        // An empty list of another kind, or one without items, would make all objects look deleted (S3).
        if (!isListOf(resource.plural, kind) || !(items === null || Array.isArray(items)))
          throw badAnswer(server, request, 'not a list')
        const take = (object: unknown): T => {
          if (!hasMetadata(object)) throw badAnswer(server, request, 'a list of something other than objects')
          const at = `items[${count++}]`
          return received(resource.shape, withType(object, kind, apiVersion), { server, request, at })
        }
        visit((items ?? []).map(take))
        const { resourceVersion, remainingItemCount = 0 } = metadata ?? {}
        const next = metadata?.continue ?? ''
        const shown = resourceVersion ?? ''
        // A cache or a proxy that puts together pages of two states may lack what was made in between, and show it to nobody.
        if (version !== '' && shown !== '' && shown !== version) throw badAnswer(server, request, 'pages of two states')
        version ||= shown
        if (next === '') {
          if (remainingItemCount > 0) throw badAnswer(server, request, 'a list that is cut off')
          return { resourceVersion }
        }
        if (next === token) throw badAnswer(server, request, 'the same page again')
        if (pages === listPages) throw answerTooLarge(server, request, `has more than ${listPages} pages`)
        token = next
      }
    }
    for (let restarts = 0; ; restarts++) {
      try {
        return await oneState()
      } catch (error) {
        settings.signal?.throwIfAborted()
        if (late.aborted) throw lateError(server, listMs, `all pages of ${request}`)
        // The token that comes with a 410 would continue with another state, so the list is started again (N45).
        if (!(error instanceof ApiError) || error.status !== 410 || restarts >= LIST_RESTARTS) throw error
      }
    }
  }

  return {
    server,
    source,
    credentialKind: kind,
    /** Why anyone on the network path could answer in the server's place (S34); absent: nobody could. */
    insecure,
    /** The server's Date header minus this host's clock, in milliseconds (S28), by the last answer. */
    get clockSkewMs() {
      return clockSkewMs
    },
    get,
    /** The same; undefined if the API shows that there is none (S3). */
    find: <T extends ApiObject>(
      resource: Resource<T>,
      key: ObjectKey,
      settings?: GetSettings,
    ): Promise<T | undefined> => unlessAbsent(get(resource, key, settings)),
    /** Sends an object. @returns what is answered */
    send: <T>(write: Write, { path, body, shape }: ToSend<T>, settings: RequestSettings = {}): Promise<T> =>
      oneObject({ ...settings, ...WRITES[write], path, body }, shape),
    /**
     * The whole list as one consistent state: resourceVersion unset, pages joined (S2, N45, N47); each object reduced. Or a failure:
     * without one of its objects, the list would say nothing about absence.
     */
    list: async <T extends ApiObject>(
      resource: Resource<T>,
      settings: RequestSettings = {},
    ): Promise<ObjectList<T>> => {
      const { kept = keptBudget() } = settings
      let items: T[] = []
      const visitor: ListVisitor<T> = () => {
        items = []
        return (objects) => {
          for (const object of objects) {
            keep(reduced(object), kept, `GET ${listPath(resource)}`)
            items.push(object)
          }
        }
      }
      const end = await walk(resource, visitor, settings)
      return { items, ...end }
    },
    walk,
    close: (): void => {
      connected?.then((transport) => transport.close()).catch(() => {})
      connected = undefined
    },
  }
}

/** True for the kind of list that belongs to the resource: a PodList for pods. */
function isListOf(plural: string, kind: unknown): kind is string {
  return typeof kind === 'string' && kind.toLowerCase() === `${plural.slice(0, -1)}list`
}

/** Items of a list come without kind and apiVersion. */
function withType(item: ApiObject, kind: string, apiVersion: string): ApiObject {
  const typed = item as { kind?: string; apiVersion?: string }
  typed.kind ??= kind.slice(0, -'List'.length)
  typed.apiVersion ??= apiVersion
  return item
}

/** Growth of VmHWM in lists of such values, measured (Node 26). */
const CONTAINER = 80
const TEXT = 40
const OTHER = 16
/** For shorter texts the difference is small. */
const LONG_TEXT = 64

/** About how many bytes of memory a value of JSON takes; two bytes of an answer can become a hundred. */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return TEXT + value.length * (value.length > LONG_TEXT && isWide(value) ? 2 : 1)
  if (typeof value !== 'object' || value === null) return OTHER
  let weight = CONTAINER
  if (Array.isArray(value)) for (const each of value) weight += weightOf(each)
  // No list of its values is made: what JSON.parse makes has no names but its own, even `__proto__`.
  else for (const name in value) weight += weightOf((value as Record<string, unknown>)[name])
  return weight
}

/** V8 stores a text with one byte for each character, or with two. */
function isWide(text: string): boolean {
  return /[\u0100-\uffff]/.test(text)
}

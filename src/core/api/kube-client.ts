import { ApiError, errorFromAnswer, errorFromTransport } from './api-error.ts'
import type { CredentialKind, KubeCredentials } from './kube-credentials.ts'
import { withRetry } from './retry.ts'
import { type Answer, createTransport, type Transport } from './transport.ts'

export interface RequestSettings {
  readonly query?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** For one try. */
  readonly deadlineMs?: number
}

export interface ObjectList<T> {
  readonly items: T[]
  /** Of the one state that all pages show. */
  readonly resourceVersion?: string
}

/** Raw JSON to and from one API server. */
export interface KubeClient {
  readonly server: string
  readonly source: string
  readonly credentialKind: CredentialKind
  /** The server's Date header minus this host's clock, in milliseconds (S28); of the last answer. */
  readonly clockSkewMs: number | undefined
  get<T>(path: string, settings?: RequestSettings): Promise<T>
  /** The whole list as one consistent state: resourceVersion unset, pages joined (S2, N45, N47). */
  list<T>(path: string, settings?: RequestSettings): Promise<ObjectList<T>>
  /** A POST that stores nothing (self reviews), so that it may be repeated. */
  review<T>(path: string, body: object, settings?: RequestSettings): Promise<T>
  delete<T>(path: string, body: object, settings?: RequestSettings): Promise<T>
  /** A strategic merge patch. */
  patch<T>(path: string, body: object, settings?: RequestSettings): Promise<T>
  close(): void
}

export interface KubeClientOptions {
  readonly deadlineMs?: number
  readonly pageSize?: number
}

const DEADLINE_MS = 30_000
const PAGE_SIZE = 500
/** How often a list that expired half-way is begun anew. */
const LIST_RESTARTS = 3

interface ListBody<T> {
  readonly kind?: string
  readonly apiVersion?: string
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
  readonly items?: T[] | null
}

interface Exchange extends RequestSettings {
  readonly method: string
  readonly path: string
  readonly body?: object
  /** Of the body; default: application/json. */
  readonly contentType?: string
  readonly idempotent: boolean
}

/** Connects lazily: nothing is read or run before the first request. */
export function createKubeClient(credentials: KubeCredentials, options: KubeClientOptions = {}): KubeClient {
  return new HttpKubeClient(credentials, options)
}

class HttpKubeClient implements KubeClient {
  readonly server: string
  readonly source: string
  readonly credentialKind: CredentialKind
  clockSkewMs: number | undefined
  readonly #credentials: KubeCredentials
  readonly #deadlineMs: number
  readonly #pageSize: number
  #transport: Promise<Transport> | undefined

  constructor(credentials: KubeCredentials, options: KubeClientOptions) {
    this.server = credentials.server
    this.source = credentials.source
    this.credentialKind = credentials.kind
    this.#credentials = credentials
    this.#deadlineMs = options.deadlineMs ?? DEADLINE_MS
    this.#pageSize = options.pageSize ?? PAGE_SIZE
  }

  get<T>(path: string, settings: RequestSettings = {}): Promise<T> {
    return this.#json<T>({ ...settings, method: 'GET', path, idempotent: true })
  }

  review<T>(path: string, body: object, settings: RequestSettings = {}): Promise<T> {
    return this.#json<T>({ ...settings, method: 'POST', path, body, idempotent: true })
  }

  delete<T>(path: string, body: object, settings: RequestSettings = {}): Promise<T> {
    return this.#json<T>({ ...settings, method: 'DELETE', path, body, idempotent: false })
  }

  patch<T>(path: string, body: object, settings: RequestSettings = {}): Promise<T> {
    const contentType = 'application/strategic-merge-patch+json'
    return this.#json<T>({ ...settings, method: 'PATCH', path, body, contentType, idempotent: false })
  }

  async list<T>(path: string, settings: RequestSettings = {}): Promise<ObjectList<T>> {
    for (let restarts = 0; ; restarts++) {
      try {
        return await this.#pages<T>(path, settings)
      } catch (error) {
        // The token that a 410 offers would go on with another state: begin anew instead (N45).
        if (!(error instanceof ApiError) || error.status !== 410 || restarts >= LIST_RESTARTS) throw error
      }
    }
  }

  close(): void {
    this.#transport?.then((transport) => transport.close()).catch(() => {})
    this.#transport = undefined
  }

  async #pages<T>(path: string, settings: RequestSettings): Promise<ObjectList<T>> {
    const items: T[] = []
    let token = ''
    for (;;) {
      const query = { ...settings.query, limit: String(this.#pageSize), ...(token !== '' && { continue: token }) }
      const page = await this.get<ListBody<T>>(path, { ...settings, query })
      if (!page.kind?.endsWith('List') || (page.items != null && !Array.isArray(page.items))) {
        throw this.#badAnswer(`GET ${path}`, 'no list')
      }
      // One by one: a page can be longer than an argument list may be.
      for (const item of page.items ?? []) items.push(withType(item, page))
      const next = page.metadata?.continue ?? ''
      if (next === '') {
        const resourceVersion = page.metadata?.resourceVersion
        return { items, ...(resourceVersion !== undefined && { resourceVersion }) }
      }
      if (next === token) throw this.#badAnswer(`GET ${path}`, 'the same page again')
      token = next
    }
  }

  async #json<T>(exchange: Exchange): Promise<T> {
    const answer = await withRetry(exchange.idempotent, exchange.signal, () => this.#authenticated(exchange))
    try {
      return JSON.parse(answer.body) as T
    } catch {
      throw this.#badAnswer(`${exchange.method} ${exchange.path}`, 'no JSON')
    }
  }

  /** One try; a 401 is answered once by reading the credential anew (N42, N43). */
  async #authenticated(exchange: Exchange): Promise<Answer> {
    const transport = this.#connect()
    try {
      return await this.#try(exchange, await transport)
    } catch (error) {
      const stale = error instanceof ApiError && (error.status === 401 || error.code === 'TlsMismatch')
      if (!stale) throw error
      return await this.#try(exchange, await this.#reconnect(transport))
    }
  }

  async #try(exchange: Exchange, transport: Transport): Promise<Answer> {
    const { method, path, body, contentType, signal } = exchange
    const deadlineMs = exchange.deadlineMs ?? this.#deadlineMs
    const url = new URL(this.server + path)
    for (const [key, value] of Object.entries(exchange.query ?? {})) url.searchParams.set(key, value)
    const deadline = AbortSignal.timeout(deadlineMs)
    const began = performance.now()
    let answer: Answer
    try {
      answer = await transport.send({
        method,
        url,
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(contentType !== undefined && { contentType }),
      })
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      throw errorFromTransport(deadline.aborted ? deadline.reason : error, this.server, deadlineMs)
    }
    this.#noteClock(answer, performance.now() - began)
    if (answer.status >= 200 && answer.status < 300) return answer
    const retryAfter = answer.headers['retry-after']
    throw errorFromAnswer({
      status: answer.status,
      body: answer.body,
      server: this.server,
      request: `${method} ${path}`,
      retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
    })
  }

  #connect(): Promise<Transport> {
    this.#transport ??= this.#credentials.load().then((options) => {
      try {
        return createTransport(new URL(this.server), options)
      } catch (error) {
        // A certificate or key that is none.
        throw errorFromTransport(error, this.server, this.#deadlineMs)
      }
    })
    return this.#transport
  }

  /** Requests that fail together share one new connection. */
  #reconnect(failed: Promise<Transport>): Promise<Transport> {
    if (this.#transport === failed) this.#transport = undefined
    return this.#connect()
  }

  /** This host's clock may be set at any moment: every answer tells anew (S28). */
  #noteClock(answer: Answer, tookMs: number): void {
    const date = Date.parse(String(answer.headers.date ?? ''))
    if (!Number.isNaN(date)) this.clockSkewMs = Math.round(date - (Date.now() - tookMs / 2))
  }

  #badAnswer(request: string, what: string): ApiError {
    return new ApiError('BadAnswer', `${this.server}: the answer to ${request} is ${what}.`, {
      status: 0,
      reason: 'BadAnswer',
      hint: 'Is this the address of a Kubernetes API server, or is a proxy in between?',
    })
  }
}

/** Items of a list come without kind and apiVersion. */
function withType<T>(item: T, list: ListBody<T>): T {
  const typed = item as { kind?: string; apiVersion?: string }
  typed.kind ??= list.kind?.slice(0, -'List'.length) ?? ''
  typed.apiVersion ??= list.apiVersion ?? ''
  return item
}

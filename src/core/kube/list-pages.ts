/** A list, page by page (N45): of each page what the visitor makes of its objects is kept, and two are on their way at most. */
import { omitUndefined } from '../base/omit-undefined.ts'
import { type Budget, Gathered } from '../trust/bytes.ts'
import { JsonLimitError, parseJson } from '../trust/parse-json.ts'
import { TooLarge } from '../trust/plain-files.ts'
import { hasMetadata } from './api/resources.ts'
import { type ApiError, answerTooLarge, badAnswer } from './api-error.ts'

/** What the last page of a list shows. */
export interface ListEnd {
  /** The one state that all pages show. */
  readonly resourceVersion?: string
}

/** Kind and version of the list, which its items come without. */
export interface ListHead {
  readonly kind: string
  readonly apiVersion?: string
}

/** Takes the objects of a list one by one; no page has to be kept. */
export interface ListVisitor<T, Kept> {
  /** Called before the first page, and again whenever an expired list is started again: what was taken before is void. */
  begin(): void
  /**
   * Makes of an object what is kept of it. Its page may still fail, and is then read again from its beginning.
   *
   * @param object as the server sent it, with metadata: what is kept of it as a whole has to be reduced (resources.ts)
   * @param index in its page
   */
  take(object: T, index: number): Kept
  /** A page is whole. @param kept what was made of its objects, in their order */
  page(kept: Kept[], head: ListHead): void
}

/** Limits of all pages of one list that is walked. */
export interface WalkLimits {
  readonly listBytes: number
  readonly listPages: number
  readonly listMs: number
}

/** Takes the body of one answer, piece by piece. */
export interface BodyReader {
  /** Of the body, as received and as decompressed. */
  readonly maxBytes: number
  take(piece: Buffer): void
  /** No more pieces come: all of them were there, or the answer has failed. */
  close(): void
}

/** Asks for one page, and again after a failure that may pass, each time with a new reader. */
type AskPage = (token: string, signal: AbortSignal, newReader: () => BodyReader) => Promise<unknown>

export interface Walk<T, Kept> {
  readonly server: string
  readonly path: string
  readonly visitor: ListVisitor<T, Kept>
  readonly limits: WalkLimits
  readonly signal: AbortSignal
  readonly ask: AskPage
  /** Of all bytes that are held while they come in. */
  readonly budget: Budget
}

/** Of one page, whatever limit the server was asked for: 500 objects are 10 MB, the largest object of etcd a few. */
export const PAGE_BYTES = 64 * 1024 * 1024

/** A page is asked for while the one before comes in, which hides the time that the server needs for it. */
class AskedPage<Kept> {
  readonly token: string
  /** The token of the page after this one, once it can be seen. */
  nextSeen: string | undefined
  readonly read: Promise<ReadPage<Kept>>
  readonly #dropped = new AbortController()

  constructor(token: string, read: (page: AskedPage<Kept>) => Promise<ReadPage<Kept>>) {
    this.token = token
    this.read = read(this)
    // A page that nobody waits for any more may fail unseen.
    this.read.catch(() => {})
  }

  signalWith(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#dropped.signal])
  }

  drop(): void {
    this.#dropped.abort()
  }
}

interface ReadPage<Kept> {
  readonly list: ListBody
  readonly kept: Kept[]
}

interface ListBody {
  readonly kind?: string
  readonly apiVersion?: string
  readonly metadata?: {
    readonly resourceVersion?: string
    readonly continue?: string
    readonly remainingItemCount?: number
  }
  readonly items?: readonly unknown[] | null
}

/** The pages of one state of a list, one after the other; at most two are on their way. */
export class ListWalk<T, Kept> {
  readonly #walk: Walk<T, Kept>
  readonly #request: string
  #bytes = 0
  #pages = 1
  #current: AskedPage<Kept>
  #early: AskedPage<Kept> | undefined

  constructor(walk: Walk<T, Kept>) {
    this.#walk = walk
    this.#request = `GET ${walk.path}`
    this.#current = this.#ask('')
  }

  /** @throws ApiError: 410 if the state expired meanwhile */
  async end(): Promise<ListEnd> {
    const { server, visitor, limits } = this.#walk
    let version = ''
    try {
      for (; ; this.#pages++) {
        const { list, kept } = await this.#current.read
        visitor.page(kept, { kind: list.kind ?? '', ...omitUndefined({ apiVersion: list.apiVersion }) })
        const next = list.metadata?.continue ?? ''
        const shown = list.metadata?.resourceVersion ?? ''
        // A cache or a proxy that puts together pages of two states may lack what was made in between, and show it to nobody.
        if (version !== '' && shown !== '' && shown !== version) throw this.#bad('pages of two states')
        version ||= shown
        if (next === '') {
          if ((list.metadata?.remainingItemCount ?? 0) > 0) throw this.#bad('a list that is cut off')
          return omitUndefined({ resourceVersion: list.metadata?.resourceVersion })
        }
        if (next === this.#current.token) throw this.#bad('the same page again')
        if (this.#pages === limits.listPages)
          throw answerTooLarge(server, this.#request, `has more than ${limits.listPages} pages`)
        this.#goOn(next)
      }
    } finally {
      this.#current.drop()
      this.#early?.drop()
    }
  }

  #goOn(token: string): void {
    const early = this.#early
    this.#early = undefined
    if (early?.token !== token) early?.drop()
    this.#current = early?.token === token ? early : this.#ask(token)
    this.#askAhead(this.#current)
  }

  #ask(token: string): AskedPage<Kept> {
    return new AskedPage<Kept>(token, (page) => this.#read(page))
  }

  /** Only for the page that is waited for: at most two are on their way. */
  #askAhead(page: AskedPage<Kept>): void {
    const { nextSeen, token } = page
    if (nextSeen === undefined || nextSeen === token || page !== this.#current || this.#early !== undefined) return
    if (this.#pages < this.#walk.limits.listPages) this.#early = this.#ask(nextSeen)
  }

  async #read(page: AskedPage<Kept>): Promise<ReadPage<Kept>> {
    const { ask, signal } = this.#walk
    let reader = this.#reader(page)
    await ask(page.token, page.signalWith(signal), () => {
      reader = this.#reader(page)
      return reader
    })
    return reader.whole()
  }

  #reader(page: AskedPage<Kept>): PageReader<T, Kept> {
    return new PageReader(this.#walk, {
      came: (bytes) => this.#count(bytes),
      nextSeen: (token) => {
        page.nextSeen = token
        this.#askAhead(page)
      },
    })
  }

  #count(bytes: number): void {
    const { server, limits } = this.#walk
    this.#bytes += bytes
    if (this.#bytes > limits.listBytes)
      throw answerTooLarge(server, this.#request, `has more than ${limits.listBytes} bytes in ${this.#pages} pages`)
  }

  #bad(what: string): ApiError {
    return badAnswer(this.#walk.server, this.#request, what)
  }
}

interface PageEvents {
  came(bytes: number): void
  nextSeen(token: string): void
}

/** One attempt at one page. */
class PageReader<T, Kept> implements BodyReader {
  readonly maxBytes: number
  readonly #walk: Walk<T, Kept>
  readonly #events: PageEvents
  readonly #body = new Gathered()
  #isHeadSeen = false

  constructor(walk: Walk<T, Kept>, events: PageEvents) {
    this.maxBytes = Math.min(walk.limits.listBytes, PAGE_BYTES)
    this.#walk = walk
    this.#events = events
  }

  take(piece: Buffer): void {
    this.#events.came(piece.length)
    this.#asAnswer(() => this.#walk.budget.take(piece.length))
    this.#body.add(piece)
    if (this.#isHeadSeen || this.#body.length < HEAD_BYTES) return
    this.#isHeadSeen = true
    const token = tokenIn(this.#body.head(HEAD_BYTES))
    if (token !== undefined) this.#events.nextSeen(token)
  }

  close(): void {
    this.#walk.budget.giveBack(this.#body.length)
  }

  /** @throws ApiError if the pieces together are no list of objects */
  whole(): ReadPage<Kept> {
    const list = this.#asAnswer(() => parseJson(this.#body.all(), { maxBytes: PAGE_BYTES })) as ListBody
    // An empty list of another kind, or one without items, would make all objects look deleted (S3).
    const isList = isListOf(this.#walk.path, list?.kind) && (list.items === null || Array.isArray(list.items))
    if (!isList) throw this.#bad('not a list')
    const items = list.items ?? []
    if (!items.every(hasMetadata)) throw this.#bad('a list of something other than objects')
    const kept = this.#asAnswer(() => items.map((object, index) => this.#walk.visitor.take(object as T, index)))
    return { list: { ...list, items: [] }, kept }
  }

  #asAnswer<Value>(read: () => Value): Value {
    try {
      return read()
    } catch (error) {
      const { server, path } = this.#walk
      if (error instanceof JsonLimitError) throw answerTooLarge(server, `GET ${path}`, error.message)
      if (error instanceof TooLarge) throw answerTooLarge(server, `GET ${path}`, error.why)
      if (error instanceof SyntaxError) throw this.#bad('not JSON')
      throw error
    }
  }

  #bad(what: string): ApiError {
    return badAnswer(this.#walk.server, `GET ${this.#walk.path}`, what)
  }
}

/** True for the kind of list that belongs to this path: a PodList for `…/pods`. */
function isListOf(path: string, kind: unknown): boolean {
  const plural = path.slice(path.lastIndexOf('/') + 1)
  return typeof kind === 'string' && kind.toLowerCase() === `${plural.slice(0, -1)}list`
}

/** An API server writes a list's metadata before its items. */
const HEAD_BYTES = 4096

/** The token of the next page, if it stands in the first bytes of a page; a text of another member may look like one. */
function tokenIn(head: Buffer): string | undefined {
  return /^\{[^[]*?"metadata":\s*\{[^{}[]*?"continue":\s*"([\w+/=-]+)"/.exec(head.toString('latin1'))?.[1]
}

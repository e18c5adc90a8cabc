/** A list, page by page (N45): one after the other, so that no more than one is held at a time. */
import { omitUndefined } from '../base/omit-undefined.ts'
import { hasMetadata } from './api/resources.ts'
import { answerTooLarge, badAnswer } from './api-error.ts'

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

/** Takes a list page by page; none has to be kept. */
export interface ListVisitor<T> {
  /** Called before the first page, and again whenever an expired list is started again: what was taken before is void. */
  begin(): void
  /** @param objects as the server sent them, with metadata: what is kept of one as a whole has to be reduced (resources.ts) */
  page(objects: readonly T[], head: ListHead): void
}

/** Limits of all pages of one list that is walked. */
export interface WalkLimits {
  readonly listBytes: number
  readonly listPages: number
  readonly listMs: number
}

/** Of one page, whatever limit the server was asked for: 500 objects are 10 MB, the largest object of etcd a few. */
export const PAGE_BYTES = 64 * 1024 * 1024

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

interface Walk<T> {
  readonly server: string
  readonly path: string
  readonly visitor: ListVisitor<T>
  readonly limits: WalkLimits
  /** Asks for one page. @returns what came, and how many bytes it had */
  ask(token: string): Promise<{ readonly value: unknown; readonly bytes: number }>
}

/**
 * The pages of one state of a list.
 *
 * @throws ApiError: 410 if the state expired meanwhile
 */
export async function walkPages<T>({ server, path, visitor, limits, ask }: Walk<T>): Promise<ListEnd> {
  const request = `GET ${path}`
  let [token, version, bytes] = ['', '', 0]
  for (let pages = 1; ; pages++) {
    const page = await ask(token)
    bytes += page.bytes
    if (bytes > limits.listBytes)
      throw answerTooLarge(server, request, `has more than ${limits.listBytes} bytes in ${pages} pages`)
    const { kind, apiVersion, metadata, items } = page.value as ListBody
    // An empty list of another kind, or one without items, would make all objects look deleted (S3).
    if (!isListOf(path, kind) || !(items === null || Array.isArray(items)))
      throw badAnswer(server, request, 'not a list')
    const objects: readonly unknown[] = items ?? []
    if (!objects.every(hasMetadata)) throw badAnswer(server, request, 'a list of something other than objects')
    visitor.page(objects as T[], { kind, ...omitUndefined({ apiVersion }) })
    const { resourceVersion, remainingItemCount = 0 } = metadata ?? {}
    const next = metadata?.continue ?? ''
    const shown = resourceVersion ?? ''
    // A cache or a proxy that puts together pages of two states may lack what was made in between, and show it to nobody.
    if (version !== '' && shown !== '' && shown !== version) throw badAnswer(server, request, 'pages of two states')
    version ||= shown
    if (next === '') {
      if (remainingItemCount > 0) throw badAnswer(server, request, 'a list that is cut off')
      return omitUndefined({ resourceVersion })
    }
    if (next === token) throw badAnswer(server, request, 'the same page again')
    if (pages === limits.listPages) throw answerTooLarge(server, request, `has more than ${limits.listPages} pages`)
    token = next
  }
}

/** True for the kind of list that belongs to this path: a PodList for `…/pods`. */
function isListOf(path: string, kind: unknown): kind is string {
  const plural = path.slice(path.lastIndexOf('/') + 1)
  return typeof kind === 'string' && kind.toLowerCase() === `${plural.slice(0, -1)}list`
}

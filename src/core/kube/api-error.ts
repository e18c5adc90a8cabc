import type { ErrorCode } from '../messages/codes.ts'
import { type Finding, said, saidOfAny, VolctlError, type VolctlErrorOptions } from '../messages/findings.ts'
import { parseJson } from '../trust/parse-json.ts'
import { type Shape, ShapeError } from '../trust/shape.ts'
import type { Answer } from './transport/transport.ts'

interface ApiErrorOptions extends VolctlErrorOptions {
  /** HTTP status; absent: no answer came. */
  readonly status?: number
  /** Kubernetes reason, or the code of the transport's failure. */
  readonly reason: string
  /** Why no answer came; absent: one did, if only one that is of no use. */
  readonly trouble?: Trouble
  /** Seconds the server asks to wait. */
  readonly retryAfter?: number
}

/**
 * What stood in the way of an answer: no connection, or one that broke; the deadline; TLS, which leaves open who would have
 * answered.
 */
type Trouble = 'connection' | 'late' | 'tls'

/** A request that the API server refused, or that failed. `code` is stable, `reason` is the server's own (N54). */
export class ApiError extends VolctlError {
  /** Of HTTP; 0: no answer came. */
  readonly status: number
  readonly reason: string
  readonly trouble: Trouble | undefined
  readonly retryAfter: number | undefined

  constructor(finding: Finding<ErrorCode>, options: ApiErrorOptions) {
    super(finding, options)
    this.status = options.status ?? 0
    this.reason = options.reason
    this.trouble = options.trouble
    this.retryAfter = options.retryAfter
  }

  /**
   * The server itself said that the object does not exist. A 404 without a Status that names the object (a proxy, a
   * wrong path) is no evidence (S3).
   */
  get isAbsent(): boolean {
    return this.status === 404 && this.reason === 'NotFound'
  }

  /** Nothing came back in time: the server may have done what was asked, or not. */
  get isSilence(): boolean {
    return this.trouble === 'connection' || this.trouble === 'late' || this.status === 504
  }
}

interface StatusObject {
  readonly kind?: unknown
  readonly reason?: unknown
  readonly message?: unknown
  readonly details?: { readonly name?: unknown; readonly retryAfterSeconds?: unknown }
}

/** An answer other than 2xx as an error (N54). @param request what was asked, e.g. `GET /api/v1/pods` */
export function errorFromAnswer({ status, headers, body }: Answer, server: string, request: string): ApiError {
  const given = parseStatus(body.toString('utf8'))
  const why = shortText(given?.message, 1000) ?? `${request} was answered with HTTP ${status}`
  const code = CODES_OF_STATUS[status] ?? 'ApiFailed'
  const reason = reasonOf(status, given, code)
  const [retryAfter] = [headers['retry-after']].flat()
  return new ApiError(saidOfAny(code, 'answered', { server, why }), {
    status,
    reason,
    hint: hintOf(status, request, given !== undefined && reason !== 'NoSuchResource'),
    retryAfter: seconds(retryAfter) ?? seconds(given?.details?.retryAfterSeconds),
  })
}

/** @param ofKubernetes false: the answer is not a Kubernetes API server's, or the server does not know the resource */
function hintOf(status: number, request: string, ofKubernetes: boolean): string | undefined {
  if (status === 401 || status === 403) return undefined
  if (status === 429) return 'The API server is overloaded; try again later.'
  const what = `HTTP status ${status} for ${request}`
  if (status >= 500) return `${what}: read the API server's log, then try again.`
  return ofKubernetes
    ? `${what}.`
    : `${what}: check that the server address in the kubeconfig, with its path, is that of a Kubernetes API server, and whether a proxy is in between.`
}

function reasonOf(httpStatus: number, status: StatusObject | undefined, code: string): string {
  const reason = shortText(status?.reason, 100) ?? code
  const namesObject = typeof status?.details?.name === 'string' && status.details.name !== ''
  return httpStatus === 404 && !namesObject ? 'NoSuchResource' : reason
}

/** Cuts texts for messages and snapshots to a readable length. */
function shortText(value: unknown, length: number): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  return value.length > length ? `${value.slice(0, length)}…` : value
}

const CODES_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  504: 'ApiUnreachable',
}

const STATUS_LIMITS = { maxBytes: 1024 * 1024, maxDepth: 20, maxValues: 10_000 }

function parseStatus(body: string): StatusObject | undefined {
  try {
    const status = parseJson(body, STATUS_LIMITS) as StatusObject | null
    return status?.kind === 'Status' ? status : undefined
  } catch {
    return undefined
  }
}

function seconds(value: unknown): number | undefined {
  const number = typeof value === 'string' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined
}

const TLS_CODES =
  /^(ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|UNABLE_TO_|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED|EPROTO|HOSTNAME_)/

/** No answer, or no complete one, within the deadline. @param what is missing */
export function lateError(server: string, deadlineMs: number, what = 'an answer'): ApiError {
  return new ApiError(said('ApiUnreachable.late', { server, what, seconds: deadlineMs / 1000 }), {
    trouble: 'late',
    reason: 'Timeout',
  })
}

/** @param why continues "the answer to GET …" */
export function answerTooLarge(server: string, request: string, why: string): ApiError {
  return unusable(said('ApiFailed.tooLarge', { server, request, why }), undefined, 'AnswerTooLarge')
}

/** @param what continues "the answer to GET … is" */
export function badAnswer(server: string, request: string, what: string): ApiError {
  return unusable(said('ApiFailed.badAnswer', { server, request, what }))
}

/** What came is no answer that anything could be concluded from. */
export function unusable(
  finding: Finding<'ApiFailed'>,
  hint = 'Is this the address of a Kubernetes API server, or is a proxy in between?',
  reason = 'BadAnswer',
): ApiError {
  return new ApiError(finding, { reason, hint })
}

interface Received {
  readonly server: string
  /** What was asked, e.g. `GET /api/v1/pods`. */
  readonly request: string
  /** The value's place in the answer. */
  readonly at?: string
}

/**
 * The same value, if it has the shape: decisions rely on the types of all fields, so an answer with a field of another type counts as no
 * answer (S3, S34), like one that is not JSON.
 *
 * @throws ApiError ApiFailed, naming the field that does not
 */
export function received<T>(shape: Shape<T>, value: unknown, { server, request, at = '' }: Received): T {
  try {
    return shape(value, at)
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    throw unusable(said('ApiFailed.field', { server, request, fault: error.message }))
  }
}

/** A failure below HTTP: no connection, an untrusted server, an answer that breaks off. */
export function errorFromTransport(error: unknown, server: string): ApiError {
  const { code, name, message } = error as { code?: unknown; name?: unknown; message?: unknown }
  const reason = typeof code === 'string' ? code : String(name ?? 'Error')
  if (reason.startsWith('Z_')) return unusable(said('ApiFailed.compression', { server, reason }))
  if (TLS_CODES.test(reason)) {
    return new ApiError(said('TlsMismatch', { server, trouble: tlsTrouble(String(message)), reason }), {
      trouble: 'tls',
      reason,
      cause: error,
    })
  }
  // Older Node.js name a proxy with its password.
  const why = String(message).replaceAll(/:\/\/[^/\s]*@/g, '://')
  return new ApiError(said('ApiUnreachable.notReached', { server, why }), {
    trouble: 'connection',
    reason,
    cause: error,
  })
}

/** Without the advice for people who write Node.js programs, and without OpenSSL's own source files. */
function tlsTrouble(message: string): string {
  if (/:wrong version number:/.test(message)) return 'the answer is not TLS'
  return message.replace(/; if the root CA is installed locally, .*$|:\.\.\/deps\/openssl\/.*$|:\s*$/s, '')
}

/** What stands instead of an answer where the API gives none; other errors (an interrupt, a bug) are thrown. */
export async function orInstead<T, Instead>(
  answer: Promise<T>,
  instead: (error: ApiError) => Instead | Promise<Instead>,
): Promise<T | Instead> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ApiError) return await instead(error)
    throw error
  }
}

/** Undefined if the API does not answer, for any reason. */
export function unlessRefused<T>(answer: Promise<T>): Promise<T | undefined> {
  return orInstead(answer, () => undefined)
}

/** Undefined if the API shows that there is none (S3). */
export function unlessAbsent<T>(answer: Promise<T>): Promise<T | undefined> {
  return orInstead(answer, (error) => {
    if (error.isAbsent) return undefined
    throw error
  })
}

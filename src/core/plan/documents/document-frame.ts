/** What volctl's own documents have in common when they are read: their bytes, what they say that they are, and one line for a defect. */

import { fstatSync, type Stats } from 'node:fs'
import { Socket } from 'node:net'
import { isatty } from 'node:tty'
import { ownDescriptor } from '../../linux/paths.ts'
import type { ErrorCode } from '../../messages/codes.ts'
import { unreadText } from '../../messages/disk-trouble.ts'
import {
  type Args,
  closing,
  closingOnError,
  errorMessage,
  type Hint,
  isMissing,
  marked,
  type Sentence,
  said,
  VolctlError,
  type VolctlErrorOptions,
} from '../../messages/findings.ts'
import { collect, gunzipped, isGzip } from '../../trust/bytes.ts'
import { kindOf } from '../../trust/files.ts'
import { JsonLimitError, type JsonLimits, parseJson } from '../../trust/parse-json.ts'
import { openData, readToLimit, TooLarge } from '../../trust/plain-files.ts'
import { io } from '../../trust/run.ts'
import { type Shape, ShapeError } from '../../trust/shape.ts'

const VERSION = 'volctl.io/v1'

const KINDS = {
  NodeSnapshot: {
    subject: 'snapshot',
    again: marked('Take the snapshot again: `volctl snapshot -o FILE`'),
    other: 'FileDamaged.ofCluster',
    hint: marked(
      'Plan the cluster with: `volctl plan --cluster --snapshot FILE`; or take one of this node: `volctl snapshot -o FILE`',
    ),
  },
  ClusterSnapshot: {
    subject: 'cluster snapshot',
    again: marked('Take the snapshot again: `volctl snapshot --cluster -o FILE`'),
    other: 'FileDamaged.ofNode',
    hint: marked('Leave out --cluster; or take one of the cluster: `volctl snapshot --cluster -o FILE`'),
  },
  Plan: { subject: 'plan file', again: marked('Save the plan again: `volctl plan --out FILE`') },
} as const

/** What a snapshot is of, by its beginning: it may be one document, in many lines, or a document in each line. */
const SNAPSHOT = /^\s*\{\s*"apiVersion"\s*:\s*"[^"]*"\s*,\s*"kind"\s*:\s*"(NodeSnapshot|ClusterSnapshot)"/

export class DocumentFrame {
  readonly #kind: keyof typeof KINDS
  readonly #limits: SourceLimits

  constructor(kind: keyof typeof KINDS, limits: SourceLimits) {
    this.#kind = kind
    this.#limits = limits
  }

  /**
   * The error of a document that cannot be used.
   *
   * @param args `name` is what messages call it
   * @param options without a hint: how to take or save another
   */
  damaged<const Of extends Sentence & `${ErrorCode}.${string}`>(
    sentence: Of,
    args: Omit<Args<Of>, 'subject'>,
    options: VolctlErrorOptions = {},
  ): VolctlError {
    const { subject, again } = KINDS[this.#kind]
    return new VolctlError(said(sentence, ...([{ subject, ...args }] as never)), { hint: again, ...options })
  }

  /** The error of one that could not be read. */
  unread(name: string, cause: unknown, hint?: Hint): VolctlError {
    const why = unreadText(cause)
    if (cause instanceof TooLarge) return this.damaged('FileDamaged.why', { name, why }, { cause })
    return this.damaged('FileUnreadable.document', { name, why }, { cause, hint })
  }

  /** The error of a document that could not be written. */
  notWritten(
    name: string,
    cause: unknown,
    hint = 'Give a plain file in an existing, writable directory with free space.',
  ) {
    const why = isMissing(cause) ? 'no such directory' : unreadText(cause)
    return this.damaged('NotWritten.document', { name, why }, { cause, hint })
  }

  /** @throws VolctlError FileDamaged, FileUnreadable */
  async read(path: string, name = path, pipeMs = this.#limits.pipeMs): Promise<Source> {
    try {
      return await readSource(path, { ...this.#limits, pipeMs })
    } catch (cause) {
      const isStream = path === '-' || cause instanceof TooSlow
      throw this.unread(name, cause, isStream ? 'Save it to a file first, and give that file.' : undefined)
    }
  }

  /**
   * Plain or gzip is decided by content, not by name.
   *
   * @returns the same bytes, if they are not compressed
   * @throws VolctlError FileDamaged, also where it is of the other scope
   */
  unpacked(bytes: Buffer, name: string): Buffer {
    const plain = isGzip(bytes) ? this.#gunzipped(bytes, name) : bytes
    const [, kind = this.#kind] = SNAPSHOT.exec(plain.toString('latin1', 0, 200)) ?? []
    const own = KINDS[this.#kind]
    if (kind === this.#kind || !('other' in own)) return plain
    throw this.damaged(own.other, { name }, { hint: own.hint })
  }

  #gunzipped(bytes: Buffer, name: string): Buffer {
    try {
      return gunzipped(bytes, this.#limits.maxBytes)
    } catch (cause) {
      const why = errorMessage(cause)
      const other = why.includes('unexpected end') ? 'FileDamaged.cutOff' : 'FileDamaged.packed'
      const sentence = cause instanceof TooLarge ? 'FileDamaged.why' : other
      throw this.damaged(sentence, { name, part: 'the file', why }, { cause })
    }
  }

  /** @param bytes UTF-8 @param part what messages call them @throws VolctlError FileDamaged where they are no JSON object */
  parsed(bytes: Buffer, name: string, limits: Partial<JsonLimits>, part = 'the file') {
    if (bytes.length === 0) throw this.damaged('FileDamaged.empty', { name, part })
    let document: unknown
    try {
      document = parseJson(bytes, limits)
    } catch (cause) {
      // A document that begins as JSON and lacks its end was cut off on the way.
      const [head, tail] = [bytes.toString('latin1', 0, 100), bytes.toString('latin1', Math.max(0, bytes.length - 100))]
      const isCutOff = /^\s*\{/.test(head) && !/\}\s*$/.test(tail)
      const other = isCutOff ? 'FileDamaged.cutOff' : 'FileDamaged.notJson'
      const sentence = cause instanceof JsonLimitError ? 'FileDamaged.limit' : other
      throw this.damaged(sentence, { name, part, why: errorMessage(cause).slice(0, 120) }, { cause })
    }
    if (typeof document !== 'object' || document === null || Array.isArray(document))
      throw this.damaged('FileDamaged.notObject', { name, part })
    return document as Readonly<Record<string, unknown>>
  }

  /** @throws VolctlError FileDamaged */
  requireHead(document: Readonly<Record<string, unknown>>, name: string): void {
    for (const [field, wanted] of Object.entries({ kind: this.#kind, apiVersion: VERSION })) {
      const found = document[field]
      if (found !== wanted) throw this.damaged('FileDamaged.field', { name, field, found: shownField(found), wanted })
    }
  }

  /** @param at its place in the document @throws VolctlError FileDamaged */
  shaped<T>(shape: Shape<T>, value: unknown, name: string, at = ''): T {
    try {
      return shape(value, at)
    } catch (cause) {
      if (cause instanceof ShapeError) throw this.damaged('FileDamaged.why', { name, why: cause.message }, { cause })
      throw cause
    }
  }
}

// The bytes of a snapshot. A snapshot is data, not an order: it may belong to any user, and links to it are followed. But it
// is limited in bytes and, through a pipe that this process was given, in time (S34); no device and no named pipe is opened.

interface SourceLimits {
  readonly maxBytes: number
  /** How long a pipe may take to its end. */
  readonly pipeMs: number
}

interface Source {
  readonly bytes: Buffer
  /** The bytes came in pieces, which take as much memory again until they are garbage-collected. */
  readonly pieces: boolean
}

/** A field of the document, for a message. */
export function shownField(value: unknown): string {
  if (value === undefined) return 'missing'
  return typeof value === 'object' ? 'not a string' : JSON.stringify(value).slice(0, 60)
}

/** The snapshot came through a pipe that did not end in time. */
class TooSlow extends Error {}

/**
 * @param path a file, or "-" or another name for a descriptor of this process
 * @throws TooSlow, TooLarge, what the system says, or that it is no plain file
 */
export async function readSource(path: string, limits: SourceLimits): Promise<Source> {
  const own = ownDescriptor(path)
  if (own !== undefined) return readDescriptor(own === 0 ? io().stdin.fd : own, limits)
  return closing(openData(path, requirePlain), (fd) => inOnePiece(fd, limits))
}

async function readDescriptor(fd: number, limits: SourceLimits): Promise<Source> {
  const stats = fstatSync(fd)
  if (isatty(fd)) throw new Error('a terminal, not a file')
  // Standard input may be a socket, too.
  if (stats.isFIFO() || stats.isSocket()) return readPipe(fd, limits)
  requirePlain(stats)
  return inOnePiece(fd, limits)
}

function inOnePiece(fd: number, { maxBytes }: SourceLimits): Source {
  return { bytes: readToLimit(fd, maxBytes), pieces: false }
}

function requirePlain(stats: Stats): void {
  if (stats.isFile()) return
  const kind = kindOf(stats)
  throw new Error(kind === 'a file' ? 'not a plain file' : `${kind}, not a plain file`)
}

/** The descriptor is closed at the end. */
async function readPipe(fd: number, { maxBytes, pipeMs }: SourceLimits): Promise<Source> {
  const stream = closingOnError(fd, (own) => new Socket({ fd: own, readable: true, writable: false }))
  const signal = AbortSignal.timeout(pipeMs)
  try {
    return { bytes: await collect(stream, { maxBytes, signal }), pieces: true }
  } catch (error) {
    if (!signal.aborted) throw error
    throw new TooSlow(`the data did not end within ${pipeMs / 1000} s`, { cause: error })
  }
}

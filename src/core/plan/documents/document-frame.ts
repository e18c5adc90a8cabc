/** What volctl's own documents have in common when they are read: their bytes, what they say that they are, and one line for a defect. */
import { fstatSync, type Stats } from 'node:fs'
import { Socket } from 'node:net'
import { isatty } from 'node:tty'
import { ownDescriptor } from '../../linux/paths.ts'
import type { ErrorCode } from '../../messages/codes.ts'
import { unreadText } from '../../messages/disk-trouble.ts'
import { closing, closingOnError, errorMessage, isMissing, VolctlError } from '../../messages/errors.ts'
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
    again: 'Take the snapshot again: volctl snapshot -o FILE',
    other: 'it is of a cluster, not of a node',
    hint: 'Plan the cluster with: volctl plan --cluster --snapshot FILE; or take one of this node: volctl snapshot -o FILE',
  },
  ClusterSnapshot: {
    subject: 'cluster snapshot',
    again: 'Take the snapshot again: volctl snapshot --cluster -o FILE',
    other: 'it is of a node, not of a cluster',
    hint: 'Leave out --cluster; or take one of the cluster: volctl snapshot --cluster -o FILE',
  },
  Plan: { subject: 'plan file', again: 'Save the plan again: volctl plan --out FILE' },
} as const

/** What a snapshot is of, by its beginning: it may be one document, in many lines, or a document in each line. */
const SNAPSHOT = /^\s*\{\s*"apiVersion"\s*:\s*"[^"]*"\s*,\s*"kind"\s*:\s*"(NodeSnapshot|ClusterSnapshot)"/

interface Defect {
  /** Absent: FileDamaged. */
  readonly code?: ErrorCode
  /** Absent: how to take or save another. */
  readonly hint?: string
  readonly cause?: unknown
}

export class DocumentFrame {
  readonly #kind: keyof typeof KINDS
  readonly #limits: SourceLimits

  constructor(kind: keyof typeof KINDS, limits: SourceLimits) {
    this.#kind = kind
    this.#limits = limits
  }

  /** The error of a document that cannot be used. @param name what messages call it */
  damaged(name: string, why: string, { code = 'FileDamaged', cause, ...defect }: Defect = {}): VolctlError {
    const { subject, again } = KINDS[this.#kind]
    return new VolctlError({ code, message: `${subject} ${name}: ${why}` }, { hint: again, ...defect, cause })
  }

  /** The error of a document that could not be written. */
  notWritten(
    name: string,
    cause: unknown,
    hint = 'Give a plain file in an existing, writable directory with free space.',
  ) {
    const why = isMissing(cause) ? 'no such directory' : unreadText(cause)
    return this.damaged(name, why, { code: 'NotWritten', hint, cause })
  }

  /** @throws VolctlError FileDamaged, FileUnreadable */
  async read(path: string, name = path, pipeMs = this.#limits.pipeMs): Promise<Source> {
    try {
      return await readSource(path, { ...this.#limits, pipeMs })
    } catch (cause) {
      if (cause instanceof TooLarge) throw this.damaged(name, cause.message, { cause })
      const isStream = path === '-' || cause instanceof TooSlow
      const hint = isStream ? 'Save it to a file first, and give that file.' : undefined
      throw this.damaged(name, unreadText(cause), { code: 'FileUnreadable', hint, cause })
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
    throw this.damaged(name, own.other, { hint: own.hint })
  }

  #gunzipped(bytes: Buffer, name: string): Buffer {
    try {
      return gunzipped(bytes, this.#limits.maxBytes)
    } catch (cause) {
      if (cause instanceof TooLarge) throw this.damaged(name, cause.message, { cause })
      const cutOff = errorMessage(cause).includes('unexpected end')
      const why = cutOff ? 'the file is cut off' : `the file cannot be decompressed: ${errorMessage(cause)}`
      throw this.damaged(name, why, { cause })
    }
  }

  /** @param bytes UTF-8 @param part what messages call them @throws VolctlError FileDamaged where they are no JSON object */
  parsed(bytes: Buffer, name: string, limits: Partial<JsonLimits>, part = 'the file') {
    const no = (why: string, cause?: unknown): VolctlError => this.damaged(name, `${part} ${why}`, { cause })
    if (bytes.length === 0) throw no('is empty')
    let document: unknown
    try {
      document = parseJson(bytes, limits)
    } catch (cause) {
      if (cause instanceof JsonLimitError) throw no(cause.message, cause)
      // A document that begins as JSON and lacks its end was cut off on the way.
      const [head, tail] = [bytes.toString('latin1', 0, 100), bytes.toString('latin1', Math.max(0, bytes.length - 100))]
      if (/^\s*\{/.test(head) && !/\}\s*$/.test(tail)) throw no('is cut off', cause)
      throw no(`is not JSON: ${errorMessage(cause).slice(0, 120)}`, cause)
    }
    if (typeof document !== 'object' || document === null || Array.isArray(document)) throw no('is not a JSON object')
    return document as Readonly<Record<string, unknown>>
  }

  /** @throws VolctlError FileDamaged */
  requireHead({ apiVersion, kind }: Readonly<Record<string, unknown>>, name: string): void {
    if (kind !== this.#kind) throw this.damaged(name, `kind is ${shownField(kind)}, not ${this.#kind}`)
    if (apiVersion !== VERSION)
      throw this.damaged(name, `apiVersion is ${shownField(apiVersion)}; this volctl reads ${VERSION}`)
  }

  /** @param place the message begins with it @throws VolctlError FileDamaged */
  shaped<T>(shape: Shape<T>, value: unknown, name: string, { place = '', at = '' } = {}): T {
    try {
      return shape(value, at)
    } catch (cause) {
      if (cause instanceof ShapeError) throw this.damaged(name, `${place}${cause.message}`, { cause })
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

/** The snapshot cannot be read; the message says why. */
class Unreadable extends Error {}

/** A field of the document, for a message. */
export function shownField(value: unknown): string {
  if (value === undefined) return 'missing'
  return typeof value === 'object' ? 'not a string' : JSON.stringify(value).slice(0, 60)
}

/** The snapshot came through a pipe that did not end in time. */
class TooSlow extends Error {}

/**
 * @param path a file, or "-" or another name for a descriptor of this process
 * @throws Unreadable, TooSlow, TooLarge, or what the system says
 */
export async function readSource(path: string, limits: SourceLimits): Promise<Source> {
  const own = ownDescriptor(path)
  if (own !== undefined) return readDescriptor(own === 0 ? io().stdin.fd : own, limits)
  return closing(openData(path, requirePlain), (fd) => inOnePiece(fd, limits))
}

async function readDescriptor(fd: number, limits: SourceLimits): Promise<Source> {
  const stats = fstatSync(fd)
  if (isatty(fd)) throw new Unreadable('a terminal, not a file')
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
  throw new Unreadable(kind === 'a file' ? 'not a plain file' : `${kind}, not a plain file`)
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

/** What volctl's own documents have in common when they are read: their bytes, what they say that they are, and one line for a defect. */

import { errorMessage, VolctlError } from '../../base/errors.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import { unreadText } from '../../linux/disk-trouble.ts'
import type { ErrorCode } from '../../messages/codes.ts'
import { gunzipped, isGzip } from '../../trust/bytes.ts'
import { parseDocument, shownField } from '../../trust/parse-document.ts'
import type { JsonLimits } from '../../trust/parse-json.ts'
import { TooLarge } from '../../trust/plain-files.ts'
import { type Shape, ShapeError } from '../../trust/shape.ts'
import { readSource, type Source, type SourceLimits, TooSlow } from './read-source.ts'

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
  readonly hint?: string | undefined
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
    return new VolctlError(code, `${subject} ${name}: ${why}`, { hint: again, ...defect, ...omitUndefined({ cause }) })
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

  /** @param part what messages call these bytes @throws VolctlError FileDamaged where they are no JSON object */
  parsed(bytes: Buffer, name: string, limits: Partial<JsonLimits>, part?: string): Readonly<Record<string, unknown>> {
    const parsed = parseDocument(bytes, limits, part)
    if ('defect' in parsed) throw this.damaged(name, parsed.defect, { cause: parsed.cause })
    return parsed.document
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

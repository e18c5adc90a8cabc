/** What a snapshot of a node and one of a cluster have in common: their bytes, what they say that they are, and one line for a defect. */

import { errorMessage, VolctlError } from '../../base/errors.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import { unreadText } from '../../linux/disk-trouble.ts'
import type { ErrorCode } from '../../messages/codes.ts'
import { gunzipped, isGzip } from '../../trust/bytes.ts'
import { shownField } from '../../trust/parse-document.ts'
import { TooLarge } from '../../trust/plain-files.ts'
import { type Shape, ShapeError } from '../../trust/shape.ts'
import { readSource, type Source, type SourceLimits, TooSlow } from './read-source.ts'

const VERSION = 'volctl.io/v1'

const KINDS = {
  NodeSnapshot: {
    subject: 'snapshot',
    command: 'volctl snapshot -o FILE',
    other: 'it is of a cluster, not of a node',
    hint: 'Plan the cluster with: volctl plan --cluster --snapshot FILE; or take one of this node: volctl snapshot -o FILE',
  },
  ClusterSnapshot: {
    subject: 'cluster snapshot',
    command: 'volctl snapshot --cluster -o FILE',
    other: 'it is of a node, not of a cluster',
    hint: 'Leave out --cluster; or take one of the cluster: volctl snapshot --cluster -o FILE',
  },
} as const

type SnapshotKind = keyof typeof KINDS

/** What a snapshot is of, by its beginning: it may be one document, in many lines, or a document in each line. */
const KIND = new RegExp(
  `^\\s*\\{\\s*"apiVersion"\\s*:\\s*"[^"]*"\\s*,\\s*"kind"\\s*:\\s*"(${Object.keys(KINDS).join('|')})"`,
)

const SAVE_FIRST = 'Save the snapshot to a file first, and give that file.'

export class SnapshotFrame {
  readonly #kind: SnapshotKind
  readonly #limits: SourceLimits

  constructor(kind: SnapshotKind, limits: SourceLimits) {
    this.#kind = kind
    this.#limits = limits
  }

  /** The error of a snapshot that cannot be used. Without a hint it says how to take another. */
  damaged(name: string, code: ErrorCode, why: string, hint?: string, cause?: unknown): VolctlError {
    const { subject, command } = KINDS[this.#kind]
    const again = `Take the snapshot again: ${command}`
    return new VolctlError(code, `${subject} ${name}: ${why}`, { hint: hint ?? again, ...omitUndefined({ cause }) })
  }

  /** @throws VolctlError FileDamaged, FileUnreadable */
  async read(path: string, pipeMs = this.#limits.pipeMs): Promise<Source> {
    try {
      return await readSource(path, { ...this.#limits, pipeMs })
    } catch (error) {
      if (error instanceof TooLarge) throw this.damaged(path, 'FileDamaged', error.message, undefined, error)
      if (error instanceof TooSlow) throw this.damaged(path, 'FileUnreadable', error.message, SAVE_FIRST, error)
      throw this.damaged(path, 'FileUnreadable', unreadText(error), 'Check the path.', error)
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
    const kind = KIND.exec(plain.toString('latin1', 0, 200))?.[1]
    if (kind === undefined || kind === this.#kind) return plain
    const { other, hint } = KINDS[this.#kind]
    throw this.damaged(name, 'FileDamaged', other, hint)
  }

  #gunzipped(bytes: Buffer, name: string): Buffer {
    try {
      return gunzipped(bytes, this.#limits.maxBytes)
    } catch (error) {
      if (error instanceof TooLarge) throw this.damaged(name, 'FileDamaged', error.message, undefined, error)
      const cutOff = errorMessage(error).includes('unexpected end')
      const why = cutOff ? 'the file is cut off' : `the file cannot be decompressed: ${errorMessage(error)}`
      throw this.damaged(name, 'FileDamaged', why, undefined, error)
    }
  }

  /** @throws VolctlError FileDamaged */
  requireHead({ apiVersion, kind }: Readonly<Record<string, unknown>>, name: string): void {
    if (kind !== this.#kind) {
      const hint = `Write one with: ${KINDS[this.#kind].command}`
      throw this.damaged(name, 'FileDamaged', `kind is ${shownField(kind)}, not ${this.#kind}`, hint)
    }
    if (apiVersion !== VERSION) {
      const why = `apiVersion is ${shownField(apiVersion)}; this volctl reads ${VERSION}`
      const hint = 'Use the volctl that wrote it, or write a new snapshot with this one.'
      throw this.damaged(name, 'FileDamaged', why, hint)
    }
  }

  /** @param place the message begins with it @throws VolctlError FileDamaged */
  shaped<T>(shape: Shape<T>, value: unknown, name: string, { place = '', at = '' } = {}): T {
    try {
      return shape(value, at)
    } catch (error) {
      if (error instanceof ShapeError) throw this.damaged(name, 'FileDamaged', `${place}${error.message}`)
      throw error
    }
  }
}

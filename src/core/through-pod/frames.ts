/**
 * How the answer of a command comes out of a Pod. A log has no separate streams, only lines, and may lack its beginning or its
 * end. So volctl in the Pod prints numbered lines, each with a piece of one stream, and at the end the exit status:
 *
 *   0 start H4sI…      the version of volctl, as text
 *   1 out H4sI…        gzip in base64, of at most PIECE bytes
 *   2 err H4sI…
 *   3 end H4sI…        the exit status, as text
 *
 * A log may be read again after a broken connection: what was taken already is skipped by its number.
 */
import { gzipSync } from 'node:zlib'
import { gunzipped } from '../trust/unpack.ts'

export const CHANNELS = ['start', 'out', 'err', 'end'] as const
export type Channel = (typeof CHANNELS)[number]

export interface Frame {
  readonly channel: Channel
  readonly bytes: Buffer
}

/** JSON of this size becomes a line that runtimes store in one part (16 KiB). */
const PIECE = 64 * 1024
/** In base64, what does not compress: longer lines are not from volctl. */
const MAX_LINE = 2 * PIECE
/** Of a text that is no frame, for the message. */
const MAX_FOREIGN = 2000

/** Writes frames. */
export class FrameWriter {
  #next = 0
  readonly #write: (line: string) => void

  constructor(write: (line: string) => void) {
    this.#write = write
  }

  send(channel: Channel, bytes: Buffer): void {
    for (let at = 0; at === 0 || at < bytes.length; at += PIECE) {
      const packed = gzipSync(bytes.subarray(at, at + PIECE))
      this.#write(`${this.#next} ${channel} ${packed.toString('base64')}\n`)
      this.#next += 1
    }
  }
}

/** A line of the log is missing, or is longer than any that volctl writes. */
export class BrokenFrames extends Error {}

/** Reads frames from the pieces of a log, each once. */
export class FrameReader {
  #next = 0
  #partial = ''
  #foreign = ''

  /** What was printed by something other than volctl: the shell or the runtime, or a volctl that knows no frames. */
  get foreign(): string {
    return this.#foreign.trim()
  }

  /** Whether volctl itself has begun to answer. */
  get begun(): boolean {
    return this.#next > 0
  }

  /** The log is read again from its beginning. */
  restart(): void {
    this.#partial = ''
  }

  /** @throws BrokenFrames */
  take(piece: string): Frame[] {
    const lines = (this.#partial + piece).split('\n')
    this.#partial = lines.pop() ?? ''
    if (this.#partial.length > MAX_LINE) throw new BrokenFrames('a line of the log is too long')
    return lines.flatMap((line) => this.#frame(line) ?? [])
  }

  #frame(line: string): Frame | undefined {
    const [, number, name, packed = ''] =
      /^(\d{1,9}) (start|out|err|end) ([A-Za-z0-9+/]+=*)$/.exec(line.trimEnd()) ?? []
    const channel = CHANNELS.find((each) => each === name)
    if (channel === undefined) {
      if (this.#foreign.length < MAX_FOREIGN) this.#foreign += `${line.slice(0, MAX_FOREIGN)}\n`
      return undefined
    }
    if (Number(number) < this.#next) return undefined
    if (Number(number) > this.#next) throw new BrokenFrames('lines of the log are missing')
    this.#next += 1
    try {
      return { channel, bytes: gunzipped(Buffer.from(packed, 'base64'), PIECE) }
    } catch (cause) {
      throw new BrokenFrames('a line of the log is damaged', { cause })
    }
  }
}

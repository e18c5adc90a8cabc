/**
 * The bytes of a snapshot. A snapshot is data, not an order: it may belong to any user, and links to it are followed. But it
 * is limited in bytes and, through a pipe, in time (S34); and no device is opened.
 */
import { closeSync, fstatSync, readSync, type Stats } from 'node:fs'
import { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { errnoOf } from '../../base/errors.ts'
import { ownDescriptor } from '../../linux/paths.ts'
import { collect } from '../../trust/bytes.ts'
import { kindOf } from '../../trust/files.ts'
import { openData, readToLimit } from '../../trust/plain-files.ts'
import { io } from '../../trust/run.ts'

export interface SourceLimits {
  readonly maxBytes: number
  /** How long a pipe may take from the first look at it to its end. */
  readonly pipeMs: number
}

export interface Source {
  readonly bytes: Buffer
  /** The bytes came in pieces, which take as much memory again until they are garbage-collected. */
  readonly pieces: boolean
}

/** The snapshot cannot be read; the message says why. */
export class Unreadable extends Error {}

/** The snapshot came through a pipe that did not end in time. */
export class TooSlow extends Error {}

/**
 * @param path a file, or "-" or another name for a descriptor of this process
 * @throws Unreadable, TooSlow, TooLarge, or what the system says
 */
export async function readSource(path: string, limits: SourceLimits): Promise<Source> {
  const own = ownDescriptor(path, 0)
  if (own !== undefined) return readDescriptor(own === 0 ? io().stdin.fd : own, limits)
  const { fd, stats } = openData(path, requireReadable)
  if (stats.isFIFO()) return readPipe(fd, limits, firstOf)
  try {
    return inOnePiece(fd, limits)
  } finally {
    closeSync(fd)
  }
}

async function readDescriptor(fd: number, limits: SourceLimits): Promise<Source> {
  const stats = fstatSync(fd)
  if (isatty(fd)) throw new Unreadable('a terminal, not a file')
  // Standard input may be a socket, too.
  if (stats.isFIFO() || stats.isSocket()) return readPipe(fd, limits)
  requireReadable(stats)
  return inOnePiece(fd, limits)
}

function inOnePiece(fd: number, { maxBytes }: SourceLimits): Source {
  return { bytes: readToLimit(fd, maxBytes), pieces: false }
}

function requireReadable(stats: Stats): void {
  if (stats.isFile() || stats.isFIFO()) return
  const kind = kindOf(stats)
  throw new Unreadable(kind === 'a file' ? 'not a plain file' : `${kind}, not a plain file`)
}

/** @param before waits until somebody writes; the bytes it has read come first. The descriptor is closed at the end. */
async function readPipe(
  fd: number,
  { maxBytes, pipeMs }: SourceLimits,
  before?: (fd: number, signal: AbortSignal) => Promise<Buffer>,
): Promise<Source> {
  const signal = AbortSignal.timeout(pipeMs)
  let stream: Socket | undefined
  try {
    const first = await before?.(fd, signal)
    stream = new Socket({ fd, readable: true, writable: false })
    if (first !== undefined && first.length > 0) stream.unshift(first)
    return { bytes: await collect(stream, { maxBytes, signal }), pieces: true }
  } catch (error) {
    if (stream === undefined) closeSync(fd)
    if (!signal.aborted) throw error
    const time = `within ${pipeMs / 1000} s`
    throw new TooSlow(
      stream === undefined ? `nothing was written to the pipe ${time}` : `the data did not end ${time}`,
      { cause: error },
    )
  }
}

const LOOK_AGAIN_MS = 10
const FIRST_BYTES = 64 * 1024

/**
 * A non-blocking read of a FIFO that nobody has opened for writing yet returns its end: it is read again until there is a
 * writer. An end without a single byte counts as that.
 *
 * @returns the first bytes; none if there is a writer that has written nothing yet
 */
async function firstOf(fd: number, signal: AbortSignal): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(FIRST_BYTES)
  for (;;) {
    const length = readAtOnce(fd, buffer)
    if (length === undefined) return Buffer.alloc(0)
    if (length > 0) return buffer.subarray(0, length)
    await setTimeout(LOOK_AGAIN_MS, undefined, { signal })
  }
}

function readAtOnce(fd: number, buffer: Buffer): number | undefined {
  try {
    return readSync(fd, buffer, 0, buffer.length, null)
  } catch (error) {
    if (errnoOf(error) === 'EAGAIN') return undefined
    throw error
  }
}

/**
 * A log from a file or from standard input, read in pieces. It is data, not an order: anybody's, with links followed; no device
 * is opened. What does not end in time (journalctl -f) is answered by what has come until then.
 */
import { closeSync, fstatSync, readSync, type Stats } from 'node:fs'
import { Socket } from 'node:net'
import { isatty } from 'node:tty'
import { VolctlError } from '../errors/errors.ts'
import { unreadText } from '../files/disk-trouble.ts'
import { ownDescriptor } from '../files/own-descriptor.ts'
import { kindOf } from '../trust/files.ts'
import { openData } from '../trust/plain-files.ts'
import { type LogTail, LogTailReader } from './log-tail.ts'

export interface LogLimits {
  /** The last lines, which are explained. */
  readonly maxLines: number
  /** How long a pipe may take from its beginning to its end. */
  readonly pipeMs: number
}

export interface ReadLog extends LogTail {
  /** The end of the log was not reached in time. */
  readonly unfinished: boolean
}

/** A minute of it is enough: a script that waits for an answer gets one. */
export const LOG_LIMITS: LogLimits = { maxLines: 50_000, pipeMs: 60_000 }

const CHUNK_BYTES = 256 * 1024

/**
 * @param path a file, or "-" for standard input
 * @throws VolctlError FileUnreadable
 */
export async function readLog(path: string, limits: LogLimits = LOG_LIMITS): Promise<ReadLog> {
  const name = path === '-' ? 'standard input' : path
  try {
    const own = ownDescriptor(path, 0)
    if (own !== undefined) return await readDescriptor(own, limits)
    return readFile(openData(path, requireReadable).fd, limits)
  } catch (error) {
    throw unreadable(name, error)
  }
}

class NoLog extends Error {}

async function readDescriptor(fd: number, limits: LogLimits): Promise<ReadLog> {
  if (isatty(fd)) throw new NoLog('it is a terminal')
  const stats = fstatSync(fd)
  if (stats.isFIFO() || stats.isSocket()) return await readPipe(fd, limits)
  requireReadable(stats)
  return readFile(fd, limits)
}

function requireReadable(stats: Stats): void {
  if (!stats.isFile()) throw new NoLog(`it is ${kindOf(stats)}, not a plain file`)
}

/** The descriptor is closed. */
function readFile(fd: number, { maxLines }: LogLimits): ReadLog {
  const tail = new LogTailReader(maxLines)
  const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  try {
    for (let length = readSync(fd, chunk); length > 0; length = readSync(fd, chunk)) tail.add(chunk.subarray(0, length))
    return { ...tail.end(), unfinished: false }
  } finally {
    closeSync(fd)
  }
}

/** The descriptor is closed. */
async function readPipe(fd: number, { maxLines, pipeMs }: LogLimits): Promise<ReadLog> {
  const tail = new LogTailReader(maxLines)
  const signal = AbortSignal.timeout(pipeMs)
  const stream = new Socket({ fd, readable: true, writable: false })
  const stop = (): void => void stream.destroy()
  signal.addEventListener('abort', stop, { once: true })
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) tail.add(piece)
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', stop)
    stream.destroy()
  }
  return { ...tail.end(), unfinished: signal.aborted }
}

function unreadable(name: string, error: unknown): VolctlError {
  const why = error instanceof NoLog ? error.message : unreadText(error)
  return new VolctlError('FileUnreadable', `log ${name}: ${why}`, {
    cause: error,
    hint: 'Give a plain file; or: journalctl -u kubelet | volctl explain --log -',
  })
}

/** The FUSE messages of the tests' file systems, protocol 7.31: numbers, the structures that are sent and received, and who answers. */
import { spawnSync } from 'node:child_process'
import { type BigIntStats, type Dirent, openSync, readSync, writeSync } from 'node:fs'

/** Requests that one of them knows; others are answered with ENOSYS. */
const OPCODES = {
  LOOKUP: 1,
  FORGET: 2,
  GETATTR: 3,
  SETATTR: 4,
  READLINK: 5,
  SYMLINK: 6,
  MKNOD: 8,
  MKDIR: 9,
  UNLINK: 10,
  RMDIR: 11,
  RENAME: 12,
  OPEN: 14,
  READ: 15,
  WRITE: 16,
  STATFS: 17,
  RELEASE: 18,
  FSYNC: 20,
  FLUSH: 25,
  INIT: 26,
  OPENDIR: 27,
  READDIR: 28,
  RELEASEDIR: 29,
  FSYNCDIR: 30,
  CREATE: 35,
  INTERRUPT: 36,
  BATCH_FORGET: 42,
  RENAME2: 45,
} as const

export type Op = keyof typeof OPCODES

const NAMES = new Map<number, Op>(Object.entries(OPCODES).map(([name, code]) => [code, name as Op]))

/** Size of struct fuse_in_header, and of struct fuse_out_header. */
const HEADER_IN = 40
const HEADER_OUT = 16

/** One request, in the buffer that it was received in. */
export class Request {
  readonly op: Op | undefined
  readonly unique: bigint
  readonly node: bigint
  readonly #body: Buffer

  constructor(message: Buffer) {
    this.op = NAMES.get(message.readUInt32LE(4))
    this.unique = message.readBigUInt64LE(8)
    this.node = message.readBigUInt64LE(16)
    this.#body = message.subarray(HEADER_IN)
  }

  u32(offset: number): number {
    return this.#body.readUInt32LE(offset)
  }

  u64(offset: number): bigint {
    return this.#body.readBigUInt64LE(offset)
  }

  bytes(offset: number, length: number): Buffer {
    return this.#body.subarray(offset, offset + length)
  }

  /** Names that end in NUL, one after another from this offset on. */
  names(offset: number): string[] {
    const text = this.#body.subarray(offset).toString('latin1')
    return text
      .split('\0')
      .slice(0, -1)
      .map((name) => Buffer.from(name, 'latin1').toString())
  }
}

/**
 * Mounts a file system, prints "ready", and answers its requests until its last mount is gone or its connection is aborted.
 *
 * @param answer the body of the answer, or an errno; undefined: there is none
 */
export function serve(
  name: string,
  mountPoint: string,
  maxWrite: number,
  answer: (request: Request) => Buffer | number | undefined,
): void {
  const device = openSync('/dev/fuse', 'r+')
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0,allow_other'
  const { status, stderr } = spawnSync('mount', ['-i', '-t', 'fuse', '-o', options, name, mountPoint], {
    stdio: ['ignore', 'pipe', 'pipe', device],
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`mount -t fuse: ${stderr}`)
  const buffer = Buffer.alloc(maxWrite + 4096)
  writeSync(1, 'ready\n')
  for (let length = receive(device, buffer); length !== undefined; length = receive(device, buffer)) {
    const request = new Request(buffer.subarray(0, length))
    const result = answer(request)
    if (result !== undefined) send(device, answerTo(request, result))
  }
}

/** Undefined: the connection is closed. */
function receive(device: number, buffer: Buffer): number | undefined {
  try {
    return readSync(device, buffer)
  } catch (error) {
    const { code } = error as { code?: string }
    return code === 'EINTR' || code === 'EAGAIN' || code === 'ENOENT' ? receive(device, buffer) : undefined
  }
}

function send(device: number, message: Buffer): void {
  try {
    writeSync(device, message)
  } catch {
    // The caller was interrupted, and no longer waits.
  }
}

/** @param result the body of the answer, or an errno */
function answerTo({ unique }: Request, result: Buffer | number): Buffer {
  const body = typeof result === 'number' ? Buffer.alloc(0) : result
  const header = Buffer.alloc(HEADER_OUT)
  header.writeUInt32LE(HEADER_OUT + body.length, 0)
  header.writeInt32LE(typeof result === 'number' ? -result : 0, 4)
  header.writeBigUInt64LE(unique, 8)
  return Buffer.concat([header, body])
}

/** struct fuse_init_out */
export function initOut(maxWrite: number): Buffer {
  const body = Buffer.alloc(64)
  body.writeUInt32LE(7, 0)
  body.writeUInt32LE(31, 4)
  body.writeUInt32LE(maxWrite, 20)
  return body
}

/** The kernel caches names: if a name's next look-up failed, it would detach the mounts on it. */
const ENTRY_SECONDS = 3600n

/** struct fuse_entry_out */
export function entryOut(node: bigint, stat: BigIntStats): Buffer {
  const body = Buffer.alloc(40)
  body.writeBigUInt64LE(node, 0)
  body.writeBigUInt64LE(ENTRY_SECONDS, 16)
  return Buffer.concat([body, attributes(stat)])
}

/** struct fuse_attr_out: nothing is cached, so that every look asks. */
export function attrOut(stat: Attributes): Buffer {
  return Buffer.concat([Buffer.alloc(16), attributes(stat)])
}

const FOPEN_DIRECT_IO = 1

/** struct fuse_open_out, past the kernel's cache of pages */
export function openOut(handle: number): Buffer {
  const body = Buffer.alloc(16)
  body.writeBigUInt64LE(BigInt(handle), 0)
  body.writeUInt32LE(FOPEN_DIRECT_IO, 8)
  return body
}

/** struct fuse_write_out */
export function writeOut(size: number): Buffer {
  const body = Buffer.alloc(8)
  body.writeUInt32LE(size, 0)
  return body
}

type Attributes = Record<
  'ino' | 'size' | 'blocks' | 'atimeNs' | 'mtimeNs' | 'ctimeNs' | 'mode' | 'nlink' | 'uid' | 'gid' | 'rdev',
  bigint
>

/** struct fuse_attr */
function attributes(stat: Attributes): Buffer {
  const body = Buffer.alloc(88)
  const wide = [
    stat.ino,
    stat.size,
    stat.blocks,
    ...[stat.atimeNs, stat.mtimeNs, stat.ctimeNs].map((time) => time / BILLION),
  ]
  const narrow = [
    ...[stat.atimeNs, stat.mtimeNs, stat.ctimeNs].map((time) => time % BILLION),
    ...[stat.mode, stat.nlink, stat.uid, stat.gid, stat.rdev, 4096n],
  ]
  for (const [index, value] of wide.entries()) body.writeBigUInt64LE(value, index * 8)
  for (const [index, value] of narrow.entries()) body.writeUInt32LE(Number(value), 48 + index * 4)
  return body
}

const BILLION = 1_000_000_000n

/** struct fuse_dirent, padded; the offset is that of the next one. */
export function dirent(entry: Dirent, ino: bigint, next: number): Buffer {
  const name = Buffer.from(entry.name)
  const body = Buffer.alloc((24 + name.length + 7) & ~7)
  body.writeBigUInt64LE(ino, 0)
  body.writeBigUInt64LE(BigInt(next), 8)
  body.writeUInt32LE(name.length, 16)
  body.writeUInt32LE(typeOf(entry), 20)
  name.copy(body, 24)
  return body
}

/** DT_DIR, DT_LNK, DT_SOCK, DT_REG */
function typeOf(entry: Dirent): number {
  if (entry.isDirectory()) return 4
  if (entry.isSymbolicLink()) return 10
  return entry.isSocket() ? 12 : 8
}

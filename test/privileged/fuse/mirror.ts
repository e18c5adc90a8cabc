/**
 * A FUSE file system that shows a directory, and fails chosen requests, as a separate program:
 *
 *     mirror.ts MOUNTPOINT DIRECTORY ORDERS
 *
 * ORDERS is a directory with the faults (see faults.ts). It prints "ready", and ends when its last mount is gone or its
 * connection is aborted.
 */
import { spawnSync } from 'node:child_process'
import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  lchownSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { posix } from 'node:path'
import { ERRNO, Faults } from './faults.ts'
import { attrOut, dirent, entryOut, initOut, type Op, openOut, type Request, serve, writeOut } from './protocol.ts'

const [mountPoint = '', directory = '', orders = ''] = process.argv.slice(2)
const MAX_WRITE = 1 << 17
const RENAME_NOREPLACE = 1
const FATTR = { MODE: 1, UID: 2, GID: 4, SIZE: 8, TIMES: 16 | 32 | 128 | 256 }
const EMPTY = Buffer.alloc(0)

const ROOT = 1n

/** The kernel's names for the mirror's files: numbers, each for one path at a time. */
class Nodes {
  readonly #paths = new Map<bigint, string>([[ROOT, '']])
  readonly #numbers = new Map<string, bigint>([['', ROOT]])
  #last = ROOT

  /** Relative to the root, "" for the root itself; for a removed file that may still be open, its last path. */
  pathOf(node: bigint): string {
    return this.#paths.get(node) ?? ''
  }

  /** A path keeps its number as long as it exists: to the kernel, another number is another file. */
  numberOf(path: string): bigint {
    const known = this.#numbers.get(path)
    if (known !== undefined) return known
    const node = ++this.#last
    this.#paths.set(node, path)
    this.#numbers.set(path, node)
    return node
  }

  gone(path: string): void {
    this.#numbers.delete(path)
  }

  /** With everything below. */
  moved(from: string, to: string): void {
    this.gone(to)
    for (const [path, node] of [...this.#numbers]) {
      if (path !== from && !path.startsWith(`${from}/`)) continue
      const now = posix.join(to, path.slice(from.length))
      this.#numbers.delete(path)
      this.#numbers.set(now, node)
      this.#paths.set(node, now)
    }
  }
}

process.umask(0)
const nodes = new Nodes()
const faults = new Faults(orders)
serve('mirror', mountPoint, MAX_WRITE, answer)

/** The body of the answer, or an errno; undefined: nobody waits for one. */
function answer(request: Request): Buffer | number | undefined {
  const { op } = request
  if (op === 'FORGET' || op === 'BATCH_FORGET' || op === 'INTERRUPT') return undefined
  if (op === undefined) return ERRNO.ENOSYS
  if (op === 'INIT') return initOut(MAX_WRITE)
  const path = nodes.pathOf(request.node)
  try {
    const paths = pathsOf(op, request, path)
    return faults.strike(op, ...paths) ?? carryOut(op, request, path, paths)
  } catch (error) {
    const { errno } = error as { errno?: number }
    if (errno === undefined) throw error
    return -errno
  }
}

/** The paths of a request: most name one entry of a directory, a rename two. */
function pathsOf(op: Op, request: Request, path: string): readonly string[] {
  const below = (offset: number): string => posix.join(path, request.names(offset)[0] ?? '')
  switch (op) {
    case 'LOOKUP':
    case 'UNLINK':
    case 'RMDIR':
    case 'SYMLINK':
      return [below(0)]
    case 'MKDIR':
      return [below(8)]
    case 'MKNOD':
    case 'CREATE':
      return [below(16)]
    case 'RENAME':
    case 'RENAME2': {
      const [from = '', to = ''] = request.names(op === 'RENAME' ? 8 : 16)
      return [posix.join(path, from), posix.join(nodes.pathOf(request.u64(0)), to)]
    }
    default:
      return [path]
  }
}

function carryOut(op: Op, request: Request, path: string, [first = '', second = '']: readonly string[]) {
  const real = realOf(first)
  switch (op) {
    case 'LOOKUP':
      return entry(first)
    case 'GETATTR':
      return attrOut(lstat(path))
    case 'SETATTR':
      setAttributes(request, real)
      return attrOut(lstat(path))
    case 'READLINK':
      return Buffer.from(readlinkSync(real))
    case 'SYMLINK':
      symlinkSync(request.names(0)[1] ?? '', real)
      return entry(first)
    case 'MKNOD':
      makeNode(real, request.u32(0))
      return entry(first)
    case 'MKDIR':
      mkdirSync(real, request.u32(0))
      return entry(first)
    case 'UNLINK':
    case 'RMDIR':
      if (op === 'UNLINK') unlinkSync(real)
      else rmdirSync(real)
      nodes.gone(first)
      return EMPTY
    case 'RENAME':
    case 'RENAME2':
      if (op === 'RENAME2' && request.u32(8) === RENAME_NOREPLACE && isThere(second)) return ERRNO.EEXIST
      renameSync(real, realOf(second))
      nodes.moved(first, second)
      return EMPTY
    case 'CREATE': {
      const handle = openSync(real, request.u32(0), request.u32(4))
      return Buffer.concat([entry(first), openOut(handle)])
    }
    case 'OPEN':
      return openOut(openSync(real, (request.u32(0) & ~constants.O_NOFOLLOW) | constants.O_NONBLOCK))
    case 'READ':
      return read(request)
    case 'WRITE':
      return writeOut(
        writeSync(Number(request.u64(0)), request.bytes(40, request.u32(16)), 0, null, Number(request.u64(8))),
      )
    case 'OPENDIR':
      return openOut(0)
    case 'READDIR':
      return list(real, Number(request.u64(8)), request.u32(16))
    case 'RELEASE':
      closeSync(Number(request.u64(0)))
      return EMPTY
    case 'STATFS':
      return Buffer.alloc(80)
    case 'FLUSH':
    case 'FSYNC':
    case 'FSYNCDIR':
    case 'RELEASEDIR':
      return EMPTY
    default:
      return ERRNO.ENOSYS
  }
}

function realOf(path: string): string {
  return posix.join(directory, path)
}

function lstat(path: string): BigIntStats {
  return lstatSync(realOf(path), { bigint: true })
}

function isThere(path: string): boolean {
  return lstatSync(realOf(path), { throwIfNoEntry: false }) !== undefined
}

function entry(path: string): Buffer {
  const stat = lstat(path)
  return entryOut(nodes.numberOf(path), stat)
}

function setAttributes(request: Request, real: string): void {
  const valid = request.u32(0)
  const { uid, gid } = lstatSync(real)
  if (valid & (FATTR.UID | FATTR.GID))
    lchownSync(real, valid & FATTR.UID ? request.u32(76) : uid, valid & FATTR.GID ? request.u32(80) : gid)
  if (valid & FATTR.MODE) chmodSync(real, request.u32(68) & 0o7777)
  if (valid & FATTR.SIZE) truncateSync(real, Number(request.u64(16)))
  if (valid & FATTR.TIMES) lutimesSync(real, Number(request.u64(32)), Number(request.u64(40)))
}

/** An empty file, or a socket's name, by which the kernel finds the socket. */
function makeNode(real: string, mode: number): void {
  const listen =
    "require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))"
  if ((mode & constants.S_IFMT) === constants.S_IFSOCK) spawnSync(process.execPath, ['-e', listen, real])
  else closeSync(openSync(real, 'wx', mode & 0o7777))
}

function read(request: Request): Buffer {
  const bytes = Buffer.alloc(request.u32(16))
  return bytes.subarray(0, readSync(Number(request.u64(0)), bytes, 0, bytes.length, Number(request.u64(8))))
}

function list(real: string, offset: number, size: number): Buffer {
  const found: Buffer[] = []
  let length = 0
  for (const [index, each] of readdirSync(real, { withFileTypes: true }).entries()) {
    if (index < offset) continue
    const next = dirent(each, lstatSync(posix.join(real, each.name), { bigint: true }).ino, index + 1)
    length += next.length
    if (length > size) break
    found.push(next)
  }
  return Buffer.concat(found)
}

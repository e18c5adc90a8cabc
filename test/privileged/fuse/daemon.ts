/**
 * A FUSE file system with an empty root directory, as a separate program: `daemon.ts MODE MOUNTPOINT [FILE]`.
 *
 *     well  answers every request
 *     eio, estale  mounts well, and then answers every request with this error
 *     half  the same with ESTALE, but for what statfs(2) asks for
 *     unowned  answers every request but one for another owner or mode, and keeps that, which it says by a new FILE: the caller
 *           survives SIGKILL until the connection is aborted
 *     silent  takes every request and answers none, from when FILE is there on: the caller survives SIGKILL until the connection is
 *           aborted
 *
 * It prints "ready" and ends when its last mount is gone or its connection is aborted. To make it hang, stop it (SIGSTOP):
 * every call that needs an answer then waits for ever.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs'

/** Protocol 7.31: requests that it knows; others are answered with ENOSYS. */
const OPCODES = {
  LOOKUP: 1,
  FORGET: 2,
  GETATTR: 3,
  SETATTR: 4,
  STATFS: 17,
  INIT: 26,
  OPENDIR: 27,
  READDIR: 28,
  RELEASEDIR: 29,
  BATCH_FORGET: 42,
} as const

const NAMES = new Map<number, keyof typeof OPCODES>(
  Object.entries(OPCODES).map(([name, code]) => [code, name as keyof typeof OPCODES]),
)

const FATTR = { MODE: 1, GID: 4 }
const ERRNO = { ENOENT: 2, ENOSYS: 38 }
const FAILS: Readonly<Record<string, number>> = { eio: 5, estale: 116, half: 116 }

/** Size of struct fuse_in_header, and of struct fuse_out_header. */
const HEADER_IN = 40
const HEADER_OUT = 16

const MAX_WRITE = 4096

const [mode = 'well', path = '', file = '/'] = process.argv.slice(2)
const root = { mode: 0o40755, gid: 0 }

/** @returns the body of the answer, or an errno; undefined: there is none */
function answer(op: keyof typeof OPCODES | undefined, body: Buffer): Buffer | number | undefined {
  if (op === 'INIT') return initOut()
  if (mode === 'silent' && existsSync(file)) return undefined
  if (mode === 'unowned' && op === 'SETATTR') return void writeFileSync(file, '')
  if (op === 'FORGET' || op === 'BATCH_FORGET') return undefined
  if (FAILS[mode] !== undefined && !(mode === 'half' && op === 'STATFS')) return FAILS[mode]
  switch (op) {
    case 'SETATTR':
      change(body)
      return attrOut()
    case 'GETATTR':
      return attrOut()
    case 'LOOKUP':
      return ERRNO.ENOENT
    case 'STATFS':
      return Buffer.alloc(80)
    case 'OPENDIR':
      return Buffer.alloc(16)
    case 'READDIR':
    case 'RELEASEDIR':
      return Buffer.alloc(0)
    default:
      return ERRNO.ENOSYS
  }
}

/** struct fuse_setattr_in: the root keeps group and mode. */
function change(body: Buffer): void {
  const valid = body.readUInt32LE(0)
  if (valid & FATTR.MODE) root.mode = body.readUInt32LE(68)
  if (valid & FATTR.GID) root.gid = body.readUInt32LE(80)
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
function answerTo(unique: bigint, result: Buffer | number): Buffer {
  const body = typeof result === 'number' ? Buffer.alloc(0) : result
  const header = Buffer.alloc(HEADER_OUT)
  header.writeUInt32LE(HEADER_OUT + body.length, 0)
  header.writeInt32LE(typeof result === 'number' ? -result : 0, 4)
  header.writeBigUInt64LE(unique, 8)
  return Buffer.concat([header, body])
}

/** struct fuse_init_out */
function initOut(): Buffer {
  const body = Buffer.alloc(64)
  body.writeUInt32LE(7, 0)
  body.writeUInt32LE(31, 4)
  body.writeUInt32LE(MAX_WRITE, 20)
  return body
}

/** struct fuse_attr_out: nothing is cached, so that every look asks. */
function attrOut(): Buffer {
  const body = Buffer.alloc(104)
  body.writeBigUInt64LE(1n, 16)
  for (const [index, value] of [root.mode, 2, 0, root.gid, 0, 4096].entries())
    body.writeUInt32LE(value, 16 + 60 + index * 4)
  return body
}

const device = openSync('/dev/fuse', 'r+')
const { status, stderr } = spawnSync(
  'mount',
  ['-i', '-t', 'fuse', '-o', 'fd=3,rootmode=40000,user_id=0,group_id=0,allow_other', `test-${mode}`, path],
  { stdio: ['ignore', 'pipe', 'pipe', device], encoding: 'utf8' },
)
if (status !== 0) throw new Error(`mount -t fuse: ${stderr}`)
const buffer = Buffer.alloc(1 << 20)
writeSync(1, 'ready\n')
for (let length = receive(device, buffer); length !== undefined; length = receive(device, buffer)) {
  const result = answer(NAMES.get(buffer.readUInt32LE(4)), buffer.subarray(HEADER_IN, length))
  if (result !== undefined) send(device, answerTo(buffer.readBigUInt64LE(8), result))
}

/**
 * A FUSE file system with an empty root directory, as a separate program: `daemon.ts MODE MOUNTPOINT`.
 *
 *     well  answers every request
 *     eio   mounts well, and then answers every request with EIO
 *     unowned  answers every request but one for another owner or mode, and stops at that, holding it: the caller
 *           survives SIGKILL until the connection is aborted
 *     silent  takes every request and answers none: the caller survives SIGKILL until the connection is aborted
 *
 * It prints "ready" and ends when its last mount is gone or its connection is aborted. To make it hang, stop it (SIGSTOP):
 * every call that needs an answer then waits for ever.
 */
import { spawnSync } from 'node:child_process'
import { openSync, readSync, writeSync } from 'node:fs'

const OPCODE = {
  FORGET: 2,
  GETATTR: 3,
  SETATTR: 4,
  STATFS: 17,
  INIT: 26,
  OPENDIR: 27,
  READDIR: 28,
  RELEASEDIR: 29,
  BATCH_FORGET: 42,
}
const FATTR_MODE = 1
const FATTR_GID = 4
const EIO = 5
const ENOSYS = 38
const HEADER = 16
const HEADER_IN = 40

const [mode = 'well', path = ''] = process.argv.slice(2)
const device = openSync('/dev/fuse', 'r+')
const options = 'fd=3,rootmode=40000,user_id=0,group_id=0,allow_other'
const { status, stderr } = spawnSync('mount', ['-i', '-t', 'fuse', '-o', options, `test-${mode}`, path], {
  stdio: ['ignore', 'pipe', 'pipe', device],
  encoding: 'utf8',
})
if (status !== 0) throw new Error(`mount -t fuse: ${stderr}`)

const request = Buffer.alloc(1 << 20)
const root = { mode: 0o40755, gid: 0 }
writeSync(1, 'ready\n')
for (;;) {
  if (!receive()) break
  const opcode = request.readUInt32LE(4)
  if (mode === 'silent' && opcode !== OPCODE.INIT) continue
  if (mode === 'unowned' && opcode === OPCODE.SETATTR) continue
  if (opcode === OPCODE.FORGET || opcode === OPCODE.BATCH_FORGET) continue
  reply(request.readBigUInt64LE(8), answer(opcode))
}

/** False: the connection is closed. */
function receive(): boolean {
  try {
    readSync(device, request)
    return true
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'EINTR' || code === 'EAGAIN' || code === 'ENOENT') return receive()
    return false
  }
}

/** The body of the answer, or an errno. */
function answer(opcode: number): Buffer | number {
  if (opcode === OPCODE.INIT) return initialized()
  if (mode === 'eio') return EIO
  if (opcode === OPCODE.GETATTR) return rootAttributes()
  if (opcode === OPCODE.SETATTR) return changed()
  if (opcode === OPCODE.STATFS) return Buffer.alloc(80)
  if (opcode === OPCODE.OPENDIR) return Buffer.alloc(16)
  if (opcode === OPCODE.READDIR || opcode === OPCODE.RELEASEDIR) return Buffer.alloc(0)
  return ENOSYS
}

/** struct fuse_init_out, protocol 7.31 */
function initialized(): Buffer {
  const body = Buffer.alloc(64)
  body.writeUInt32LE(7, 0)
  body.writeUInt32LE(31, 4)
  body.writeUInt32LE(4096, 20)
  return body
}

/** struct fuse_setattr_in: the root keeps group and mode. */
function changed(): Buffer {
  const valid = request.readUInt32LE(HEADER_IN)
  if (valid & FATTR_MODE) root.mode = request.readUInt32LE(HEADER_IN + 68)
  if (valid & FATTR_GID) root.gid = request.readUInt32LE(HEADER_IN + 80)
  return rootAttributes()
}

/** struct fuse_attr_out of a directory; nothing is cached, so that every look asks. */
function rootAttributes(): Buffer {
  const body = Buffer.alloc(104)
  body.writeBigUInt64LE(1n, 16)
  body.writeUInt32LE(root.mode, 16 + 60)
  body.writeUInt32LE(2, 16 + 64)
  body.writeUInt32LE(root.gid, 16 + 72)
  return body
}

function reply(unique: bigint, result: Buffer | number): void {
  const body = typeof result === 'number' ? Buffer.alloc(0) : result
  const header = Buffer.alloc(HEADER)
  header.writeUInt32LE(HEADER + body.length, 0)
  header.writeInt32LE(typeof result === 'number' ? -result : 0, 4)
  header.writeBigUInt64LE(unique, 8)
  try {
    writeSync(device, Buffer.concat([header, body]))
  } catch {
    // The caller was interrupted, and no longer waits.
  }
}

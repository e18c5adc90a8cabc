/**
 * A FUSE file system with an empty root directory, as a separate program: `daemon.ts MODE MOUNTPOINT [FILE]`.
 *
 *     well  answers every request
 *     eio   mounts well, and then answers every request with EIO
 *     unowned  answers every request but one for another owner or mode, and stops at that, holding it: the caller
 *           survives SIGKILL until the connection is aborted
 *     silent  takes every request and answers none, from when FILE is there on: the caller survives SIGKILL until the connection is
 *           aborted
 *
 * It prints "ready" and ends when its last mount is gone or its connection is aborted. To make it hang, stop it (SIGSTOP):
 * every call that needs an answer then waits for ever.
 */
import { existsSync } from 'node:fs'
import { attrOut, initOut, type Request, serve } from './protocol.ts'

const FATTR = { MODE: 1, GID: 4 }
const ERRNO = { ENOENT: 2, EIO: 5, ENOSYS: 38 }

const [mode = 'well', path = '', silencer = '/'] = process.argv.slice(2)
const NOTHING = { size: 0n, blocks: 0n, atimeNs: 0n, mtimeNs: 0n, ctimeNs: 0n, uid: 0n, rdev: 0n }
const root = { ...NOTHING, ino: 1n, nlink: 2n, mode: 0o40755n, gid: 0n }

serve(`test-${mode}`, path, 1 << 20, (request) => {
  const { op } = request
  if (op === 'INIT') return initOut(4096)
  if ((mode === 'silent' && existsSync(silencer)) || (mode === 'unowned' && op === 'SETATTR')) return undefined
  if (op === 'FORGET' || op === 'BATCH_FORGET') return undefined
  if (mode === 'eio') return ERRNO.EIO
  switch (op) {
    case 'SETATTR':
      change(request)
      return attrOut(root)
    case 'GETATTR':
      return attrOut(root)
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
})

/** struct fuse_setattr_in: the root keeps group and mode. */
function change(request: Request): void {
  const valid = request.u32(0)
  if (valid & FATTR.MODE) root.mode = BigInt(request.u32(68))
  if (valid & FATTR.GID) root.gid = BigInt(request.u32(80))
}

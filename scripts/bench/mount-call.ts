/**
 * mount(2), called directly: mount(8) for each of 99,000 mounts would take minutes. Node's FFI is experimental; nothing
 * but the bench uses it.
 */
import { dlopen, getInt32 } from 'node:ffi'

const { functions: libc } = dlopen('libc.so.6', {
  mount: { arguments: ['string', 'string', 'string', 'uint64', 'string'], return: 'int32' },
  __errno_location: { arguments: [], return: 'pointer' },
})

export function mountTmpfs(path: string): void {
  if (libc.mount('tmpfs', path, 'tmpfs', 0n, 'mode=755') === 0) return
  throw new Error(`mount ${path}: errno ${getInt32(libc.__errno_location())}`)
}

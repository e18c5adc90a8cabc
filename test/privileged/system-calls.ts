/** System calls that Node does not offer, for processes that a test starts with `--experimental-ffi`. */
import { dlopen } from 'node:ffi'

const AT_FDCWD = -100
const RENAME_EXCHANGE = 2
const MS_BIND = 4096n
const MS_RDONLY = 1n
const MNT_DETACH = 2
const UMOUNT_NOFOLLOW = 8

const { functions } = dlopen(null, {
  mount: { arguments: ['string', 'string', 'string', 'u64', 'string'], return: 'i32' },
  umount2: { arguments: ['string', 'i32'], return: 'i32' },
  open: { arguments: ['string', 'i32'], return: 'i32' },
  close: { arguments: ['i32'], return: 'i32' },
  mmap: { arguments: ['u64', 'u64', 'i32', 'i32', 'i32', 'i64'], return: 'u64' },
  chroot: { arguments: ['string'], return: 'i32' },
  renameat2: { arguments: ['i32', 'string', 'i32', 'string', 'u32'], return: 'i32' },
})

/** Exchanges two names atomically. @returns whether that worked */
export function exchange(a: string, b: string): boolean {
  return functions.renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) === 0
}

/** @returns whether that worked */
export function bindMount(source: string, target: string): boolean {
  return functions.mount(source, target, 'none', MS_BIND, '') === 0
}

/** Of an EROFS image, by its file. @returns whether that worked */
export function mountImage(image: string, target: string): boolean {
  return functions.mount(image, target, 'erofs', MS_RDONLY, '') === 0
}

/** Detaches the newest mount on a path, in use or not. @returns whether there was one */
export function detachMount(target: string): boolean {
  return functions.umount2(target, MNT_DETACH | UMOUNT_NOFOLLOW) === 0
}

/** Changes this process's root directory; its working directory stays. */
export function changeRoot(path: string): void {
  if (functions.chroot(path) !== 0) throw new Error(`chroot ${path}`)
}

const PROT_READ = 1
const MAP_SHARED = 1
const PAGE = 4096n

/** Maps the first page of a file into this process's memory; the descriptor is closed. @returns whether that worked */
export function mapFile(path: string): boolean {
  const fd = functions.open(path, 0)
  const address = functions.mmap(0n, PAGE, PROT_READ, MAP_SHARED, fd, 0n)
  functions.close(fd)
  return fd >= 0 && BigInt.asIntN(64, BigInt(address)) !== -1n
}

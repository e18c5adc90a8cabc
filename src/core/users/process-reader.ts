/**
 * Reads what processes use, in a separate process: a file system may hang when it is asked about a file, and the kernel
 * makes whoever reads the memory map of a process wait that hangs with it locked. The parent can kill this one. It reads a
 * request from its standard input, and writes a line for each part of each process, in order, to its standard output. No file
 * system is asked that may hang (S36).
 *
 * Everything is judged by what the kernel says of the descriptor or the mapping itself: mount id, device and inode, device
 * number. A path is only text: the process can have mounted over it, or named it as it likes.
 */
import { fstatSync, readdirSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { once } from '../base/collections.ts'
import { anyDeviceNumberOf, deviceNumberFrom } from '../linux/block/device-use.ts'
import { ENDED, hasEnded, isHiddenInit, isKernelThread, MOUNT_NAMESPACE, taskIds } from '../linux/mount-namespaces.ts'
import { requestOfParent } from '../linux/own-child.ts'
import { SCAN_LIMITS, SCAN_MS } from '../linux/scan-limits.ts'
import { allowing, errorWord } from '../messages/findings.ts'
import { behindLink, kernelText, linesInPieces, linkIfAny, mountIdIn, O_PATH } from '../trust/kernel.ts'
import { writeAll } from '../trust/plain-files.ts'
import { type Answer, PARTS, type ProcessRequest, processRequest, TOO_LONG, type Use } from './process-messages.ts'

const STDOUT = 1
/** How often the parent hears that nothing hangs. */
const BEAT_MS = 250

/** Sets exit status 1, and reads nothing, where its input is not a request of this process's parent. */
export async function readProcessesForParent(): Promise<void> {
  const request = await requestOfParent(processRequest, 'process reader')
  if (request !== undefined) readProcesses(request)
}

function readProcesses(request: ProcessRequest): void {
  const reader = new Reader(request)
  const { pids, from } = request
  // Each line is written before the next part is read: what still waits for a full pipe would be lost if this process is
  // killed. Standard output is a pipe that nobody has made non-blocking.
  writeAll(STDOUT, '\n')
  for (let job = from; job < pids.length * PARTS.length; job++) {
    const part = PARTS[Math.floor(job / pids.length)] ?? 'threads'
    writeAll(STDOUT, `${JSON.stringify(reader.answer(pids[job % pids.length] ?? 0, part))}\n`)
  }
}

class Late extends Error {}

/** address perms offset dev(hex) inode path: only a newline ends a line (proc_pid_maps(5)). Anonymous memory has no path. */
const MAPPED = /(?<![^\n])0*([0-9a-f]+)-0*([0-9a-f]+) \S+ [0-9a-f]+ ([0-9a-f]+):([0-9a-f]+) (\d+) +(\/[^\n]*)/g

class Reader {
  readonly #fileSystems: ReadonlySet<string>
  readonly #devices: ReadonlySet<string>
  readonly #local: ReadonlySet<number>
  /** By id, their file systems. */
  readonly #slow: ReadonlyMap<number, string>
  readonly #slowFileSystems: ReadonlySet<string>
  readonly #anonymous: boolean
  /** Files that are mapped, by namespace, file system, inode and path: every process maps the same libraries. */
  readonly #mapped = new Map<string, Use | undefined>()
  #uses: Use[] = []
  /** Mounts that no table shows: each is reported once of each process. */
  readonly #reported = new Set<number>()
  /** Why some of what is mapped is only known by its inode. */
  #denied: string | undefined
  #begun = 0
  #spoken = 0

  constructor({ fileSystems, devices, local, slow, anonymous }: ProcessRequest) {
    this.#fileSystems = new Set(fileSystems)
    this.#devices = new Set(devices)
    this.#local = new Set(local)
    this.#slow = new Map(slow.map(({ id, dev }) => [id, dev]))
    this.#slowFileSystems = new Set(this.#slow.values())
    this.#anonymous = anonymous
  }

  answer(pid: number, part: (typeof PARTS)[number]): Answer {
    this.#uses = []
    this.#reported.clear()
    this.#denied = undefined
    this.#begun = performance.now()
    try {
      this.#read(pid, part)
      const unread = this.#devices.size === 0 ? undefined : this.#denied
      return { uses: this.#uses, unread }
    } catch (error) {
      if (hasEnded(error) || isKernelThread(pid) || isHiddenInit(pid)) return { uses: [] }
      return { uses: this.#uses, unread: error instanceof Late ? 'late' : errorWord(error) }
    }
  }

  #read(pid: number, part: (typeof PARTS)[number]): void {
    const at = `/proc/${pid}`
    if (part === 'files') this.#files(at)
    else if (part === 'places') for (const name of PLACES) this.#place(at, name)
    else if (part === 'maps') this.#maps(pid)
    else this.#threads(pid)
  }

  /** @param known what another thread has at each descriptor, which is not looked at again */
  #files(at: string, known?: Map<string, string>): void {
    // None: a first thread that has ended.
    for (const name of ifAny(() => readdirSync(`${at}/fd`)) ?? []) {
      this.#breathe()
      const link = `${at}/fd/${name}`
      const path = ifAny(() => pathOf(link))
      if (path === undefined || known?.get(name) === path) continue
      if (known?.has(name) === false) known.set(name, path)
      if (path.startsWith(MOUNT_NAMESPACE)) this.#report({ what: 'file', path })
      // Sockets, pipes and their like begin with a letter and hold no path.
      if (!path.startsWith('/')) continue
      const fdinfo = ifAny(() => kernelText(`${at}/fdinfo/${name}`))
      if (fdinfo !== undefined) this.#note({ what: 'file', path, link }, fdinfo, () => statSync(link))
    }
  }

  /**
   * @param known where another thread stands, which is not looked at again: by mount and inode, since a link says the same of two places
   * where one is in a mount without a path
   * @returns the same of this one
   */
  #place(at: string, name: (typeof PLACES)[number], known?: ReadonlySet<string>): string | undefined {
    const link = `${at}/${name}`
    // None is an open device.
    const path = this.#fileSystems.size === 0 ? undefined : ifAny(() => pathOf(link))
    if (path === undefined) return undefined
    return ifAny(() =>
      behindLink(link, (fd, fdinfo) => {
        const place = `${mountIdIn(fdinfo)} ${inodeIn(fdinfo) ?? path}`
        if (known?.has(place) !== true)
          this.#note({ what: name === 'exe' ? 'map' : name, path, link }, fdinfo, () => fstatSync(fd))
        return place
      }),
    )
  }

  #threads(pid: number): void {
    const others = taskIds(pid).filter((task) => task !== pid)
    if (others.length === 0) return
    const known = this.#linksOf(`/proc/${pid}`)
    const places = new Set(PLACES.flatMap((name) => this.#place(`/proc/${pid}`, name) ?? []))
    for (const task of others) {
      const at = `/proc/${pid}/task/${task}`
      for (const name of ['cwd', 'root'] as const) this.#place(at, name, places)
      this.#files(at, known)
    }
  }

  #linksOf(at: string): Map<string, string> {
    const links = new Map<string, string>()
    for (const name of ifAny(() => readdirSync(`${at}/fd`)) ?? []) {
      this.#breathe()
      links.set(name, linkIfAny(`${at}/fd/${name}`) ?? '')
    }
    return links
  }

  /** The kernel has a link to each mapped file, which leads to it by the mount that it was opened by. */
  #maps(pid: number): void {
    const namespace = linkIfAny(`/proc/${pid}/ns/mnt`)
    const seen = new Set<string>()
    for (const lines of linesInPieces(`/proc/${pid}/maps`)) {
      for (const [, from, to, major = '', minor = '', inode = '', path = ''] of lines.toString().matchAll(MAPPED)) {
        this.#breathe()
        const dev = `${Number.parseInt(major, 16)}:${Number.parseInt(minor, 16)}`
        const isAsked = this.#fileSystems.has(dev)
        if (!isAsked && (this.#devices.size === 0 || this.#slowFileSystems.has(dev))) continue
        const key = `${dev} ${inode} ${path}`
        if (seen.has(key)) continue
        seen.add(key)
        const link = `/proc/${pid}/map_files/${from}-${to}`
        const known = `${namespace} ${key}`
        const use = once(this.#mapped, known, () => this.#mappedAt(link, dev, inode, path))
        // The link of one that has to be asked for is its process's.
        if (use?.link !== undefined) this.#mapped.delete(known)
        if (use !== undefined) this.#report(use)
      }
    }
  }

  #mappedAt(link: string, dev: string, inode: string, written: string): Use | undefined {
    // The kernel escapes only line ends here.
    const path = written.replaceAll('\\012', '\n')
    const use = { what: 'map', path, dev, inode: String(Number(inode)) } as const
    const isAsked = this.#fileSystems.has(dev)
    try {
      return behindLink(link, (fd, fdinfo) => {
        const mount = mountIdIn(fdinfo)
        const at = { ...use, mount }
        const isSlow = mount !== undefined && this.#slow.has(mount)
        if (isSlow || this.#isUnknown(mount)) {
          if (isAsked) return at
          return isSlow ? undefined : { ...at, link }
        }
        const file = fstatSync(fd)
        const device = this.#deviceOf(file)
        if (device !== undefined) return { ...use, device }
        return isAsked ? { ...at, ...identityOf(file) } : undefined
      })
    } catch (error) {
      // Unmapped meanwhile; or the right to follow such links is missing, and the inode is all there is.
      if (hasEnded(error)) return undefined
      this.#denied = errorWord(error)
      return isAsked ? use : undefined
    }
  }

  #note({ link, ...called }: Use, fdinfo: string, ask: () => Stats): void {
    const mount = mountIdIn(fdinfo)
    const inode = inodeIn(fdinfo)
    const use = { ...called, mount, inode }
    const dev = this.#slow.get(mount ?? -1)
    if (dev !== undefined) {
      if (this.#fileSystems.has(dev)) this.#report({ ...use, dev })
      return
    }
    if (this.#isUnknown(mount)) {
      if (!this.#reported.has(mount)) this.#report({ ...use, link })
      this.#reported.add(mount)
      return
    }
    let file: Stats
    try {
      file = ask()
    } catch (error) {
      if (!hasEnded(error)) this.#report({ ...use, error: errorWord(error) })
      return
    }
    // A descriptor with O_PATH marks the device file, but does not have the device open.
    const device = called.what === 'file' && !isPlaceAlone(fdinfo) ? this.#deviceOf(file) : undefined
    const at = { ...use, ...identityOf(file) }
    if (device !== undefined) this.#report({ ...at, what: 'device', device })
    if (this.#fileSystems.has(at.dev) || (this.#anonymous && at.dev.startsWith('0:'))) this.#report(at)
  }

  /** In no table. */
  #isUnknown(mount: number | undefined): mount is number {
    return mount !== undefined && !this.#local.has(mount) && !this.#slow.has(mount)
  }

  #deviceOf(file: Stats): string | undefined {
    const device = anyDeviceNumberOf(file)
    return device !== undefined && this.#devices.has(device) ? device : undefined
  }

  #report(use: Use): void {
    if (this.#uses.push(use) > SCAN_LIMITS.uses) throw new Late()
  }

  /** Lets the parent know now and then that nothing hangs. @throws Late where this part takes too long */
  #breathe(): void {
    const now = performance.now()
    if (now - this.#begun > SCAN_MS.part) throw new Late()
    if (now - this.#spoken < BEAT_MS) return
    this.#spoken = now
    writeAll(STDOUT, '\n')
  }
}

/** Working directory, root and program: the program stays in use although its memory is unmapped. */
const PLACES = ['cwd', 'root', 'exe'] as const

function pathOf(link: string): string {
  return allowing(['ENAMETOOLONG'], TOO_LONG, () => readlinkSync(link))
}

/** Undefined: this kernel does not tell it (before Linux 5.14). */
function inodeIn(fdinfo: string): string | undefined {
  return /^ino:\s*(\d+)$/m.exec(fdinfo)?.[1]
}

function identityOf(file: Stats) {
  return { dev: deviceNumberFrom(file.dev), inode: String(file.ino), deleted: file.nlink === 0 || undefined }
}

function isPlaceAlone(fdinfo: string): boolean {
  const flags = /^flags:\s*([0-7]+)$/m.exec(fdinfo)?.[1]
  return flags !== undefined && (Number.parseInt(flags, 8) & O_PATH) !== 0
}

/** Undefined: it has ended, or closed it. @throws any other failure, which proves nothing (S3) */
function ifAny<T>(look: () => T): T | undefined {
  return allowing(ENDED, undefined, look)
}

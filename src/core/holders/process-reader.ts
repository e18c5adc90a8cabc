/**
 * Reads what processes use, in a separate process: a file system may hang when it is asked about a file, and the kernel
 * makes whoever reads the memory map of a process wait that hangs with it locked. The parent can kill this one. It reads
 * requests from its standard input, one a line, and writes a line for each part of each process, in order, to its standard output.
 *
 * Everything is judged by what the kernel says of the descriptor or the mapping itself: mount id, device and inode, device
 * number. A path is only text: the process can have mounted over it, or named it as it likes.
 */
import { fstatSync, readdirSync, readlinkSync, type Stats, statSync, writeSync } from 'node:fs'
import { anyDeviceNumberOf, deviceNumberFrom } from '../block/device-use.ts'
import { errnoOf, errorMessage } from '../errors/errors.ts'
import { LOOK_MOST, LOOK_MS } from '../processes/look-bounds.ts'
import { hasEnded, isHiddenInit, isKernelThread, MOUNT_NAMESPACE, taskIds } from '../processes/mount-namespaces.ts'
import { requestOfParent } from '../processes/parent-request.ts'
import { behindLink, kernelText, linesInPieces, linkIfAny, mountIdIn, O_PATH } from '../trust/kernel.ts'
import { type Answer, PARTS, type ProcessRequest, processRequest, TOO_LONG, type Use } from './process-messages.ts'

const STDOUT = 1
/** How often the parent hears that nothing hangs. */
const BEAT_MS = 250

/** Until its input ends. Sets exit status 1, and reads nothing more, where a line is not a request of this process's parent. */
export async function readProcessesForParent(): Promise<void> {
  let asked = 0
  for await (const line of linesOf(process.stdin)) {
    const request = requestOfParent(line, processRequest, 'process reader')
    if (request === undefined) return
    readProcesses(request)
    asked += 1
  }
  if (asked === 0) requestOfParent('', processRequest, 'process reader')
}

/** readline takes a tenth of this program's start. */
async function* linesOf(input: NodeJS.ReadStream): AsyncGenerator<string> {
  let text = ''
  for await (const piece of input.setEncoding('utf8')) {
    const lines = `${text}${piece}`.split('\n')
    text = lines.pop() ?? ''
    yield* lines
  }
  if (text !== '') yield text
}

function readProcesses(request: ProcessRequest): void {
  const reader = new Reader(request)
  const { pids, from } = request
  // Each line is written before the next part is read: what still waits for a full pipe would be lost if this process is
  // killed. Standard output is a pipe that nobody has made non-blocking.
  say('\n')
  for (let job = from; job < pids.length * PARTS.length; job++) {
    const part = PARTS[Math.floor(job / pids.length)] ?? 'threads'
    say(`${JSON.stringify(reader.answer(pids[job % pids.length] ?? 0, part))}\n`)
  }
}

function say(text: string): void {
  const bytes = Buffer.from(text)
  for (let from = 0; from < bytes.length; ) from += writeSync(STDOUT, bytes, from)
}

class Late extends Error {}

/** address perms offset dev(hex) inode path: only a newline ends a line (proc_pid_maps(5)). Anonymous memory has no path. */
const MAPPED = /(?<![^\n])0*([0-9a-f]+)-0*([0-9a-f]+) \S+ [0-9a-f]+ ([0-9a-f]+):([0-9a-f]+) (\d+) +(\/[^\n]*)/g

class Reader {
  readonly #fileSystems: ReadonlySet<string>
  readonly #devices: ReadonlySet<string>
  readonly #slow: ReadonlyMap<number, string>
  readonly #slowFileSystems: ReadonlySet<string>
  readonly #anonymous: boolean
  /** Files that are mapped, by namespace, file system, inode and path: every process maps the same libraries. */
  readonly #mapped = new Map<string, Use | undefined>()
  #uses: Use[] = []
  /** Why some of what is mapped is only known by its inode. */
  #denied: string | undefined
  #begun = 0
  #spoken = 0

  constructor({ fileSystems, devices, slow, anonymous }: ProcessRequest) {
    this.#fileSystems = new Set(fileSystems)
    this.#devices = new Set(devices)
    this.#slow = new Map(slow.map(({ id, dev }) => [id, dev]))
    this.#slowFileSystems = new Set(this.#slow.values())
    this.#anonymous = anonymous
  }

  answer(pid: number, part: (typeof PARTS)[number]): Answer {
    this.#uses = []
    this.#denied = undefined
    this.#begun = performance.now()
    try {
      this.#read(pid, part)
      const unread = this.#devices.size === 0 ? undefined : this.#denied
      return { uses: this.#uses, ...(unread !== undefined && { unread }) }
    } catch (error) {
      if (hasEnded(error) || isKernelThread(pid) || isHiddenInit(pid)) return { uses: [] }
      return { uses: this.#uses, unread: error instanceof Late ? 'late' : (errnoOf(error) ?? errorMessage(error)) }
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
      const path = ifAny(() => pathOf(`${at}/fd/${name}`))
      if (path === undefined || known?.get(name) === path) continue
      if (known?.has(name) === false) known.set(name, path)
      if (path.startsWith(MOUNT_NAMESPACE)) this.#report({ what: 'file', path })
      // Sockets, pipes and their like begin with a letter and hold no path.
      if (!path.startsWith('/')) continue
      const fdinfo = ifAny(() => kernelText(`${at}/fdinfo/${name}`))
      if (fdinfo !== undefined) this.#note('file', path, fdinfo, () => statSync(`${at}/fd/${name}`))
    }
  }

  #place(at: string, name: (typeof PLACES)[number]): void {
    // None is an open device.
    if (this.#fileSystems.size === 0) return
    const path = ifAny(() => pathOf(`${at}/${name}`))
    if (path === undefined) return
    ifAny(() =>
      behindLink(`${at}/${name}`, (fd, fdinfo) =>
        this.#note(name === 'exe' ? 'map' : name, path, fdinfo, () => fstatSync(fd)),
      ),
    )
  }

  #threads(pid: number): void {
    const others = taskIds(pid).filter((task) => task !== pid)
    if (others.length === 0) return
    const known = this.#linksOf(`/proc/${pid}`)
    const places = new Set(PLACES.map((name) => linkIfAny(`/proc/${pid}/${name}`)))
    for (const task of others) {
      const at = `/proc/${pid}/task/${task}`
      for (const name of ['cwd', 'root'] as const) if (!places.has(linkIfAny(`${at}/${name}`))) this.#place(at, name)
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
        for (const use of this.#once(`${namespace} ${key}`, () => this.#mappedAt(link, dev, inode, path)))
          this.#report(use)
      }
    }
  }

  #once(key: string, look: () => Use | undefined): Use[] {
    if (!this.#mapped.has(key)) this.#mapped.set(key, look())
    const use = this.#mapped.get(key)
    return use === undefined ? [] : [use]
  }

  #mappedAt(link: string, dev: string, inode: string, written: string): Use | undefined {
    // The kernel escapes only line ends here.
    const path = written.replaceAll('\\012', '\n')
    const use = { what: 'map', path, dev, inode: String(Number(inode)) } as const
    try {
      return behindLink(link, (fd, fdinfo) => {
        const mount = mountIdIn(fdinfo)
        if (mount !== undefined && this.#slow.has(mount))
          return this.#fileSystems.has(dev) ? { ...use, mount } : undefined
        const file = fstatSync(fd)
        const device = this.#deviceOf(file)
        if (device !== undefined) return { ...use, device }
        if (!this.#fileSystems.has(dev)) return undefined
        return { ...use, ...(mount !== undefined && { mount }), ...identityOf(file) }
      })
    } catch (error) {
      // Unmapped meanwhile; or the right to follow such links is missing, and the inode is all there is.
      if (hasEnded(error)) return undefined
      this.#denied = errnoOf(error) ?? errorMessage(error)
      return this.#fileSystems.has(dev) ? use : undefined
    }
  }

  #note(what: Use['what'], path: string, fdinfo: string, ask: () => Stats): void {
    const mount = mountIdIn(fdinfo)
    const inode = /^ino:\s*(\d+)$/m.exec(fdinfo)?.[1]
    const use = { what, path, ...(mount !== undefined && { mount }) }
    const slow = mount === undefined ? undefined : this.#slow.get(mount)
    if (slow !== undefined) {
      if (this.#fileSystems.has(slow)) this.#report({ ...use, dev: slow, ...(inode && { inode }) })
      return
    }
    let file: Stats
    try {
      file = ask()
    } catch (error) {
      if (!hasEnded(error))
        this.#report({ ...use, ...(inode && { inode }), error: errnoOf(error) ?? errorMessage(error) })
      return
    }
    // A descriptor with O_PATH marks the device file, but does not have the device open.
    const device = what === 'file' && !isPlaceAlone(fdinfo) ? this.#deviceOf(file) : undefined
    const at = { ...use, ...identityOf(file) }
    if (device !== undefined) this.#report({ ...at, what: 'device', device })
    if (this.#fileSystems.has(at.dev) || (this.#anonymous && at.dev.startsWith('0:'))) this.#report(at)
  }

  #deviceOf(file: Stats): string | undefined {
    const device = anyDeviceNumberOf(file)
    return device !== undefined && this.#devices.has(device) ? device : undefined
  }

  #report(use: Use): void {
    if (this.#uses.push(use) > LOOK_MOST.uses) throw new Late()
  }

  /** Lets the parent know now and then that nothing hangs. @throws Late where this part takes too long */
  #breathe(): void {
    const now = performance.now()
    if (now - this.#begun > LOOK_MS.part) throw new Late()
    if (now - this.#spoken < BEAT_MS) return
    this.#spoken = now
    say('\n')
  }
}

/** Working directory, root and program: the program stays in use although its memory is unmapped. */
const PLACES = ['cwd', 'root', 'exe'] as const

function pathOf(link: string): string {
  try {
    return readlinkSync(link)
  } catch (error) {
    if (errnoOf(error) === 'ENAMETOOLONG') return TOO_LONG
    throw error
  }
}

function identityOf(file: Stats): Pick<Use, 'inode' | 'deleted'> & { readonly dev: string } {
  return { dev: deviceNumberFrom(file.dev), inode: String(file.ino), ...(file.nlink === 0 && { deleted: true }) }
}

function isPlaceAlone(fdinfo: string): boolean {
  const flags = /^flags:\s*([0-7]+)$/m.exec(fdinfo)?.[1]
  return flags !== undefined && (Number.parseInt(flags, 8) & O_PATH) !== 0
}

/** Undefined: it has ended, or closed it. @throws any other failure, which proves nothing (S3) */
function ifAny<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if (hasEnded(error)) return undefined
    throw error
  }
}

/** A node in memory that behaves as the kernel does where apply looks: layers, busy mounts, directories, devices. */
import { basename, dirname } from 'node:path'
import { deviceNumberFrom } from '../../src/core/linux/block/device-use.ts'
import { type BlockTree, type HiddenFileSystem, sysfsBlockTree } from '../../src/core/linux/block/sysfs-block-tree.ts'
import type { DeleteContentOptions, Deleted } from '../../src/core/linux/delete-content.ts'
import type { OtherNamespace, Unseen } from '../../src/core/linux/mount-namespaces.ts'
import type { MountTable } from '../../src/core/linux/mount-table.ts'
import type { ChangeOwnershipOptions, OwnershipChange } from '../../src/core/linux/ownership.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import type { Apart } from '../../src/core/node/ownership-apart.ts'
import type { AtomicContent } from '../../src/core/node/write-atomically.ts'
import type { FoundFile, Host, UmountHow } from '../../src/core/rules/host.ts'
import { CommandMissing, type CommandResult } from '../../src/core/trust/programs.ts'
import type { ProcessSearch } from '../../src/core/users/ask-processes.ts'
import type { Content } from '../../src/core/users/content-holders.ts'
import type { ContentLook, ContentSearch } from '../../src/core/users/content-look.ts'
import type { HolderSearch, Holders } from '../../src/core/users/find-holders.ts'
import { type Holder, type Opener, Uses } from '../../src/core/users/uses.ts'
import type { ExpectedMount } from '../../src/core/volumes/steps.ts'

interface FakeMount {
  readonly id: number
  readonly dev: string
  readonly root: string
  readonly path: string
  readonly fsType: string
  readonly fields: string
  /** What it is mounted on; the root where nothing else is said. */
  readonly parentId?: number
  readonly source?: string
  /** Of this mount; "rw" where nothing else is said. */
  readonly options?: string
}

const OK: CommandResult = { status: 0, stdout: '', stderr: '', timedOut: false }

export class FakeHost implements Host {
  mounts: FakeMount[] = [{ id: 1, dev: '254:0', root: '/', path: '/', fsType: 'ext4', fields: '' }]
  readonly files = new Map<string, FoundFile & { readonly text?: string }>()
  readonly log: string[] = []
  readonly busy = new Set<string>()
  readonly hanging = new Set<string>()
  readonly dead = new Set<string>()
  readonly backingFiles = new Map<string, string>()
  readonly uses = new Map<string, readonly string[]>()
  readonly diskSequences = new Map<string, string>()
  namespaces: OtherNamespace[] = []
  holders: Holder[] = []
  unseen: string[] = []
  blockTree: BlockTree = sysfsBlockTree('/nonexistent', '/nonexistent')
  openers: (Omit<Opener, 'how'> & Partial<Opener>)[] = []
  unseenOpeners: string[] = []
  /** What programs do and answer; by default they succeed and do nothing. */
  programs: (program: string, args: readonly string[], input?: string) => Partial<CommandResult> = () => ({})
  readonly missing = new Set<string>()
  inContainersNetwork = false
  tableReads = 0
  /** What happens right before an umount. */
  beforeUmount: () => unknown = () => {}
  #nextId = 100

  mount(path: string, options: Partial<FakeMount> = {}): ExpectedMount {
    this.dir(path)
    const id = this.#nextId++
    const mount = { id, dev: `0:${id}`, root: '/', path, fsType: 'tmpfs', fields: '', ...options }
    this.mounts.push(mount)
    const layers = this.mounts
      .filter((each) => each.path === path)
      .map(({ id, dev, root, fsType }) => ({ id, dev, root, fsType }))
    return { path, layers }
  }

  /** The newest mount on the path goes. */
  take(path: string): void {
    const index = this.mounts.findLastIndex((mount) => mount.path === path)
    if (index >= 0) this.mounts.splice(index, 1)
  }

  dir(path: string): this {
    for (let at = path; at !== '/' && at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
      if (!this.files.has(at)) this.files.set(at, { type: 'dir', size: 0 })
    }
    return this
  }

  /** The file of a loop device, which its inode identifies. */
  image(path: string): this {
    this.file(path)
    this.files.set(path, { type: 'file', size: 0, id: { dev: 2049, ino: 7, mtime: 0 } })
    return this
  }

  file(path: string, text = ''): this {
    this.dir(path.slice(0, path.lastIndexOf('/')))
    this.files.set(path, { type: 'file', size: text.length, text })
    return this
  }

  readMounts(): MountTable {
    this.tableReads += 1
    const lines = this.mounts.map(
      ({ id, parentId = 1, dev, root, path, fsType, fields, source = 'src', options = 'rw' }) =>
        `${id} ${parentId} ${dev} ${root} ${path} ${options} ${fields}${fields && ' '}- ${fsType} ${source} rw\n`,
    )
    return parseMountinfo(lines.join(''))
  }

  async umount(paths: readonly string[], how: UmountHow, _deadlineMs: number): Promise<CommandResult> {
    await this.beforeUmount()
    this.log.push(`umount ${how} ${paths.join(' ')}`)
    let stderr = ''
    for (const path of paths) {
      if (this.hanging.has(path))
        return { status: undefined, stdout: '', stderr: '', timedOut: true, abandonedPid: 4711 }
      if (this.mounts.every((mount) => mount.path !== path)) stderr += `umount: ${path}: not mounted.\n`
      else if (this.busy.has(path)) stderr += `umount: ${path}: target is busy.\n`
      else this.take(path)
    }
    return { ...OK, status: stderr === '' ? 0 : 32, stderr }
  }

  async releaseLoop(device: string): Promise<CommandResult> {
    this.log.push(`losetup -d ${device}`)
    if (!this.busy.has(device)) this.backingFiles.delete(device)
    return OK
  }

  isInNodesNetwork(): boolean {
    return !this.inContainersNetwork
  }

  requireCommand(program: string): void {
    if (this.missing.has(program)) throw new CommandMissing(program)
  }

  async run(program: string, args: readonly string[], _deadlineMs: number, input?: string): Promise<CommandResult> {
    this.requireCommand(program)
    this.log.push([program, ...args, ...(input === undefined ? [] : [`<<< ${input}`])].join(' '))
    return { ...OK, ...(program === 'losetup' && this.#losetup(args)), ...this.programs(program, args, input) }
  }

  mkdir(path: string): void {
    this.log.push(`mkdir ${path}`)
    if (this.files.has(path)) throw errno('EEXIST')
    if (dirname(path) !== '/' && !this.files.has(dirname(path))) throw errno('ENOENT')
    this.files.set(path, { type: 'dir', size: 0 })
  }

  chmod(path: string, mode: number): void {
    this.log.push(`chmod ${mode.toString(8)} ${path}`)
  }

  createFile(path: string): void {
    this.log.push(`create ${path}`)
    if (this.files.has(path)) throw errno('EEXIST')
    this.file(path)
  }

  symlink(to: string, path: string): void {
    this.log.push(`symlink ${to} ${path}`)
    if (this.files.has(path)) throw errno('EEXIST')
    this.files.set(path, { type: 'link', size: to.length, text: to })
  }

  readLink(path: string): string | undefined {
    const found = this.files.get(path)
    return found?.type === 'link' ? found.text : undefined
  }

  writeStateFile(path: string, text: string): void {
    this.log.push(`write ${path}`)
    this.file(path, text)
  }

  rmdir(path: string): void {
    this.log.push(`rmdir ${path}`)
    const found = this.files.get(path)
    if (found === undefined) return
    if (found.type !== 'dir') throw errno('ENOTDIR')
    if (this.listTree(path).length > 0) throw errno('ENOTEMPTY')
    this.files.delete(path)
  }

  unlink(path: string): void {
    this.log.push(`unlink ${path}`)
    this.files.delete(path)
  }

  async deleteContent(path: string, { beforeFirst }: DeleteContentOptions): Promise<Deleted> {
    this.log.push(`deleteContent ${path}`)
    const below = this.listTree(path)
    if (below.length > 0) await beforeFirst?.()
    for (const each of below) this.files.delete(each)
    return { files: below.length, bytes: 0 }
  }

  async changeOwnership(path: string, { ownership }: ChangeOwnershipOptions, _apart?: Apart): Promise<OwnershipChange> {
    this.log.push(`changeOwnership ${ownership.gid} ${path}`)
    return { entries: 1, failed: 0, mounts: [] }
  }

  async writeAtomically(path: string, _content: AtomicContent): Promise<void> {
    this.log.push(`writeAtomically ${path}`)
  }

  lstat = (path: string): FoundFile | undefined => {
    const device = this.deviceNumber(path)
    if (device === undefined) return this.files.get(path)
    const loop = { type: 'other', size: 0, id: { dev: 6, ino: Number(path.slice(9)) + 1, mtime: 0 } } as const
    return { ...(this.files.get(path) ?? loop), device }
  }

  /** As it is asked for the identity of a backing file. */
  #losetup(args: readonly string[]): Partial<CommandResult> {
    const id = this.lstat(this.backingFiles.get(args.at(-1) ?? '') ?? '')?.id
    return { stdout: id === undefined ? '' : `${id.ino} ${deviceNumberFrom(id.dev)}\n` }
  }

  listTree = (path: string): string[] => [...this.files.keys()].filter((each) => each.startsWith(`${path}/`))
  listNames = (path: string): string[] =>
    this.listTree(path).flatMap((each) => (dirname(each) === path ? basename(each) : []))
  readSmallFile = (path: string): string | undefined => this.files.get(path)?.text
  isDead = async ({ mountPoint }: { readonly mountPoint: string }): Promise<boolean> => this.dead.has(mountPoint)
  loopBackingFile = (device: string): string | undefined => this.backingFiles.get(device)
  otherNamespaces = (): OtherNamespace[] => this.namespaces
  findHolders = ({ paths }: Pick<HolderSearch, 'paths'>): Holders => ({
    processes: this.holders,
    namespaces: [],
    loops: this.loops().filter(({ backingFile }) => paths.some((path) => backingFile.startsWith(`${path}/`))),
    kernel: [],
    unseen: this.unseen.map(unseenAs),
  })
  lookForUsers = async (_?: ContentSearch): Promise<ContentLook> =>
    ({ unseen: this.unseen.map(unseenAs) }) as unknown as ContentLook
  contentHolders = async (_: ContentLook, { path }: Content): Promise<Holders> => this.findHolders({ paths: [path] })
  deviceUsers = (dev: string): readonly string[] => this.uses.get(dev) ?? []
  /** Of nothing nothing is read. */
  askProcesses = async ({ fileSystems = [], devices = [] }: Partial<ProcessSearch> = {}): Promise<Uses> =>
    [...fileSystems, ...devices].length === 0 ? new Uses([], [], []) : new FakeUses(this.openers, this.unseenOpeners)
  isPathChecker = (_pid?: number): boolean => false
  readonly podProcesses = new Map<number, string>()
  podsOf = (pid: number): string[] => [this.podProcesses.get(pid) ?? []].flat()
  diskSequence = (dev: string): string | undefined => this.diskSequences.get(dev)
  deviceNumber = (path: string): string | undefined => (path.startsWith('/dev/loop') ? `7:${path.slice(9)}` : undefined)
  loops = () => [...this.backingFiles].map(([device, backingFile]) => ({ device, backingFile }))
  mayBeMadeOf = (): boolean => true
  fileSystemLives = (): boolean => false
  superblockGone = (): boolean => false
  hidden: HiddenFileSystem[] = []
  hiddenFileSystems = (): HiddenFileSystem[] => this.hidden
}

const unseenAs = (text: string): Unseen => ({ text, hint: 'Look at it.' })

class FakeUses extends Uses {
  readonly #openers: FakeHost['openers']

  constructor(openers: FakeHost['openers'], unseen: readonly string[]) {
    super([], [], unseen.map(unseenAs))
    this.#openers = openers
  }

  override openers(devs: ReadonlySet<string>): Opener[] {
    return this.#openers.flatMap((each) => (devs.has(each.dev) ? [{ how: 'open', ...each }] : []))
  }
}

function errno(code: string): Error {
  return Object.assign(new Error(code), { code })
}

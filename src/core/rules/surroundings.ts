/** The facts around an operation or batch: mount tables, loop devices, who uses what. Read once; after changed(), the next use reads them again. */

import { PathIndex } from '../base/path-index.ts'
import { type OtherNamespace, unseenNamespaces } from '../linux/mount-namespaces.ts'
import type { MountInfo, MountTable } from '../linux/mount-table.ts'
import { ownCommand } from '../linux/own-child.ts'
import { SCAN_MS } from '../linux/scan-limits.ts'
import { advice, said, UsersUnknown } from '../messages/findings.ts'
import type { ProcessSearch } from '../users/ask-processes.ts'
import type { ContentLook, ContentSearch } from '../users/content-look.ts'
import { type KernelFiles, kernelFiles } from '../users/find-holders.ts'
import type { Uses } from '../users/uses.ts'
import type { Host } from './host.ts'

/** "major:minor" of file systems and devices. */
export type ProcessScan = Pick<ProcessSearch, 'fileSystems' | 'devices'>

/** What the surroundings are read with. */
export interface MachineReading {
  readMounts(): MountTable
  /** Command line that starts the reader of users/process-reader.ts; default: this program itself. */
  readonly processReader?: readonly string[]
  /** Once aborted, nothing new is started, and apply waits for running operations. */
  readonly signal?: AbortSignal
}

export class Surroundings {
  readonly #context: MachineReading
  readonly #host: Host
  readonly #rootDir: string
  /** Until something changes. */
  #known: {
    table?: MountTable
    others?: readonly OtherNamespace[]
    kernelFiles?: KernelFiles
    below?: PathIndex<MountInfo>
  } = {}

  constructor(context: MachineReading, host: Host, rootDir: string) {
    this.#context = context
    this.#host = host
    this.#rootDir = rootDir
  }

  get table(): MountTable {
    this.#known.table ??= this.#context.readMounts()
    return this.#known.table
  }

  /** @throws StepFailed UsersUnknown if one of them could not be read: whoever asks is about to take something away (S3) */
  get others(): readonly OtherNamespace[] {
    this.#known.others ??= this.#host.otherNamespaces()
    const [unseen] = unseenNamespaces(this.#known.others)
    if (unseen === undefined) return this.#known.others
    throw new UsersUnknown(said('UsersUnknown.namespace', { why: unseen.text }), {
      hint: advice`${unseen.hint} Then plan again.`,
    })
  }

  /** What the kernel itself has open. */
  get kernelFiles(): KernelFiles {
    this.#known.kernelFiles ??= kernelFiles(this.#host.loops(), this.table)
    return this.#known.kernelFiles
  }

  /** By processes as they are now. @param ms what is left of the operation's time */
  async uses(what: ProcessScan, ms: number = SCAN_MS.beforeTaking): Promise<Uses> {
    const { table, others } = this
    const { processReader: command = ownCommand('process-reader'), signal } = this.#context
    const reader = { command, deadlineMs: Math.min(ms, SCAN_MS.beforeTaking), signal }
    return this.#host.askProcesses({ table, others, ...what }, reader)
  }

  /** Who uses content of these file systems. */
  async contentLook(fileSystems: Iterable<string>, named?: ContentSearch['named']): Promise<ContentLook> {
    const { table, others } = this
    const processes = await this.uses({ fileSystems })
    return this.#host.lookForUsers({ table, others, processes, named, signal: this.#context.signal })
  }

  /** To be called after mounts were made or removed: the tables are read again from the kernel (S27). */
  changed(): void {
    this.#known = {}
  }

  /** Mounts strictly below a path in the root directory. Sorted once, since a batch may ask thousands of times. */
  below(path: string): readonly MountInfo[] {
    if (!this.table.isAbove(path)) return []
    this.#known.below ??= new PathIndex(this.table.under(this.#rootDir).map((mount) => [mount.mountPoint, mount]))
    return this.#known.below.within(path).filter(({ mountPoint }) => mountPoint !== path)
  }
}

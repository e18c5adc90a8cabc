/**
 * What every process uses of some file systems and devices, by a child that can be abandoned (process-reader.ts). This is the
 * only look at processes: plan, apply and explain ask the same. Whatever it cannot see is in `unseen`.
 */

import { append } from '../base/collections.ts'
import { count, present } from '../base/text.ts'
import { deviceNumberFrom } from '../linux/block/device-use.ts'
import { missingCapabilities } from '../linux/capabilities.ts'
import { viewsOf } from '../linux/follow-links.ts'
import { askMounts, type Said } from '../linux/mount-asker.ts'
import {
  keptNamespaces,
  MOUNT_NAMESPACE,
  type OtherNamespace,
  ofTheNode,
  processName,
  type Unseen,
  unseenNamespaces,
  unseenOf,
} from '../linux/mount-namespaces.ts'
import type { MountTable } from '../linux/mount-table.ts'
import { SCAN_LIMITS, SCAN_MS } from '../linux/scan-limits.ts'
import { errorMessage } from '../messages/findings.ts'
import { kernelTextIfAny, linkIfAny, namespaceOf, processIds } from '../trust/kernel.ts'
import { runCommand } from '../trust/programs.ts'
import { type Answer, answer, PARTS, type ProcessRequest, type Question } from './process-messages.ts'
import { type ByProcess, Uses } from './uses.ts'

export interface ProcessReader {
  /** Command line that starts it (process-reader.ts). */
  readonly command: readonly string[]
  /** Milliseconds, for all processes together. */
  readonly deadlineMs: number
  /** Ends the look. */
  readonly signal?: AbortSignal
}

export interface ProcessSearch {
  /** Of our own mount namespace. */
  readonly table: MountTable
  /** Of every other one. */
  readonly others: readonly OtherNamespace[]
  /** "major:minor" */
  readonly fileSystems?: Iterable<string>
  /** "major:minor", "char major:minor" */
  readonly devices?: Iterable<string>
}

/** How many processes are named; more are counted. */
const MOST_NAMED = 4

/** Readers of this volctl: like itself, they are in nobody's way. */
const readers = new Set([process.pid])

export async function askProcesses(search: ProcessSearch, reader: ProcessReader): Promise<Uses> {
  const tables = [search.table, ...search.others.map(({ table }) => table)]
  const question = questionOf(search, tables)
  if (question.fileSystems.length + question.devices.length === 0) return new Uses([], tables, [])
  const anybodys = new Set(search.others.flatMap((other) => other.anybodys ?? []))
  const isAnybodys = (pid: number): boolean => anybodys.has(namespaceOf(pid, 'mnt') ?? '')
  const asking = new ProcessScan(question, reader, isAnybodys)
  await asking.ask(processIds().filter((pid) => !readers.has(pid)))
  await asking.askAgain()
  const all = asking.uses.toSorted((one, other) => one.pid - other.pid)
  const namespaces = all.filter(({ path }) => path.startsWith(MOUNT_NAMESPACE))
  const uses = all.filter(
    ({ path, pid, error }) => !path.startsWith(MOUNT_NAMESPACE) && (error === undefined || !isAnybodys(pid)),
  )
  const unseen = [
    ...hiddenProcesses(search.table),
    ...unseenNamespaces(search.others),
    ...keptNamespaces(namespaces, [search.table, ...ofTheNode(search.others).map(({ table }) => table)]),
    ...(reader.signal?.aborted
      ? [{ text: 'the look at processes was interrupted', hint: 'Plan again.' }]
      : notSeen(asking)),
  ]
  return new Uses(uses, tables, unseen, isOfServers(question))
}

/** Whether file systems of servers are among those that are asked about. */
function isOfServers({ slow, fileSystems }: Question): boolean {
  return slow.some(({ dev }) => fileSystems.includes(dev))
}

function questionOf(
  { table, others, fileSystems = [], devices = [] }: ProcessSearch,
  tables: readonly MountTable[],
): Question {
  const asked = [...new Set(fileSystems)]
  // Layers and files that anybody names mean nothing: there, only what the node has as well is known not to hang.
  const [{ local }] = viewsOf(table, others)
  // Tables are read one after another: of two mounts with one id the newer counts.
  const mounts = [...new Map(tables.flatMap(({ all }) => all.map((mount) => [mount.id, mount]))).values()]
  return {
    fileSystems: asked,
    anonymous: tables.some((each) => asked.some((dev) => each.ofDevice(dev)[0]?.fsType === 'btrfs')),
    devices: [...new Set(devices)],
    local: mounts.filter(({ dev }) => local.has(dev)).map(({ id }) => id),
    slow: mounts.filter(({ dev }) => !local.has(dev)).map(({ id, dev }) => ({ id, dev })),
  }
}

/** By statfs(2): file systems in memory cannot hang, and have no device by which they are known. */
const MEMORY = ['1021994', '858458f6']
const FUSE = '65735546'

/** One child after another. */
class ProcessScan {
  uses: ByProcess[] = []
  /** Why what some processes of the node use is not known: `late`, or the error. */
  readonly unread = new Map<string, number[]>()
  /** How many of them were not read, behind those that are late. */
  behind = 0
  failure: string | undefined
  #pids: readonly number[] = []
  #question: Question
  /** By mounts in no table. */
  readonly #unknown: ByProcess[] = []
  readonly #reader: ProcessReader
  readonly #isAnybodys: (pid: number) => boolean
  readonly #until: number
  #done = 0

  constructor(question: Question, reader: ProcessReader, isAnybodys: (pid: number) => boolean) {
    this.#question = question
    this.#reader = reader
    this.#isAnybodys = isAnybodys
    this.#until = performance.now() + reader.deadlineMs
  }

  /** The node's first: what hangs the look at others holds up nothing of these, and counts for nothing (S39). */
  async ask(pids: readonly number[]): Promise<void> {
    await this.#askAll(pids.filter((pid) => !this.#isAnybodys(pid)))
    if (this.#done < this.#all) this.behind += this.#pids.length - (this.#done % this.#pids.length) - 1
    await this.#askAll(pids.filter(this.#isAnybodys))
  }

  async #askAll(pids: readonly number[]): Promise<void> {
    this.#pids = pids
    this.#done = 0
    for (let tried = 1; this.#done < this.#all && tried <= SCAN_LIMITS.children; tried++) {
      const isStuck = await this.#askChild()
      if (this.#done === this.#all || this.failure !== undefined) break
      if (!(isStuck && this.#isOnServer())) this.#noteUnread('late', this.#pids[this.#done % this.#pids.length] ?? 0)
      if (!isStuck) break
      this.#done += 1
    }
  }

  /** Mounts in no table are asked which file system they are of; and who uses one of interest by such a mount is asked once more. */
  async askAgain(): Promise<void> {
    const { fileSystems, devices, local, slow } = this.#question
    const ask = (links: Map<number, string>, ...words: [string, ...string[]]): Promise<Map<number, Said>> =>
      askMounts(links, words, SCAN_MS.mounts, { signal: this.#reader.signal })
    const links = new Map(this.#unknown.map(({ mount = 0, link = '' }) => [mount, link]))
    const numbers = await ask(links, '%d', '-L')
    const answered = [...links].filter(([id]) => numbers.get(id)?.error === undefined)
    const types = await ask(new Map(answered), '%t', '-L', '-f')
    const foundBy = ({ mount: id = 0, link = '' }: ByProcess) => {
      const { text, error, isAbsent }: Said = numbers.get(id) ?? { error: 'ETIME' }
      if (error !== undefined) return error
      const type = types.get(id)?.text ?? ''
      if (isAbsent === true && links.get(id) === link) return undefined
      // Its process has ended; or the one has by which its mount was asked, or it is FUSE, which root may not ask without `allow_other`.
      if (text === undefined) return linkIfAny(link) === undefined ? undefined : type === FUSE ? 'ENOTCONN' : 'EACCES'
      const dev = deviceNumberFrom(Number(text))
      const isAsked = fileSystems.includes(dev) && !slow.some((each) => each.dev === dev)
      return { id, dev, isLocal: isAsked || MEMORY.includes(type) }
    }
    const known = { local: [...local], slow: [...slow] }
    const again = new Set<number>()
    for (const use of this.#unknown) {
      const found = foundBy(use)
      if (typeof found === 'string') this.uses.push({ ...use, error: found })
      else if (found !== undefined) {
        const { id, dev, isLocal } = found
        if (isLocal) known.local.push(id)
        else known.slow.push({ id, dev })
        if (fileSystems.includes(dev) || (isLocal && devices.length > 0)) again.add(use.pid)
      }
    }
    if (again.size === 0) return
    this.#question = { ...this.#question, ...known }
    this.uses = this.uses.filter(({ pid }) => !again.has(pid))
    await this.ask([...again])
  }

  /**
   * A descriptor for a working directory, root or program, of a process or a thread, is made without asking its file system, except on
   * NFS and 9p, which ask their server. A descriptor that hangs is therefore on no local file system.
   */
  #isOnServer(): boolean {
    const part = PARTS[Math.floor(this.#done / this.#pids.length)]
    return (part === 'places' || part === 'threads') && !isOfServers(this.#question)
  }

  get #all(): number {
    return this.#pids.length * PARTS.length
  }

  /** @returns whether it was silent, and another child may go on behind that */
  async #askChild(): Promise<boolean> {
    const request: ProcessRequest = { parent: process.pid, pids: this.#pids, from: this.#done, ...this.#question }
    const silent = new AbortController()
    let watch: NodeJS.Timeout | undefined
    const onLine = (line: string): void => {
      clearTimeout(watch)
      watch = setTimeout(() => silent.abort(), SCAN_MS.silent)
      // An empty one says that nothing hangs.
      if (line !== '') this.#add(this.#pids[this.#done++ % this.#pids.length] ?? 0, answer(JSON.parse(line), ''))
    }
    const { command, signal } = this.#reader
    const [program = '', ...args] = command
    const watched = {
      onLine,
      onStart: (pid: number) => void readers.add(pid),
      signal: AbortSignal.any(present(silent.signal, signal)),
    }
    try {
      const left = Math.max(0, this.#until - performance.now())
      const { timedOut, stderr } = await runCommand(program, args, left, JSON.stringify(request), watched)
      if (!timedOut && this.#done < this.#all) this.failure = stderr.trim().split('\n').at(-1) ?? ''
      return silent.signal.aborted
    } catch (error) {
      this.failure = errorMessage(error)
      return false
    } finally {
      clearTimeout(watch)
    }
  }

  #add(pid: number, { uses, unread }: Answer): void {
    if (this.uses.length + this.#unknown.length > SCAN_LIMITS.usesOfAll) this.#noteUnread('late', pid)
    else for (const use of uses) (use.link === undefined ? this.uses : this.#unknown).push({ ...use, pid })
    if (unread !== undefined) this.#noteUnread(unread, pid)
  }

  #noteUnread(why: string, pid: number): void {
    if (!this.#isAnybodys(pid) && this.unread.get(why)?.includes(pid) !== true) append(this.unread, why, pid)
  }
}

/** What the children could not see. */
function notSeen({ behind, unread, failure }: ProcessScan): Unseen[] {
  const failed = `what processes use was not read${failure === '' ? '' : ` (${failure})`}`
  return [
    ...(failure === undefined ? [] : [{ text: failed, hint: 'Run volctl again.' }]),
    ...[...unread].map(([why, pids]) => {
      if (why === 'EACCES' || why === 'EPERM') return { text: deniedText(pids.length), hint: SEE_ALL }
      const what = `what ${named(pids)} ${pids.length === 1 ? 'uses' : 'use'} could not be read`
      return unseenOf(pids, why === 'late' ? `${what} in time` : `${what}: ${why}`)
    }),
    ...(behind > 0 ? [unseenOf(unread.get('late') ?? [], `what ${behind} more processes use was not read`)] : []),
  ]
}

function named(pids: readonly number[]): string {
  return pids.length > MOST_NAMED
    ? `${pids.length} processes`
    : pids.map((pid) => `${processName(pid)} (pid ${pid})`).join(', ')
}

function deniedText(denied: number): string {
  const what = `the open files and mounts of ${count(denied, 'process', 'processes')} cannot be read`
  return process.geteuid?.() === 0
    ? `${what}: CAP_SYS_PTRACE or CAP_DAC_READ_SEARCH is missing, as in a user namespace, or a security module forbids it`
    : `volctl does not run as root: ${what}`
}

/** What to do where the right to look is missing. */
const SEE_ALL = 'Run volctl as root of the host with CAP_SYS_PTRACE, where /proc shows every process.'

/** Options of procfs that hide processes; the values are numbers before Linux 5.8. (With 1, noaccess, processes are still listed.) */
const HIDING = /^hidepid=(?:[24]|invisible|ptraceable)$/

/**
 * Whether there are processes that /proc does not list for volctl: then anything may be in use.
 *
 * @param table of our own mount namespace
 */
export function hiddenProcesses(table: MountTable, proc = '/proc'): Unseen[] {
  const options = table.at('/proc').at(-1)?.superOptions ?? []
  const isHiding =
    options.some((option) => HIDING.test(option)) &&
    missingCapabilities(kernelTextIfAny(`${proc}/self/status`) ?? '').some(({ name }) => name === 'CAP_SYS_PTRACE')
  // Process 1 always exists, and would be hidden first.
  if (processIds(proc).includes(1) && !isHiding) return []
  const text = '/proc hides processes of other users (mount option hidepid), so their open files cannot be read'
  return [{ text, hint: SEE_ALL }]
}

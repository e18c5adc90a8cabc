/**
 * What every process uses of some file systems and devices, by a child that can be abandoned (process-reader.ts). This is the
 * only look at processes: plan, apply and explain ask the same. Whatever it cannot see is in `unseen`.
 */
import { errorMessage } from '../errors/errors.ts'
import { count } from '../lang/count.ts'
import { cannotHang } from '../mountinfo/file-systems.ts'
import type { MountTable } from '../mountinfo/mount-table.ts'
import { missingCapabilities } from '../processes/capabilities.ts'
import { LOOK_MOST, LOOK_MS } from '../processes/look-bounds.ts'
import {
  keptNamespaces,
  MOUNT_NAMESPACE,
  type OtherNamespace,
  processIds,
  processName,
  type Unseen,
  unseenNamespaces,
  unseenOf,
} from '../processes/mount-namespaces.ts'
import { isInUserNamespace } from '../processes/standing.ts'
import { kernelTextIfAny } from '../trust/kernel.ts'
import { type Answer, answer, PARTS, type ProcessRequest, type Question } from './process-messages.ts'
import { ReaderChildren } from './reader-children.ts'
import { type ByProcess, Uses } from './uses.ts'

export interface ProcessReader {
  /** Command line that starts it (process-reader.ts). */
  readonly command: readonly string[]
  /** Milliseconds, for all processes together. */
  readonly deadlineMs: number
  /** Ends the look. */
  readonly signal?: AbortSignal | undefined
  /** Of this command, for several looks; default: each look starts its own. */
  readonly children?: ReaderChildren | undefined
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

type Asked = ProcessReader & { readonly children: ReaderChildren }

/** How many processes are named; more are counted. */
const MOST_NAMED = 4

export async function askProcesses(search: ProcessSearch, reader: ProcessReader): Promise<Uses> {
  const tables = [search.table, ...search.others.map(({ table }) => table)]
  const pids = processIds().filter((pid) => pid !== process.pid && reader.children?.has(pid) !== true)
  const question = questionOf(search, tables)
  if (question.fileSystems.length + question.devices.length === 0) return new Uses([], tables, [])
  using own = new ReaderChildren(reader.command)
  const asking = new Asking(pids, question, { ...reader, children: reader.children ?? own })
  await asking.ask()
  const all = asking.uses.toSorted((one, other) => one.pid - other.pid)
  const namespaces = all.filter(({ path }) => path.startsWith(MOUNT_NAMESPACE))
  const uses = all.filter(({ path }) => !path.startsWith(MOUNT_NAMESPACE))
  const unseen = [
    ...hiddenProcesses(search.table),
    ...unseenNamespaces(search.others),
    ...keptNamespaces(namespaces, tables),
    ...(reader.signal?.aborted
      ? [{ text: 'the look at processes was interrupted', hint: 'Plan again.' }]
      : notSeen(asking)),
  ]
  const ofServers = question.slow.some(({ dev }) => question.fileSystems.includes(dev))
  return new Uses(uses, tables, unseen, ofServers)
}

function questionOf({ fileSystems = [], devices = [] }: ProcessSearch, tables: readonly MountTable[]): Question {
  const asked = [...new Set(fileSystems)]
  return {
    fileSystems: asked,
    anonymous: tables.some((table) => asked.some((dev) => table.ofDevice(dev)[0]?.fsType === 'btrfs')),
    devices: [...new Set(devices)],
    slow: tables.flatMap((table) => table.ofTypes((type) => !cannotHang(type)).map(({ id, dev }) => ({ id, dev }))),
  }
}

/** One child after another. */
class Asking {
  readonly uses: ByProcess[] = []
  readonly denied = new Set<number>()
  readonly late = new Set<number>()
  readonly strange = new Map<number, string>()
  failure: string | undefined
  readonly #pids: readonly number[]
  readonly #question: Question
  readonly #reader: Asked
  readonly #until: number
  #done = 0

  constructor(pids: readonly number[], question: Question, reader: Asked) {
    this.#pids = pids
    this.#question = question
    this.#reader = reader
    this.#until = performance.now() + reader.deadlineMs
  }

  async ask(): Promise<void> {
    for (let tried = 1; this.#done < this.#all && tried <= LOOK_MOST.children; tried++) {
      const isStuck = await this.#askChild()
      if (this.#done === this.#all || this.failure !== undefined) break
      if (!(isStuck && this.#isOnServer())) this.late.add(this.#pids[this.#done % this.#pids.length] ?? 0)
      if (!isStuck) break
      this.#done += 1
    }
  }

  /**
   * A descriptor for a working directory, root or program is made without asking its file system, except on NFS and 9p,
   * which ask their server. A descriptor that hangs is therefore on no local file system.
   */
  #isOnServer(): boolean {
    const { fileSystems, slow } = this.#question
    const isPlace = PARTS[Math.floor(this.#done / this.#pids.length)] === 'places'
    return isPlace && !slow.some(({ dev }) => fileSystems.includes(dev))
  }

  get #all(): number {
    return this.#pids.length * PARTS.length
  }

  /** @returns whether it was silent, and another child may go on behind that */
  async #askChild(): Promise<boolean> {
    const request: ProcessRequest = { parent: process.pid, pids: this.#pids, from: this.#done, ...this.#question }
    const silent = new AbortController()
    const late = AbortSignal.timeout(Math.max(0, Math.ceil(this.#until - performance.now())))
    let watch: NodeJS.Timeout | undefined
    let text = ''
    const onOutput = (piece: string): boolean => {
      clearTimeout(watch)
      watch = setTimeout(() => silent.abort(), LOOK_MS.silent)
      text += piece
      const end = text.lastIndexOf('\n') + 1
      this.#take(text.slice(0, end))
      text = text.slice(end)
      return this.#done === this.#all
    }
    const { children, signal } = this.#reader
    try {
      const child = children.take()
      const ended = await child.ask(
        request,
        onOutput,
        AbortSignal.any([silent.signal, late, ...(signal ? [signal] : [])]),
      )
      if (ended === undefined) children.giveBack(child)
      else if (!ended.timedOut && this.#done < this.#all) this.failure = ended.stderr.trim().split('\n').at(-1) ?? ''
      return silent.signal.aborted
    } catch (error) {
      this.failure = errorMessage(error)
      return false
    } finally {
      clearTimeout(watch)
    }
  }

  #take(lines: string): void {
    for (const line of lines.split('\n')) {
      // An empty one says that nothing hangs.
      if (line !== '') this.#add(this.#pids[this.#done++ % this.#pids.length] ?? 0, answer(JSON.parse(line), ''))
    }
  }

  #add(pid: number, { uses, unread }: Answer): void {
    for (const use of uses) this.uses.push({ ...use, pid })
    if (unread === 'late') this.late.add(pid)
    else if (unread === 'EACCES' || unread === 'EPERM') this.denied.add(pid)
    else if (unread !== undefined) this.strange.set(pid, unread)
  }

  /** How many were not read, behind the one that is late. */
  get behind(): number {
    return this.#done === this.#all ? 0 : this.#pids.length - (this.#done % this.#pids.length) - 1
  }
}

/** What the children could not see. */
function notSeen({ behind, late, denied, strange, failure }: Asking): Unseen[] {
  const pids = [...late]
  const failed = `what processes use was not read${failure === '' ? '' : ` (${failure})`}`
  const use = pids.length === 1 ? 'uses' : 'use'
  return [
    ...(failure === undefined ? [] : [{ text: failed, hint: 'Run volctl again.' }]),
    ...(pids.length === 0 ? [] : [unseenOf(pids, `what ${named(pids)} ${use} could not be read in time`)]),
    ...(behind > 0 && pids.length > 0 ? [unseenOf(pids, `what ${behind} more processes use was not read`)] : []),
    ...[...strange].map(([pid, why]) => unseenOf([pid], `what ${named([pid])} uses could not be read: ${why}`)),
    ...(denied.size === 0 ? [] : [{ text: deniedText(denied.size), hint: SEE_ALL }]),
  ]
}

function named(pids: readonly number[]): string {
  return pids.length > MOST_NAMED
    ? `${pids.length} processes`
    : pids.map((pid) => `${processName(pid)} (pid ${pid})`).join(', ')
}

function deniedText(denied: number): string {
  const what = `the open files and mounts of ${count(denied, 'process', 'processes')} cannot be read`
  if (process.geteuid?.() !== 0) return `volctl does not run as root: ${what}`
  return isInUserNamespace()
    ? `volctl runs in a user namespace: ${what}`
    : `${what}: CAP_SYS_PTRACE or CAP_DAC_READ_SEARCH is missing, or a security module forbids it`
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
  // Process 1 always exists, and would be hidden first.
  const isFirstListed = processIds(proc).includes(1)
  const isHiding =
    table
      .at('/proc')
      .at(-1)
      ?.superOptions.some((option) => HIDING.test(option)) === true
  if (isFirstListed && (!isHiding || mayTrace(proc))) return []
  const text = '/proc hides processes of other users (mount option hidepid), so their open files cannot be read'
  return [{ text, hint: SEE_ALL }]
}

function mayTrace(proc: string): boolean {
  const missing = missingCapabilities(kernelTextIfAny(`${proc}/self/status`) ?? '')
  return !missing.some(({ name }) => name === 'CAP_SYS_PTRACE')
}

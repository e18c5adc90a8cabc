/**
 * One look at what every thread of every process holds. It serves many directories: one apply may empty thousands, and a node
 * has thousands of threads. Only links in /proc are read, not their targets.
 *
 * A descriptor's mount id (fdinfo) shows in which namespace its path is to be read. If no table has the mount, it was
 * detached lazily or belongs to an unknown namespace. Then only the inode identifies the file, and a child asks for that.
 */

import { readdirSync, readlinkSync } from 'node:fs'
import { count } from '../lang/count.ts'
import { undeletedPath } from '../mountinfo/deleted.ts'
import { cannotHang } from '../mountinfo/file-systems.ts'
import { containingMount, type Location, locate } from '../mountinfo/location.ts'
import type { MountInfo, MountTable } from '../mountinfo/mount-table.ts'
import type { OtherNamespace } from '../processes/mount-namespaces.ts'
import { processIds, taskIds } from '../processes/mount-namespaces.ts'
import { kernelTextIfAny, mountIdIn, namespaceOf } from '../trust/kernel.ts'
import type { MapAnswer, StrayDescriptor, StrayInode } from './map-messages.ts'
import { type KnownMaps, type MapReader, readMaps } from './mapped-files.ts'
import { placeIn } from './mount-uses.ts'
import { PlaceIndex } from './place-index.ts'
import { type Holder, holder, isDenied, isKernelThread, isTooLong, linkAt, tableOf } from './process-files.ts'

/** What a process holds, as its link in /proc shows it. */
interface Held {
  readonly pid: number
  readonly what: Holder['what']
  readonly path: string
}

/** Held at a place that no mount table shows. */
export interface Stray extends StrayInode {
  readonly pid: number
}

export interface ProcessSearch {
  /** Of our own mount namespace. */
  readonly table: MountTable
  readonly others: readonly OtherNamespace[]
  /** "major:minor" of the file systems whose mapped files are looked for. */
  readonly devices: readonly string[]
  readonly maps: MapReader
  readonly proc?: string
}

/** Processes for one child, whose output is limited; a process has some dozens of files mapped. */
const PIDS_A_CHILD = 2000
/** After so many processes, signals and progress get a turn. */
const PROCESSES_BETWEEN_BREATHS = 50

export class ProcessLook {
  readonly strays: readonly Stray[]
  /** What could not be seen, for messages. */
  readonly unseen: readonly string[]
  readonly maps: KnownMaps
  readonly #proc: string
  readonly #located: PlaceIndex<Held>

  private constructor(found: Found, maps: KnownMaps, proc: string) {
    this.maps = maps
    this.#located = new PlaceIndex(found.located)
    this.strays = found.strays
    this.unseen = found.unseen
    this.#proc = proc
  }

  static async take(search: ProcessSearch): Promise<ProcessLook> {
    const taking = new Taking(search)
    await taking.files()
    const maps = await taking.maps()
    return new ProcessLook(taking, maps, search.proc ?? '/proc')
  }

  /** @returns by pid, each with all that it holds there */
  holdersIn(place: Location): Holder[] {
    return this.named(this.#located.within(place))
  }

  named(held: readonly Held[]): Holder[] {
    const once = new Map(held.map((each) => [`${each.pid} ${each.what} ${each.path}`, each]))
    return [...once.values()]
      .map(({ pid, what, path }) => holder(pid, what, path, this.#proc))
      .toSorted((a, b) => a.pid - b.pid)
  }
}

interface Found {
  readonly located: readonly (readonly [Location, Held])[]
  readonly strays: readonly Stray[]
  readonly unseen: readonly string[]
}

interface Task {
  readonly pid: number
  /** In /proc. */
  readonly directory: string
  readonly table: MountTable
}

class Taking implements Found {
  readonly located: (readonly [Location, Held])[] = []
  readonly strays: Stray[] = []
  readonly unseen: string[] = []
  readonly #search: ProcessSearch
  readonly #proc: string
  readonly #tables: Map<string | undefined, MountTable>
  /** By pid: the mount tables of its threads. */
  readonly #seen = new Map<number, Set<MountTable>>()
  readonly #standing = new Set<number>()
  readonly #descriptors: StrayDescriptor[] = []
  readonly #hidden = new Set<number>()
  readonly #unread = new Set<number>()

  constructor(search: ProcessSearch) {
    const { table, others, proc = '/proc' } = search
    this.#search = search
    this.#proc = proc
    this.#tables = new Map(others.map((other) => [namespaceOf(other.pid, 'mnt', proc), other.table]))
    this.#tables.set(namespaceOf('self', 'mnt', proc), table)
  }

  async files(): Promise<void> {
    for (const [index, pid] of processIds(this.#proc).entries()) {
      if (index % PROCESSES_BETWEEN_BREATHS === 0) await new Promise((resolve) => setImmediate(resolve))
      if (pid !== process.pid) this.#process(pid)
    }
    // On some machines nobody may look into the first process; it uses no pod's volume.
    this.#hidden.delete(1)
    if (this.#hidden.size > 0)
      this.unseen.push(`the open files of ${count(this.#hidden.size, 'process', 'processes')} cannot be read`)
    if (this.#unread.size > 0)
      this.unseen.push(`the mount namespaces of ${count(this.#unread.size, 'process', 'processes')} could not be read`)
  }

  async maps(): Promise<KnownMaps> {
    const { devices, maps, table: ours } = this.#search
    const pids = [...this.#seen.keys()].filter((pid) => !this.#hidden.has(pid))
    const all: MapAnswer[] = []
    for (let from = 0; from < pids.length; from += PIDS_A_CHILD) {
      const some = pids.slice(from, from + PIDS_A_CHILD)
      const standing = some.filter((pid) => this.#standing.has(pid))
      const descriptors = this.#descriptors.filter(({ pid }) => some.includes(pid))
      const { answers, unread } = await readMaps({ pids: some, devices, standing, descriptors }, maps)
      this.unseen.push(...unread)
      all.push(...answers)
      for (const { pid, paths, strays = [] } of answers) {
        // A file keeps the name that it has in the namespace where it was opened, which may be ours.
        const tables = new Set([...(this.#seen.get(pid) ?? []), ours])
        for (const path of paths) {
          for (const table of tables) this.#locate(locate(table, undeletedPath(path)), { pid, what: 'map', path })
        }
        this.strays.push(...strays.map((stray) => ({ ...stray, pid })))
      }
    }
    return { devices, pids, answers: all }
  }

  #process(pid: number): void {
    const leader = new Map<string, string>()
    for (const directory of this.#tasksOf(pid)) {
      const { namespace, denied } = namespaceOrDenied(directory)
      if (namespace === undefined) {
        if (denied === true && !isKernelThread(pid, this.#proc)) this.#hidden.add(pid)
        continue
      }
      const table = this.#tables.get(namespace) ?? tableOf(directory)
      if (table === undefined) {
        this.#unread.add(pid)
        continue
      }
      this.#tables.set(namespace, table)
      const tables = this.#seen.get(pid) ?? new Set()
      this.#seen.set(pid, tables.add(table))
      this.#task({ pid, directory, table }, leader)
    }
  }

  #tasksOf(pid: number): string[] {
    try {
      const tasks = taskIds(pid, this.#proc)
      return tasks.map((task) => `${this.#proc}/${pid}/task/${task}`)
    } catch {
      this.#hidden.add(pid)
      return []
    }
  }

  /** @param leader what the first thread has at each descriptor: the other threads nearly always have the same */
  #task(task: Task, leader: Map<string, string>): void {
    const { pid, directory, table } = task
    for (const what of ['cwd', 'root'] as const) {
      const path = linkAt(`${directory}/${what}`)
      if (path === undefined) {
        if (isTooLong(`${directory}/${what}`)) this.#standing.add(pid)
        continue
      }
      this.#locate(locate(table, undeletedPath(path)), { pid, what, path })
      const mount = containingMount(table, undeletedPath(path))
      if (mount !== undefined && cannotHang(mount.fsType)) this.#standing.add(pid)
    }
    const program = linkAt(`${directory}/exe`)
    for (const each of program === undefined ? [] : [table, this.#search.table]) {
      this.#locate(locate(each, undeletedPath(program ?? '')), { pid, what: 'map', path: program ?? '' })
    }
    for (const name of this.#descriptorsOf(pid, directory)) {
      const path = linkAt(`${directory}/fd/${name}`)
      if (path === undefined && isTooLong(`${directory}/fd/${name}`)) this.#nameless(task, name)
      // Sockets, pipes and their like begin with a letter and hold no path.
      if (path?.startsWith('/') !== true || leader.get(name) === path) continue
      if (!leader.has(name)) leader.set(name, path)
      this.#descriptor(task, name, path)
    }
  }

  #descriptorsOf(pid: number, directory: string): string[] {
    try {
      return readdirSync(`${directory}/fd`)
    } catch (error) {
      if (isDenied(error)) this.#hidden.add(pid)
      return []
    }
  }

  #descriptor({ pid, directory, table }: Task, name: string, path: string): void {
    const info = kernelTextIfAny(`${directory}/fdinfo/${name}`) ?? ''
    const held: Held = { pid, what: 'file', path }
    const mountId = mountIdIn(info)
    if (mountId === undefined) {
      this.#locate(locate(table, undeletedPath(path)), held)
      return
    }
    const showing = [table, this.#search.table, ...this.#tables.values()].find(
      (each) => each.byId(mountId) !== undefined,
    )
    if (showing !== undefined) {
      this.#locate(placeIn(showing, mountId, path), held)
      return
    }
    // A deleted file, or memory without a name, is already lost.
    if (undeletedPath(path) !== path) return
    this.#descriptors.push({ pid, link: `${directory}/fd/${name}` })
  }

  /**
   * Only the inode identifies such a file. A child asks for the inode if the mount is on one of the file systems in question,
   * or in no table.
   */
  #nameless({ pid, directory }: Task, name: string): void {
    const mountId = mountIdIn(kernelTextIfAny(`${directory}/fdinfo/${name}`) ?? '')
    const mounts = mountId === undefined ? [] : this.#mountsOf(mountId)
    if (mounts.length > 0 && !mounts.some(({ dev }) => this.#search.devices.includes(dev))) return
    this.#descriptors.push({ pid, link: `${directory}/fd/${name}` })
  }

  #mountsOf(mountId: number): MountInfo[] {
    return [this.#search.table, ...this.#tables.values()].flatMap((table) => table.byId(mountId) ?? [])
  }

  #locate(place: Location | undefined, held: Held): void {
    if (place !== undefined) this.located.push([place, held])
  }
}

/** The mount namespace of a task; a process or thread that has ended has none. */
function namespaceOrDenied(directory: string): { readonly namespace?: string; readonly denied?: boolean } {
  try {
    return { namespace: readlinkSync(`${directory}/ns/mnt`) }
  } catch (error) {
    return { denied: isDenied(error) }
  }
}

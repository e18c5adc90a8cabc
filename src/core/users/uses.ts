/** What processes use (ask-processes.ts), by the place in a file system, by file system, and by device. */

import { once } from '../base/collections.ts'
import { alike } from '../base/text.ts'
import { type Location, locationIn } from '../linux/location.ts'
import { processName, type Unseen, unseenOf } from '../linux/mount-namespaces.ts'
import type { MountInfo, MountTable } from '../linux/mount-table.ts'
import { isWithin, undeletedPath } from '../linux/paths.ts'
import { type PodProcess, podOfProcess } from '../linux/pod-cgroups.ts'
import { PlaceIndex } from './mount-uses.ts'
import { TOO_LONG, type Use } from './process-messages.ts'

export interface Holder {
  readonly pid: number
  readonly process: string
  readonly what: Use['what']
  /** As the process sees it. */
  readonly path: string
  /** Absent: the process belongs to no pod. */
  readonly of?: PodProcess
}

/** A device that a process has open or mapped. */
export type Opener = ReturnType<Uses['openers']>[number]

export type ByProcess = Use & { readonly pid: number }

/** What a server that is gone answers about its files: nothing on a disk does. */
const OF_SERVERS: ReadonlySet<string> = new Set(['ENOTCONN', 'ESTALE', 'EHOSTDOWN', 'ETIMEDOUT', 'Timeout'])

/** The order in which a sentence names what a process holds. */
const ORDER: readonly Use['what'][] = ['cwd', 'root', 'file', 'map', 'device']

export class Uses {
  /** Held at a place that no mount table shows: only the inode identifies it. */
  readonly strays: readonly ByProcess[]
  readonly unseen: readonly Unseen[]
  readonly #all: readonly ByProcess[]
  readonly #tables: readonly MountTable[]
  readonly #mounts = new Map<number, MountInfo | undefined>()
  readonly #located: PlaceIndex<ByProcess>
  #byMount: ReadonlyMap<number | undefined, readonly ByProcess[]> | undefined

  /**
   * @param tables of every mount namespace, our own first
   * @param ofServers whether file systems of servers are among those that were asked about
   */
  constructor(all: readonly ByProcess[], tables: readonly MountTable[], unseen: readonly Unseen[], ofServers = false) {
    this.#tables = tables
    const isKnown = ({ error, mount }: ByProcess): boolean => error === undefined || this.#mountOf(mount) !== undefined
    const unknown = all.filter((use) => !isKnown(use) && (ofServers || !OF_SERVERS.has(use.error ?? '')))
    this.#all = all.filter(isKnown)
    const inFiles = this.#all.filter(({ device }) => device === undefined)
    this.#located = new PlaceIndex(inFiles.map((use) => [this.#placeOf(use), use]))
    // A deleted file on a mount that is gone, or memory without a name, is already lost.
    this.strays = this.#located.unplaced.filter(({ deleted }) => deleted !== true)
    this.unseen = [
      ...unseen,
      ...unknown.map(({ pid, path, error }) =>
        unseenOf([pid], `${processName(pid)} (pid ${pid}) uses ${path}, which answers ${error}`),
      ),
    ]
  }

  /** @returns by pid, each with all that it holds there */
  holdersIn(...places: readonly Location[]): Holder[] {
    return this.named(places.flatMap((place) => this.#located.within(place)))
  }

  /** Who keeps these mounts from being unmounted: an open file counts for the mount that it was opened by, and for no other. */
  keeping(isOneOf: (mount: number) => boolean): Holder[] {
    this.#byMount ??= Map.groupBy(
      this.#all.filter(({ what }) => what !== 'device'),
      ({ mount }) => mount,
    )
    return this.named(
      [...this.#byMount].flatMap(([mount, uses]) => (mount !== undefined && isOneOf(mount) ? uses : [])),
    )
  }

  named(uses: readonly ByProcess[]): Holder[] {
    return alike(uses, ({ pid, what, path }) => `${pid} ${what} ${path}`)
      .map(([{ pid, what, path }]) => holder(pid, what, path))
      .toSorted((a, b) => a.pid - b.pid || ORDER.indexOf(a.what) - ORDER.indexOf(b.what))
  }

  /** Who uses something on these file systems by a mount that no table shows. @param devs "major:minor" */
  detached(devs: readonly string[]): Holder[] {
    return this.named(
      this.#all.filter(
        ({ dev = '', mount, device }) =>
          device === undefined &&
          devs.includes(dev) &&
          (mount === undefined
            ? !this.#tables.some((table) => table.ofDevice(dev).length > 0)
            : this.#mountOf(mount) === undefined),
      ),
    )
  }

  /** Each process and device once. @param devs "major:minor", of character devices "char major:minor" */
  openers(devs: ReadonlySet<string>) {
    const found = this.#all.flatMap(({ pid, device, what }) =>
      device !== undefined && devs.has(device)
        ? [{ pid, dev: device, how: what === 'map' ? 'mapped' : 'open' } as const]
        : [],
    )
    const once = new Map(found.map((each) => [`${each.pid} ${each.dev}`, each]))
    return [...once.values()].map((each) => ({ ...each, process: processName(each.pid) }))
  }

  #mountOf(id: number | undefined): MountInfo | undefined {
    if (id === undefined) return undefined
    return once(this.#mounts, id, () => {
      const mount = this.#tables.map((table) => table.byId(id)).find((each) => each !== undefined)
      return mount?.raw ?? mount
    })
  }

  /**
   * By the kernel's path and mount, not by the kubelet's: behind a link the two lead to different places of one mount (S8). A file
   * may have another name left: of its path, only the last part is in doubt then.
   */
  #placeOf({ mount, path, deleted }: ByProcess): Location | undefined {
    const shown = path === TOO_LONG ? undefined : this.#mountOf(mount)
    if (shown === undefined) return undefined
    const plain = deleted === true ? undeletedPath(path) : path
    return isWithin(plain, shown.mountPoint) ? locationIn(shown, plain) : undefined
  }
}

export function holder(pid: number, what: Holder['what'], path: string): Holder {
  return { pid, process: processName(pid), what, path, of: podOfProcess(pid) }
}

/**
 * Parses /proc/PID/mountinfo whole and exactly (P107-P109, P115).
 *
 *     36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
 *     (1)(2)(3)   (4)   (5)      (6)      (7)   (8) (9)   (10)         (11)
 *
 * (7) may be absent or several words; (10) may be empty (kernels before 5.1), so fields are split at single blanks (P109), and
 * not, as upstream does, at runs of white space.
 *
 * @see proc_pid_mountinfo(5)
 */

import { append, lazy, memoize, once } from '../base/collections.ts'
import { said, VolctlError } from '../messages/findings.ts'
import { decodeOctal } from '../trust/kernel.ts'
import { coversOf } from './covers.ts'
import { containingMount, locationIn } from './location.ts'
import { type MountInfo, type MountTable, ownPathOf, type PlaceLink } from './mount-table.ts'
import { isWithin, undeletedPath } from './paths.ts'

/**
 * One damaged line fails the whole table: a mount that volctl cannot read might be one that it must not touch.
 *
 * @throws VolctlError NodeUnreadable, naming the line
 */
export function parseMountinfo(from: string | Buffer): MountTable {
  const text = from.toString()
  const mounts: Mount[] = []
  text.split('\n').forEach((line, at) => {
    if (line !== '') mounts.push(new Mount(line, mounts.length, at + 1))
  })
  return tableOf(mounts, text)
}

/** Ids, device, root and mount point. */
const BEGIN = /^(\d{1,10}) (\d{1,10}) (\d{1,10}:\d{1,10}) ([^ ]+) ([^ ]+) /
const OPTIONS = 5

/** One line. Its options are split when they are asked for: a table may have a hundred thousand lines. */
class Mount implements MountInfo {
  readonly id: number
  readonly parentId: number
  readonly dev: string
  readonly root: string
  readonly mountPoint: string
  readonly fsType: string
  readonly source: string
  readonly index: number
  readonly line: string

  /** @param number of the line, for messages */
  constructor(line: string, index: number, number: number) {
    const [begin = '', id, parentId, dev = '', root = '', mountPoint = ''] = BEGIN.exec(line) ?? []
    if (begin === '') throw damaged(number, 'does not begin with ids, major:minor, root and mount point')
    const dash = line.indexOf(' - ', begin.length)
    const [type, source, superOptions] = dash === -1 ? [] : line.slice(dash + 3).split(' ')
    if (superOptions === undefined)
      throw damaged(number, 'lacks its separator "-", or type, source or super options behind it')
    this.id = Number(id)
    this.parentId = Number(parentId)
    this.dev = dev
    this.root = decodeOctal(root)
    this.mountPoint = decodeOctal(mountPoint)
    this.fsType = decodeOctal(type ?? '')
    this.source = decodeOctal(source ?? '')
    this.index = index
    this.line = line
  }

  get options(): readonly string[] {
    return optionsOf(this.line.split(' ')[OPTIONS])
  }

  get optionalFields(): readonly string[] {
    const words = this.line.split(' ')
    return words
      .slice(OPTIONS + 1, separatorIn(words))
      .filter((field) => field !== '')
      .map(decodeOctal)
  }

  get superOptions(): readonly string[] {
    const words = this.line.split(' ')
    return optionsOf(words[separatorIn(words) + 3])
  }

  /** The same mount with another path; everything else is as the kernel shows it. */
  movedTo(mountPoint: string, root = this.root): Mount {
    return Object.assign(Object.create(Mount.prototype), this, { mountPoint, root, raw: this })
  }
}

/** Optional fields end at a word that is only "-"; options before it may contain dashes. */
function separatorIn(words: readonly string[]): number {
  return words.indexOf('-', OPTIONS + 1)
}

/**
 * Mount options, split at the commas outside double quotes (P108): SELinux contexts hold commas (`context="u:r:t:s0:c1,c2"`).
 * The quotes stay in the text; empty elements vanish. Decoded afterwards: the kernel writes a comma inside a value as `\054`
 * (seq_show_option).
 */
function optionsOf(text = ''): readonly string[] {
  return (text.match(/(?:"[^"]*(?:"|$)|[^",])+/g) ?? []).map(decodeOctal)
}

function damaged(line: number, what: string): VolctlError {
  return new VolctlError(said('NodeUnreadable.mountTable', { line, fault: what }), {
    hint: 'The kernel never writes such a line: try again, or check the snapshot that it came from.',
  })
}

const NO_MOUNTS: readonly MountInfo[] = []

/**
 * Indexes are built when they are first used.
 *
 * @param behind the directory behind each link, as a bind mount of it would look: the mount that contains it, with the link's target as
 * root
 */
function tableOf(
  mounts: readonly Mount[],
  text: string,
  links: readonly PlaceLink[] = [],
  raw?: MountTable,
  behind: ReadonlyMap<string, readonly MountInfo[]> = new Map(),
): MountTable {
  /**
   * A mount point that ends in " (deleted)" is also found by the path without that ending (P115): the directory may have been
   * removed, or its name may really end like that.
   */
  const byPath = lazy(() => {
    const found = new Map<string, MountInfo[]>()
    for (const mount of mounts) {
      const plain = undeletedPath(mount.mountPoint)
      append(found, mount.mountPoint, mount)
      if (plain !== mount.mountPoint) append(found, plain, mount)
    }
    return found
  })
  const byDevice = lazy(() => Map.groupBy(mounts, ({ dev }) => dev))
  /** If a damaged table contains an id twice, the newer mount counts. */
  const byId = lazy(() => new Map(mounts.map((mount) => [mount.id, mount])))
  /** Directories below which something is mounted, "" for the root directory. */
  const directories = lazy(() => {
    const all = new Set<string>()
    for (const { mountPoint } of mounts) for (let at = above(mountPoint); !all.has(at); at = above(at)) all.add(at)
    return all
  })
  const byName = new Map<string, ReadonlyMap<string, readonly MountInfo[]>>()
  const covers = lazy(() => coversOf(table))
  /** Worked out once: a stack may be high. */
  const reachedOfStack = memoize((stack: readonly MountInfo[]) => covers().reached(stack))
  const table: MountTable = {
    text,
    all: mounts,
    links,
    get raw() {
      return raw ?? table
    },
    withLinks(wanted) {
      if (wanted.length === 0 || links.length > 0) return table
      // What is mounted on the target itself is represented by the entry for the link.
      const isBehind = (path: string): boolean => wanted.some(({ place }) => path !== place && isWithin(path, place))
      const own = mounts.map((mount) =>
        isBehind(undeletedPath(mount.mountPoint))
          ? mount.movedTo(ownPathOf({ links: wanted }, mount.mountPoint))
          : mount,
      )
      const targets = wanted.flatMap(({ path, place }) => {
        const around = containingMount(table, place)
        return around instanceof Mount ? [[path, [around.movedTo(path, locationIn(around, place).path)]] as const] : []
      })
      return tableOf(own, text, wanted, table, new Map(targets))
    },
    under(prefix) {
      const base = prefix.replace(/\/+$/, '')
      const below = `${base}/`
      return mounts.filter(
        ({ mountPoint }) => mountPoint.startsWith(below) || mountPoint === base || undeletedPath(mountPoint) === base,
      )
    },
    notBelow(directory) {
      const prefix = directory === '/' ? directory : `${directory}/`
      return mounts.filter(({ mountPoint }) => !mountPoint.startsWith(prefix))
    },
    below: (directory) =>
      once(byName, directory, () => {
        const prefix = directory === '/' ? directory : `${directory}/`
        const found = new Map<string, MountInfo[]>()
        for (const mount of mounts) {
          const path = undeletedPath(mount.mountPoint)
          if (!path.startsWith(prefix) || path === prefix) continue
          const end = path.indexOf('/', prefix.length)
          append(found, path.slice(prefix.length, end === -1 ? undefined : end), mount)
        }
        return found
      }),
    at: (path) => behind.get(path) ?? byPath().get(path) ?? NO_MOUNTS,
    reached(path) {
      const all = table.at(path)
      if (all.length === 0 || behind.has(path)) return all
      return all.length === 1 ? covers().reached(all) : reachedOfStack(all)
    },
    coverOf: (mount) => covers().of(mount),
    top: (path) => table.reached(path).at(-1),
    isAbove: (directory) => directories().has(directory === '/' ? '' : directory),
    ofDevice: (dev) => byDevice().get(dev) ?? NO_MOUNTS,
    byId: (id) => byId().get(id),
  }
  return table
}

function above(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

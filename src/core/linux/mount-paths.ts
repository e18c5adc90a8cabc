import { undeletedPath } from './deleted.ts'
import { type MountPiece, pieceOf } from './mount-piece.ts'

const NO_ROWS: readonly number[] = []

/** A list only where mounts are stacked: 100,000 lists would cost more than the index. */
type Stack = number | number[]

/**
 * Rows of a table by the directory of their mount point, and the name there.
 *
 * A mount point that ends in " (deleted)" is also found by the path without that ending (P115): the directory may have been
 * removed, or its name may really end like that.
 */
export class MountPaths {
  readonly #pieces: readonly MountPiece[]
  readonly #directories = new Map<string, Directory>()
  readonly #byHash = new Map<number, Directory>()
  /** Directories below which something is mounted. */
  #above: ReadonlySet<string> | undefined

  constructor(pieces: readonly MountPiece[]) {
    this.#pieces = pieces
    for (const piece of pieces) {
      for (let row = 0; row < piece.columns.size; row++) this.#directoryOf(piece, row).add(piece.firstRow + row)
    }
  }

  /** In table order. */
  at(path: string): readonly number[] {
    const stack = this.in(directoryOf(path))?.(path.slice(path.lastIndexOf('/') + 1))
    if (stack === undefined) return NO_ROWS
    return typeof stack === 'number' ? [stack] : stack
  }

  /** What is mounted on each name in a directory; undefined where nothing is. @param directory "" for the root directory */
  in(directory: string): ((name: string) => Stack | undefined) | undefined {
    const names = this.#directories.get(directory)?.names()
    return names && ((name) => names.get(name))
  }

  /** Every directory in which something is mounted, by its oldest row, with its rows in table order. */
  directories(): IteratorObject<{ readonly path: string; readonly rows: readonly number[] }> {
    return this.#directories.values()
  }

  /** Is anything mounted below this directory. @param directory "" for the root directory */
  isAbove(directory: string): boolean {
    this.#above ??= withParents(this.#directories.keys())
    return this.#above.has(directory)
  }

  /** By the hash of its bytes a directory is found without a string for each row. */
  #directoryOf(piece: MountPiece, row: number): Directory {
    const { isPlain, directoryHash } = piece.columns
    if (isPlain[row] !== 1) return this.#directoryAt(directoryOf(piece.mountPoint(row)))
    const hash = directoryHash[row] ?? 0
    const alike = this.#byHash.get(hash)
    if (alike !== undefined && piece.isDirectlyIn(alike.path, row)) return alike
    const directory = this.#directoryAt(directoryOf(piece.mountPoint(row)))
    this.#byHash.set(hash, directory)
    return directory
  }

  #directoryAt(path: string): Directory {
    const known = this.#directories.get(path)
    if (known !== undefined) return known
    const made = new Directory(path, this.#pieces)
    this.#directories.set(path, made)
    return made
  }
}

/** Names are looked for in few directories. */
class Directory {
  readonly path: string
  rows: number[] = []
  readonly #pieces: readonly MountPiece[]
  #names: Map<string, Stack> | undefined

  constructor(path: string, pieces: readonly MountPiece[]) {
    this.path = path
    this.#pieces = pieces
  }

  /** @param row of the table */
  add(row: number): void {
    // Nearly every directory has one, and a list that grows has room for many more.
    if (this.rows.length === 0) this.rows = [row]
    else this.rows.push(row)
  }

  names(): ReadonlyMap<string, Stack> {
    if (this.#names !== undefined) return this.#names
    this.#names = new Map()
    for (const row of this.rows) {
      const piece = pieceOf(this.#pieces, row)
      note(this.#names, piece, row - piece.firstRow)
    }
    return this.#names
  }
}

function note(names: Map<string, Stack>, piece: MountPiece, row: number): void {
  const name = piece.name(row)
  stack(names, name, piece.firstRow + row)
  // The blank in it is escaped.
  if (piece.columns.isPlain[row] === 1) return
  const plain = undeletedPath(name)
  if (plain !== name) stack(names, plain, piece.firstRow + row)
}

function stack(names: Map<string, Stack>, name: string, row: number): void {
  const there = names.get(name)
  if (there === undefined) names.set(name, row)
  else if (typeof there === 'number') names.set(name, [there, row])
  else there.push(row)
}

/** "" for the root directory and what is directly in it; "." for a path that is not absolute. */
function directoryOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash === -1 ? '.' : path.slice(0, slash)
}

/** The directories and all their parents. */
function withParents(directories: Iterable<string>): ReadonlySet<string> {
  const all = new Set<string>()
  for (const directory of directories) {
    for (let at = directory; !all.has(at); at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) all.add(at)
  }
  return all
}

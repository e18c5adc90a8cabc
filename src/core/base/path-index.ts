/** Values by paths, found by a directory above them: sorted once, for thousands of questions. */
export class PathIndex<T> {
  readonly #sorted: readonly (readonly [string, T])[]

  /** @param entries normalised absolute paths, each as often as it likes */
  constructor(entries: Iterable<readonly [string, T]>) {
    this.#sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  }

  /** What lies at this very path. */
  at(path: string): T[] {
    return this.#between(path, `${path}\0`)
  }

  /** What lies at the path, or below it by path component. */
  within(path: string): T[] {
    if (path === '/') return this.#sorted.map(([, value]) => value)
    // A zero is what comes after a slash.
    return [...this.at(path), ...this.#between(`${path}/`, `${path}0`)]
  }

  /** What lies at a directory above the path, the path itself not among them. @param top no higher than this */
  above(path: string, top = '/'): T[] {
    const directories: string[] = []
    for (let end = path.lastIndexOf('/'); end > 0 && end >= top.length; end = path.lastIndexOf('/', end - 1))
      directories.push(path.slice(0, end))
    if (path !== '/' && top === '/') directories.push('/')
    return directories.flatMap((directory) => this.at(directory))
  }

  /** Values of the paths from the first on, without the end. */
  #between(first: string, end: string): T[] {
    return this.#sorted.slice(this.#firstFrom(first), this.#firstFrom(end)).map(([, value]) => value)
  }

  /** Index of the first entry that is not less than the path. */
  #firstFrom(path: string): number {
    let low = 0
    let high = this.#sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#sorted[middle]?.[0] ?? '') < path) low = middle + 1
      else high = middle
    }
    return low
  }
}

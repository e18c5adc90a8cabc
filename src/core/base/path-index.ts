/** Values by paths, found by a directory above them: sorted once, for thousands of questions. */
export class PathIndex<T> {
  readonly #sorted: readonly (readonly [string, T])[]

  /** @param entries normalised absolute paths, each as often as it likes */
  constructor(entries: Iterable<readonly [string, T]>) {
    this.#sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  }

  /** What lies at this very path. */
  at(path: string): T[] {
    const found: T[] = []
    this.#addAt(path, found)
    return found
  }

  /** What lies at the path, or below it by path component. */
  within(path: string): T[] {
    if (path === '/') return this.#sorted.map(([, value]) => value)
    const prefix = `${path}/`
    const found = this.at(path)
    for (let i = this.#firstFrom(prefix); this.#sorted[i]?.[0].startsWith(prefix); i++) {
      found.push((this.#sorted[i] as [string, T])[1])
    }
    return found
  }

  /** What lies at a directory above the path, the path itself not among them. @param top no higher than this */
  above(path: string, top = '/'): T[] {
    const found: T[] = []
    for (let end = path.lastIndexOf('/'); end > 0 && end >= top.length; end = path.lastIndexOf('/', end - 1)) {
      this.#addAt(path.slice(0, end), found)
    }
    if (path !== '/' && top === '/') this.#addAt('/', found)
    return found
  }

  #addAt(path: string, found: T[]): void {
    for (let i = this.#firstFrom(path); this.#sorted[i]?.[0] === path; i++)
      found.push((this.#sorted[i] as [string, T])[1])
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

/** What the kernel calls the mirror's files by: numbers, each of one path at a time. */
import { posix } from 'node:path'

const ROOT = 1n

export class Nodes {
  readonly #paths = new Map<bigint, string>([[ROOT, '']])
  readonly #numbers = new Map<string, bigint>([['', ROOT]])
  #last = ROOT

  /** Relative to the root, "" for the root itself; of what is gone, and may still be open, the last one. */
  pathOf(node: bigint): string {
    return this.#paths.get(node) ?? ''
  }

  /** A path keeps its number as long as it is there: the kernel takes another one for another file. */
  numberOf(path: string): bigint {
    const known = this.#numbers.get(path)
    if (known !== undefined) return known
    const node = ++this.#last
    this.#paths.set(node, path)
    this.#numbers.set(path, node)
    return node
  }

  gone(path: string): void {
    this.#numbers.delete(path)
  }

  /** With everything below. */
  moved(from: string, to: string): void {
    this.gone(to)
    for (const [path, node] of [...this.#numbers]) {
      if (path !== from && !path.startsWith(`${from}/`)) continue
      const now = posix.join(to, path.slice(from.length))
      this.#numbers.delete(path)
      this.#numbers.set(now, node)
      this.#paths.set(node, now)
    }
  }
}

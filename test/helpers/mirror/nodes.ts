/** The kernel's names for the mirror's files: numbers, each for one path at a time. */
import { posix } from 'node:path'

const ROOT = 1n

export class Nodes {
  readonly #paths = new Map<bigint, string>([[ROOT, '']])
  readonly #numbers = new Map<string, bigint>([['', ROOT]])
  #last = ROOT

  /** Relative to the root, "" for the root itself; for a removed file that may still be open, its last path. */
  pathOf(node: bigint): string {
    return this.#paths.get(node) ?? ''
  }

  /** A path keeps its number as long as it exists: to the kernel, another number is another file. */
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

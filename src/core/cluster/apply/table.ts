/** Records by several keys at once, changed in place: 150,000 pods are sorted in once, and not for each operation. */

/** Under which texts a record is found, by the name of the key. */
export type KeysOf<T, K extends string> = Readonly<Record<K, (record: T) => readonly string[]>>

export class Table<T extends object, K extends string> {
  readonly #keysOf: KeysOf<T, K>
  readonly #keys: readonly K[]
  readonly #by: Readonly<Record<K, ByText<T>>>
  /** Each record's place in the list. */
  readonly #places = new Map<T, number>()
  #next = 0

  constructor(keysOf: KeysOf<T, K>, records: Iterable<T>) {
    this.#keysOf = keysOf
    this.#keys = Object.keys(keysOf) as K[]
    this.#by = Object.fromEntries(this.#keys.map((key) => [key, new ByText<T>()])) as Record<K, ByText<T>>
    for (const record of records) this.add(record)
  }

  /** In the order of the list. */
  all(): readonly T[] {
    return [...this.#places.keys()]
  }

  /** The records that have this key. */
  of(key: K, text: string): ReadonlySet<T> {
    return this.#by[key].of(text)
  }

  /** @returns the record in the table: another object, where the list has this one twice */
  add(record: T): T {
    const own = this.#places.has(record) ? { ...record } : record
    this.#places.set(own, this.#next++)
    for (const key of this.#keys) for (const text of this.#keysOf[key](own)) this.#by[key].add(text, own)
    return own
  }

  remove(record: T): void {
    this.#places.delete(record)
    for (const key of this.#keys) for (const text of this.#keysOf[key](record)) this.#by[key].remove(text, record)
  }

  /** Some of its records, each once, in the order of the list. */
  inOrder(records: Iterable<T>): readonly T[] {
    return [...new Set(records)].toSorted((a, b) => (this.#places.get(a) ?? 0) - (this.#places.get(b) ?? 0))
  }
}

/** Of almost every text there is one record, which is kept without a set around it: one for each would take more than the records. */
class ByText<T extends object> {
  readonly #records = new Map<string, T | Several<T>>()

  of(text: string): ReadonlySet<T> {
    const found = this.#records.get(text)
    if (found instanceof Several) return found
    return found === undefined ? NOTHING : new Set([found])
  }

  add(text: string, record: T): void {
    const found = this.#records.get(text)
    if (found instanceof Several) found.add(record)
    else if (found !== record) this.#records.set(text, found === undefined ? record : new Several([found, record]))
  }

  remove(text: string, record: T): void {
    const found = this.#records.get(text)
    if (found === record) this.#records.delete(text)
    if (!(found instanceof Several)) return
    found.delete(record)
    if (found.size === 0) this.#records.delete(text)
  }
}

class Several<T> extends Set<T> {}

const NOTHING: ReadonlySet<never> = new Set()

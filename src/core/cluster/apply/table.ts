/** Records by several keys at once, changed in place: 150,000 pods are sorted in once, and not for each operation. */

/** Under which texts a record is found, by the name of the key. */
export type KeysOf<T, K extends string> = Readonly<Record<K, (record: T) => readonly string[]>>

export class Table<T extends object, K extends string> {
  readonly #keysOf: KeysOf<T, K>
  readonly #keys: readonly K[]
  readonly #by = new Map<string, Set<T>>()
  /** Each record's place in the list. */
  readonly #places = new Map<T, number>()
  #next = 0

  constructor(keysOf: KeysOf<T, K>, records: Iterable<T>) {
    this.#keysOf = keysOf
    this.#keys = Object.keys(keysOf) as K[]
    for (const record of records) this.add(record)
  }

  /** In the order of the list. */
  all(): readonly T[] {
    return [...this.#places.keys()]
  }

  /** The records that have this key. */
  of(key: K, text: string): ReadonlySet<T> {
    return this.#by.get(`${key} ${text}`) ?? NOTHING
  }

  /** @returns the record in the table: another object, where the list has this one twice */
  add(record: T): T {
    const own = this.#places.has(record) ? { ...record } : record
    this.#places.set(own, this.#next++)
    for (const each of this.#keyTexts(own)) {
      const same = this.#by.get(each)
      if (same === undefined) this.#by.set(each, new Set([own]))
      else same.add(own)
    }
    return own
  }

  remove(record: T): void {
    this.#places.delete(record)
    for (const each of this.#keyTexts(record)) {
      const same = this.#by.get(each)
      same?.delete(record)
      if (same?.size === 0) this.#by.delete(each)
    }
  }

  /** Some of its records, each once, in the order of the list. */
  inOrder(records: Iterable<T>): readonly T[] {
    return [...new Set(records)].toSorted((a, b) => (this.#places.get(a) ?? 0) - (this.#places.get(b) ?? 0))
  }

  #keyTexts(record: T): string[] {
    return this.#keys.flatMap((key) => [...new Set(this.#keysOf[key](record))].map((text) => `${key} ${text}`))
  }
}

const NOTHING: ReadonlySet<never> = new Set()

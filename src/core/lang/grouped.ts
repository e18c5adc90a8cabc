/**
 * Several values under one key, of which almost every key has one: of 50,000 volumes almost each is wanted by one node and attached
 * to one. That one is kept without a list around it, which would be larger than the place of the value.
 */
export class Grouped<K, V> {
  readonly #values = new Map<K, V | Several<V>>()

  add(key: K, value: V): void {
    const found = this.#values.get(key)
    if (found instanceof Several) found.all.push(value)
    else this.#values.set(key, found === undefined ? value : new Several(found, value))
  }

  /** In the order in which they came. */
  of(key: K): readonly V[] {
    const found = this.#values.get(key)
    if (found instanceof Several) return found.all
    return found === undefined ? [] : [found]
  }
}

class Several<V> {
  readonly all: V[]

  constructor(first: V, second: V) {
    this.all = [first, second]
  }
}

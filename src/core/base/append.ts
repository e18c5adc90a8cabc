/** Adds to the list that a map has under a key, in place: copying it for each would take quadratic time. */
export function append<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

/** Several values under one key, in the order in which they came. */
export class Grouped<K, V> {
  readonly #values = new Map<K, V[]>()

  add(key: K, value: V): void {
    append(this.#values, key, value)
  }

  of(key: K): readonly V[] {
    return this.#values.get(key) ?? []
  }
}

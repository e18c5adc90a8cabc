import { append } from './append.ts'

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

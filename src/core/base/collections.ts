/** What is kept in maps, and worked out once. */

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

/**
 * The value that a map from outside has under a key that also comes from outside: names such as `constructor` are legal
 * for volumes and labels, and every JavaScript object answers to them.
 */
export function ownValue<T>(map: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined
}

/** The properties that have a value, in their order: for what is laid over another object, whose values stay where this one has none. */
export function omitUndefined<T extends object>(given: T): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T
}

/**
 * A function that works out its answer once for each object that it is asked about, for as long as that object lives.
 * For objects that never change: snapshots, and what is made from one.
 */
export function memoize<K extends object, V>(work: (about: K) => V): (about: K) => V {
  const answers = new WeakMap<K, { readonly answer: V }>()
  return (about) => {
    const known = answers.get(about)
    if (known !== undefined) return known.answer
    const answer = work(about)
    answers.set(about, { answer })
    return answer
  }
}

/** A value that is worked out with the first question. */
export function lazy<T>(work: () => T): () => T {
  let known: { readonly value: T } | undefined
  return () => {
    known ??= { value: work() }
    return known.value
  }
}

/** What a map has for a key, worked out with the first question. */
export function once<K, V>(known: Map<K, V>, key: K, work: () => V): V {
  if (known.has(key)) return known.get(key) as V
  const made = work()
  known.set(key, made)
  return made
}

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

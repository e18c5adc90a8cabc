/**
 * A function that works out its answer once for each object that it is asked about, for as long as that object lives.
 * For objects that never change: snapshots, and what is made from one.
 */
export function onceFor<K extends object, V>(work: (about: K) => V): (about: K) => V {
  const answers = new WeakMap<K, { readonly answer: V }>()
  return (about) => {
    const known = answers.get(about)
    if (known !== undefined) return known.answer
    const answer = work(about)
    answers.set(about, { answer })
    return answer
  }
}

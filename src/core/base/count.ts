/** `1 pod`, `2 pods`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`
}

/** How many there are of each, in the order in which they first come. */
export function counted<T extends string>(all: Iterable<T>): Partial<Record<T, number>> {
  const counts: Partial<Record<T, number>> = {}
  for (const each of all) counts[each] = (counts[each] ?? 0) + 1
  return counts
}

/** `2 done, 1 failed`. @param order else that in which they first come */
export function tally<T extends string>(all: readonly T[], order: Iterable<T> = all): string {
  const counts = counted(all)
  return [...new Set(order)].flatMap((each) => (counts[each] === undefined ? [] : `${counts[each]} ${each}`)).join(', ')
}

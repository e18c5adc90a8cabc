/**
 * For a line or a list that must not grow without end: the first texts, and in place of the others how many they are.
 *
 * @param before what is said before their number
 */
export function take(texts: readonly string[], most: number, before = ''): string[] {
  const more = texts.length - most
  return more > 0 ? [...texts.slice(0, most), `${before}${more} more`] : [...texts]
}

/** The texts that there are, none of them empty. */
export function present(...texts: readonly (string | 0 | false | undefined)[]): string[] {
  return texts.flatMap((text) => text || [])
}

/** Those that are alike together, in the order in which the first of each comes. */
export function alike<T>(all: Iterable<T>, keyOf: (each: T) => unknown): readonly (readonly [T, ...T[]])[] {
  return [...Map.groupBy(all, keyOf).values()] as [T, ...T[]][]
}

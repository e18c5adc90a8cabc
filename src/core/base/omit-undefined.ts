/** The keys whose value may be undefined. */
type Optional<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T]

/** The same with those keys left out where there is no value: absent, never undefined. */
type Defined<T> = { [K in Exclude<keyof T, Optional<T>>]: T[K] } & {
  [K in Optional<T>]?: Exclude<T[K], undefined>
}

/**
 * The properties that have a value, in their order. JSON and `exactOptionalPropertyTypes` both distinguish an absent property from
 * one that is undefined: `{ id, ...omitUndefined({ hint }) }`.
 */
export function omitUndefined<T extends object>(given: T): Defined<T> {
  // Called for every operation, event and finding: twice as quick as by lists of entries.
  const found: Partial<T> = {}
  for (const key of Object.keys(given) as (keyof T)[]) if (given[key] !== undefined) found[key] = given[key]
  return found as Defined<T>
}

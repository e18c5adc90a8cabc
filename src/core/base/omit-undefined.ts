/** The properties that have a value, in their order: for what is laid over another object, whose values stay where this one has none. */
export function omitUndefined<T extends object>(given: T): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T
}

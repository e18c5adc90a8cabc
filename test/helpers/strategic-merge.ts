/** A strategic merge patch as the API server applies it to a claim's status: maps, and lists of conditions by type. */

type Value = Readonly<Record<string, unknown>>

export function strategicMerge(target: Value, patch: Value): Record<string, unknown> {
  const result: Record<string, unknown> = { ...target }
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else if (Array.isArray(value)) result[key] = mergeByType((result[key] ?? []) as Value[], value as Value[])
    else if (typeof value === 'object') result[key] = strategicMerge((result[key] ?? {}) as Value, value as Value)
    else result[key] = value
  }
  return result
}

function mergeByType(list: readonly Value[], patch: readonly Value[]): Value[] {
  const touched = new Set(patch.map(({ type }) => type))
  const untouched = list.filter(({ type }) => type !== undefined && !touched.has(type))
  return [...untouched, ...patch.filter((each) => each.$patch !== 'delete')]
}

/** A document in which one node, leaf or inner, has another type: what no schema allows, and any server may send. */

export type Path = readonly (string | number)[]

/** What stands in its place; `undefined`: it is missing. */
export const ODD: readonly unknown[] = [
  undefined,
  null,
  true,
  7,
  1.5,
  '',
  'x',
  [],
  {},
  [null],
  [{}],
  ['x'],
  { x: null },
]

/** Every node below, with what leads to it. */
export function* pathsOf(value: unknown, path: Path = []): Generator<Path> {
  if (typeof value !== 'object' || value === null) return
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value)
  for (const key of keys) {
    const below = [...path, key]
    yield below
    yield* pathsOf((value as Record<string | number, unknown>)[key], below)
  }
}

/** As messages name it. */
export function pathText(path: Path): string {
  return path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
}

/** Does something with the document while the node is swapped; afterwards the document is as before. */
export function swapped<T>(document: object, path: Path, odd: unknown, use: () => T): T {
  const parents = path.slice(0, -1)
  const key = path.at(-1) as string
  const parent = parents.reduce<Record<string | number, unknown>>(
    (at, each) => at[each] as Record<string, unknown>,
    document as Record<string, unknown>,
  )
  const before = parent[key]
  if (odd === undefined && !Array.isArray(parent)) delete parent[key]
  else parent[key] = odd ?? null
  try {
    return use()
  } finally {
    parent[key] = before
  }
}

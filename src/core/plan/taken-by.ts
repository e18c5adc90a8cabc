import type { Operation } from './plan.ts'

/** By which a look's finding and the operation that it stops are told: its kind, and what it takes away first. */
export function takenBy({ kind, paths, steps }: Pick<Operation, 'kind' | 'paths' | 'steps'>): string {
  return `${kind} ${targetOf({ paths, steps })}`
}

/** The first path, or the object of the API. */
export function targetOf({ paths, steps }: Pick<Operation, 'paths' | 'steps'>): string {
  return paths[0] ?? steps[0]?.target ?? ''
}

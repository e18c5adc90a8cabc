import type { Operation } from './plan.ts'

/** Joins a look's finding with the operation that it stops: the kind, and what the operation takes away first. */
export function takenBy({ kind, paths, steps }: Pick<Operation, 'kind' | 'paths' | 'steps'>): string {
  return `${kind} ${targetOf({ paths, steps })}`
}

/** The first path, or the object of the API. */
export function targetOf({ paths, steps }: Pick<Operation, 'paths' | 'steps'>): string {
  return paths[0] ?? steps[0]?.target ?? ''
}

/** Paths made of names that would lead elsewhere: what the API, or whoever writes below the root directory, calls things. */
import { isPlainPath } from '../../files/path-name.ts'
import type { Draft, Obstacle } from '../../plan/draft.ts'

export function oddPathObstacle({ paths, steps }: Draft): Obstacle | undefined {
  const all = [...paths, ...steps.map(({ target }) => target)]
  const odd = all.find((path) => path.startsWith('/') && !isPlainPath(path))
  if (odd === undefined) return undefined
  return {
    code: 'InvalidPath',
    message: `a path of this operation would lead elsewhere: ${JSON.stringify(odd)}`,
    hint: 'Look at the names in the pod, its volumes and its annotations.',
  }
}

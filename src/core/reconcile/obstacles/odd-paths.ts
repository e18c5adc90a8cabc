/** Paths that contain names, from the API or from below the root directory, that would lead elsewhere. */
import { isPlainPath } from '../../files/path-name.ts'
import type { Draft, Obstacle } from '../../plan/draft.ts'

export function oddPathObstacle({ paths, steps }: Draft): Obstacle | undefined {
  const odd = paths.find(isOdd) ?? steps.find(({ target }) => isOdd(target))?.target
  if (odd === undefined) return undefined
  return {
    code: 'InvalidPath',
    message: `a name in a path of this operation would lead elsewhere: ${JSON.stringify(odd)}`,
    hint: 'Look at the names in the pod, its volumes and its annotations.',
  }
}

function isOdd(path: string): boolean {
  return path.startsWith('/') && !isPlainPath(path)
}

import type { NodeSnapshot } from '../model/snapshot.ts'
import { undeletedPath } from '../mountinfo/deleted.ts'

/**
 * Loop devices whose backing file this is; one that was deleted meanwhile as well.
 *
 * @param path absolute
 * @returns their names in /dev, as the snapshot has them in order
 */
export function loopsBackedBy({ blockDevices = [] }: Pick<NodeSnapshot, 'blockDevices'>, path: string): string[] {
  return blockDevices.flatMap(({ name, backingFile }) =>
    backingFile !== undefined && undeletedPath(backingFile) === path ? [name] : [],
  )
}

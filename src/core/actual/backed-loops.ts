import type { NodeSnapshot } from '../model/snapshot.ts'
import { undeletedPath } from '../mountinfo/deleted.ts'

/**
 * Loop devices with this backing file, even if the file was deleted.
 *
 * @param path absolute
 * @returns their names in /dev, in the order of the snapshot
 */
export function loopsBackedBy({ blockDevices = [] }: Pick<NodeSnapshot, 'blockDevices'>, path: string): string[] {
  return blockDevices.flatMap(({ name, backingFile }) =>
    backingFile !== undefined && undeletedPath(backingFile) === path ? [name] : [],
  )
}

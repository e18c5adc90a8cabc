/** The root directory may be reached by other names: a link that the kubelet was given, a bind mount of it (S8). */

import { isWithin, plainPath } from '../files/path-within.ts'
import { ownPathOf } from '../mountinfo/linked-mounts.ts'
import { locate } from '../mountinfo/location.ts'
import type { ActualInputs } from './actual-inputs.ts'

const DEFAULT_ROOT_DIR = '/var/lib/kubelet'

/** The path as mount table and tree have it; as it is, where it is not below the root directory by any name. */
export function rootPathOf(inputs: ActualInputs, path: string): string {
  const { rootDir } = inputs
  // The place behind a link in the structure.
  const own = ownPathOf(inputs.mounts, path)
  if (isWithin(own, rootDir)) return own
  const named = kubeletRoot(inputs)
  if (named !== undefined && isWithin(path, named)) return `${rootDir}${path.slice(named.length)}`
  // By device and path within it: another mount of the same directory.
  const at = locate(inputs.mounts, path)
  const root = locate(inputs.mounts, rootDir)
  if (at === undefined || root === undefined || at.dev !== root.dev || !isWithin(at.path, root.path)) return path
  return `${rootDir}${at.path.slice(root.path === '/' ? 0 : root.path.length)}`.replace(/\/$/, '')
}

/** As the kubelet's flags have it: in the snapshot its links are resolved. */
function kubeletRoot({ snapshot }: ActualInputs): string | undefined {
  const args = snapshot.kubelet?.args
  if (args === undefined) return undefined
  const index = args.findIndex((arg) => arg === '--root-dir' || arg.startsWith('--root-dir='))
  const arg = args[index]
  const value = arg === '--root-dir' ? args[index + 1] : arg?.slice('--root-dir='.length)
  return plainPath(value ?? DEFAULT_ROOT_DIR)
}

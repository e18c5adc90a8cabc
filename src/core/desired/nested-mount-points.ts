/** Directories that a volume needs so that containers can mount something inside it (P26). */
import { posix } from 'node:path'
import { compareText } from '../lang/compare-text.ts'
import type { Container, Pod } from '../model/objects.ts'
import { allContainers } from './pods.ts'

/**
 * Paths relative to the volume, of the first level of nesting only, once each.
 *
 * @throws Error a container mounts the volume outside the container's root
 */
export function nestedMountPoints(podVolumeName: string, pod: Pod): string[] {
  return [...new Set(allContainers(pod).flatMap((container) => nestedIn(container, podVolumeName)))]
}

function nestedIn({ volumeMounts = [] }: Container, podVolumeName: string): string[] {
  const mounts = volumeMounts.map(({ name, mountPath = '' }) => ({ name, path: cleanPath(mountPath) }))
  const all = mounts.map(({ path }) => path).sort(compareText)
  return mounts.flatMap(({ name, path }) => {
    if (name !== podVolumeName) return []
    if (path.startsWith('../')) throw new Error(`${path} is not a valid mount path of a container`)
    const found: string[] = []
    for (const other of all) {
      const last = found.at(-1)
      const isFirstLevel = last === undefined || !other.startsWith(`${path}/${last}/`)
      if (other.startsWith(`${path}/`) && isFirstLevel) found.push(other.slice(path.length + 1))
    }
    return found
  })
}

/** As Go cleans a path: unlike POSIX, without a slash at the end. */
function cleanPath(path: string): string {
  const clean = posix.normalize(path)
  return clean === '/' ? clean : clean.replace(/\/$/, '')
}

/** Where links in a test kubelet's directories lead: the kernel shows only the resolved paths (S8). */
import { lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const LINKED = ['pods', 'plugins', 'plugins/kubernetes.io/csi']

interface Place {
  readonly own: string
  readonly place: string
}

export function structurePlaces(rootDir: string): Place[] {
  return LINKED.flatMap((name) => {
    const own = join(rootDir, name)
    return lstatSync(own, { throwIfNoEntry: false })?.isSymbolicLink() ? [{ own, place: realpathSync(own) }] : []
  })
}

/** The kubelet's path for one that the kernel shows. */
export function ownPath(path: string, places: readonly Place[]): string {
  const [found] = places
    .filter(({ place }) => path.startsWith(`${place}/`))
    .toSorted((a, b) => b.place.length - a.place.length)
  return found === undefined ? path : `${found.own}${path.slice(found.place.length)}`
}

/** The reverse; a mount on the path itself, which may be dead, is not touched. */
export function kernelPath(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path))
  } catch {
    return path
  }
}

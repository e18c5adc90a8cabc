/**
 * A mount table with the kubelet's own paths, if some of the kubelet's directories are links (S8).
 *
 * The kernel shows mount points with links resolved: if ROOT/pods is a link to /data/pods, a mount on ROOT/pods/UID/… is in the
 * table as /data/pods/UID/…. In MountTable.withLinks it has the path again that the kubelet, its drivers and all steps use. The
 * directory behind a link is shown as if it were bind-mounted on the link's path.
 */

import type { MountTable, PlaceLink } from './mount-table.ts'
import { isWithin } from './paths.ts'

/** The kernel's path for one of the kubelet's. */
export function placeOf({ links }: Pick<MountTable, 'links'>, path: string): string {
  return moved(path, links, 'path', 'place')
}

/** The kubelet's path for one of the kernel's. */
export function ownPathOf({ links }: Pick<MountTable, 'links'>, place: string): string {
  return moved(place, links, 'place', 'path')
}

function moved(path: string, links: readonly PlaceLink[], from: keyof PlaceLink, to: keyof PlaceLink): string {
  let nearest: PlaceLink | undefined
  for (const link of links) {
    if ((nearest?.[from].length ?? 0) < link[from].length && isWithin(path, link[from])) nearest = link
  }
  return nearest === undefined ? path : `${nearest[to]}${path.slice(nearest[from].length)}`
}

/** Reads the mount table again during an apply, through the same links in the kubelet's directories as the plan (S8, S26). */
import { OperationRefused } from '../errors/operation-error.ts'
import { type PlaceLink, withLinks } from '../mountinfo/linked-mounts.ts'
import type { MountTable } from '../mountinfo/mount-table.ts'
import { readMountTable } from './read-mountinfo.ts'
import { structureLinks } from './tree/structure-links.ts'

/**
 * @param before the links that the plan was made with
 * @returns a reader, which throws OperationRefused Changed once a link leads elsewhere or cannot be followed: the table would
 * show nothing on paths that still have mounts
 */
export function mountTableReader(rootDir: string, before: readonly PlaceLink[]): () => MountTable {
  const wanted = before.map(textOf).join()
  return () => {
    const mounts = readMountTable()
    const { links } = structureLinks(rootDir, mounts)
    if (links.map(textOf).join() === wanted) return withLinks(mounts, links)
    const [changed] = [...before, ...links].filter((link) => !(isIn(link, before) && isIn(link, links)))
    throw new OperationRefused(
      'Changed',
      `the link ${changed?.path ?? rootDir} leads elsewhere than when the plan was made`,
      {
        hint: 'Plan again.',
      },
    )
  }
}

function isIn(link: PlaceLink, links: readonly PlaceLink[]): boolean {
  return links.some((each) => textOf(each) === textOf(link))
}

function textOf({ path, place }: PlaceLink): string {
  return `${path} ${place}`
}

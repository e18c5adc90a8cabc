/** The mount table read again in an apply, through the links that the plan was decided on (S8, S26). */
import { OperationRefused } from '../errors/operation-error.ts'
import { type PlaceLink, withLinks } from '../mountinfo/linked-mounts.ts'
import type { MountTable } from '../mountinfo/mount-table.ts'
import { readMountTable } from './read-mountinfo.ts'
import { structureLinks } from './tree/structure-links.ts'

/**
 * @param before the links of the look
 * @returns a reader, which throws OperationRefused Changed once a link leads elsewhere, or nobody can tell any more: the
 * table would show nothing on paths that still have mounts
 */
export function mountsAnew(rootDir: string, before: readonly PlaceLink[]): () => MountTable {
  const wanted = before.map(inWords).join()
  return () => {
    const mounts = readMountTable()
    const { links } = structureLinks(rootDir, mounts)
    if (links.map(inWords).join() === wanted) return withLinks(mounts, links)
    const [changed] = [...before, ...links].filter((link) => !(isIn(link, before) && isIn(link, links)))
    throw new OperationRefused(
      'Changed',
      `${changed?.path ?? rootDir} leads to another place than when the plan was made`,
      {
        hint: 'Plan again.',
      },
    )
  }
}

function isIn(link: PlaceLink, links: readonly PlaceLink[]): boolean {
  return links.some((each) => inWords(each) === inWords(link))
}

function inWords({ path, place }: PlaceLink): string {
  return `${path} ${place}`
}

/** The page size of an emptyDir of huge pages: the size to mount with, and the size that is mounted (P40, P41). */
import { parseQuantity } from '../desired/quantity.ts'
import type { Pod } from '../model/objects.ts'
import type { MountInfo } from '../mountinfo/mount-table.ts'
import type { Medium } from './medium.ts'

const RESOURCE = 'hugepages-'

type HugePages = Extract<Medium, { kind: 'hugePages' }>
export type PageSize = { readonly size: string } | { readonly error: string }

/** A container has to request the size; for plain HugePages only one size may be requested. The text is the request's own. */
export function requestedPageSize({ name, size: asked }: HugePages, pod: Pod): PageSize {
  const sizes = requestedSizes(pod)
  const odd = [...(asked === undefined ? [] : [asked]), ...sizes].find((size) => parseQuantity(size) === undefined)
  if (odd !== undefined) return { error: `${JSON.stringify(odd)} is not a page size` }
  const wanted = asked === undefined ? sizes : sizes.filter((size) => parseQuantity(size) === parseQuantity(asked))
  const [found] = wanted
  if (found === undefined) return { error: `its medium is ${name}, but no container requests such pages` }
  const differ = wanted.some((size) => parseQuantity(size) !== parseQuantity(found))
  return differ
    ? { error: `its medium is ${name}, but the containers request pages of several sizes` }
    : { size: found }
}

/** The sizes that the pod, its containers and its init containers request. */
function requestedSizes({ spec }: Pod): string[] {
  return [spec, ...(spec.containers ?? []), ...(spec.initContainers ?? [])]
    .flatMap(({ resources }) => Object.keys(resources?.requests ?? {}))
    .flatMap((name) => (name.startsWith(RESOURCE) ? [name.slice(RESOURCE.length)] : []))
}

/**
 * Does the mount have the page size that the medium names? Plain HugePages accepts any. The kernel writes 2M for 2Mi; a mount
 * that does not show its size counts as another size.
 */
export function hasPageSize({ superOptions }: Pick<MountInfo, 'superOptions'>, { size }: HugePages): boolean {
  if (size === undefined) return true
  const found = mountedPageSize(superOptions)
  return found !== undefined && found === parseQuantity(size)
}

/** Bytes; undefined: the options do not show the size. */
export function mountedPageSize(superOptions: readonly string[]): bigint | undefined {
  const text = superOptions.find((option) => option.startsWith('pagesize='))?.slice('pagesize='.length)
  return text === undefined ? undefined : parseQuantity(text.endsWith('i') ? text : `${text}i`)
}

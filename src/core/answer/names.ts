/** Names in sentences: a few, and how many more. */

/** Of more names than this the first few are said. */
const NAMES_AT_MOST = 4

/** `a, b, c` or `a, b, c, and 12 more`: never "and 1 more", which is no shorter than the name. */
export function few(names: readonly string[], most = NAMES_AT_MOST, between = ', '): string {
  const unique = [...new Set(names)]
  if (unique.length <= most) return unique.join(between)
  const shown = unique.slice(0, most - 1)
  return `${shown.join(between)}${between}and ${unique.length - shown.length} more`
}

/** Paths as a person reads them: below the root directory, the kubelet's hashes cut. -v has them whole. */
export function withoutRoot(text: string, rootDir: string): string {
  const below = rootDir === '' ? text : text.replaceAll(`${rootDir}/`, '')
  return below.replace(/\b([0-9a-f]{8})[0-9a-f]{56}\b(?=\/)/g, '$1...')
}

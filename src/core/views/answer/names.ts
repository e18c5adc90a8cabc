/** Names in sentences: a few, and how many more. */

import { formatDuration } from '../../base/duration.ts'

/** Of more names than this the first few are said. */
const NAMES_AT_MOST = 4

/** `a, b, c` or `a, b, c, and 12 more`: never "and 1 more", which is no shorter than the name. */
export function few(names: readonly string[], most = NAMES_AT_MOST, between = ', '): string {
  const unique = [...new Set(names)]
  if (unique.length <= most) return unique.join(between)
  const shown = unique.slice(0, most - 1)
  return `${shown.join(between)}${between}and ${unique.length - shown.length} more`
}

/** Paths as a person reads them: below the root directory, the kubelet's hashes and those of attachments cut. -v has them whole. */
export function withoutRoot(text: string, rootDir: string): string {
  const below = rootDir === '' ? text : text.replaceAll(`${rootDir}/`, '')
  return below.replace(/\b((?:csi-)?[0-9a-f]{8})[0-9a-f]{56}\b/g, '$1...')
}

/** Times as a person reads them: how long ago. @param now RFC 3339 */
export function withAges(text: string, now: string): string {
  return text.replace(/(since |of )?\b(\d{4}-\d\d-\d\dT[\d:.]+Z)/g, (time, before: string | undefined, at: string) => {
    const age = Date.parse(now) - Date.parse(at)
    if (!(age >= 0)) return time
    return before === 'since '
      ? `for ${formatDuration(age)}`
      : `${before === 'of ' ? 'taken ' : ''}${formatDuration(age)} ago`
  })
}

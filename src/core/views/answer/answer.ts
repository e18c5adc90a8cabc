/**
 * The one answer that every screen draws: what this is about, what needs a person, what is ready, what stays, what others do, the
 * counts, and what to type next. Each part is left out where it is empty.
 */

import { formatDuration, take } from '../../base/text.ts'
import type { Hint } from '../../messages/command.ts'
import type { NextStep, Severity } from '../../plan/plan.ts'

/** One line below a title; the labels of a part stand in a column. */
export interface Row {
  readonly label?: string
  readonly text: string
  /** Something is lost for good. */
  readonly loss?: true
}

export interface Part {
  readonly name: string
  /** Absent: the name says all. */
  readonly title?: string
  readonly rows: readonly Row[]
}

/** A cause, or several that differ only in what they are about. */
export interface Need {
  readonly severity: Severity
  /** One sentence. */
  readonly text: string
  /** What it is about, where the sentence does not say, or not all of it. */
  readonly names?: string
  /** What hangs on it, by name. */
  readonly blocks: readonly string[]
  readonly remedy: readonly Hint[]
}

export interface Answer {
  readonly headline: string
  /** What is not as it should be with the machine or the server. */
  readonly doubts: readonly string[]
  /** Something could not be read. */
  readonly incomplete: boolean
  readonly needs: readonly Need[]
  /** Those without rows are not shown. */
  readonly parts: readonly Part[]
  readonly notes: readonly Hint[]
  /** They add up; '': nothing is counted. */
  readonly counts: string
  /** The first is the next step; the others belong to it, in order. */
  readonly next: readonly NextStep[]
}

// Names in sentences: a few, and how many more.

/** Of more names than this the first few are said. */
const NAMES_AT_MOST = 4

/** `a, b, c` or `a, b, c, and 12 more`: never "and 1 more", which is no shorter than the name. */
export function few(names: readonly string[], most = NAMES_AT_MOST, between = ', '): string {
  const unique = [...new Set(names)]
  return take(unique, unique.length <= most ? most : most - 1, 'and ').join(between)
}

/** Paths as a person reads them: below the root directory, the kubelet's hashes and those of attachments cut. -v has them whole. */
export function withoutRoot(text: string, rootDir: string): string {
  // Another kubelet's directory may end in the same path: /var/snap/microk8s/common/var/lib/kubelet.
  const cut = (found: string, at: number): string => (/[\w.-]/.test(text[at - 1] ?? '') ? found : '')
  const below = rootDir === '' ? text : text.replaceAll(`${rootDir}/`, cut)
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

/** What somebody may have meant who named nothing: of another namespace, of another kind, or written a little otherwise. */
import { NotFound } from '../errors/errors.ts'
import { compareText } from '../lang/compare-text.ts'
import { distanceOf } from '../lang/near-names.ts'
import { splitPrefix } from './kinds.ts'
import type { Nameable } from './match-name.ts'

/** What a wrong namespace and a wrong kind count, in letters. */
const OTHER_NAMESPACE = 0.3
const OTHER_KIND = 0.5
const MOST_NEAR = 5

/** Where a name was looked for. */
export interface Searched {
  /** "on node a" */
  readonly place: string
  /** How many of what. */
  readonly counts: readonly string[]
  /** What may well exist, for it could not be read (S3). */
  readonly unread: readonly string[]
  /** What can be given, where nothing is near. */
  readonly hint: string
}

/** @param what as it was asked, with or without a kind */
export function nothingFound(
  candidates: readonly Nameable[],
  what: string,
  { place, counts, unread, hint }: Searched,
): NotFound {
  const caveat = unread.length === 0 ? '' : `; not all ${unread.join(', ')} could be read`
  return new NotFound(`"${what}" was not found ${place}; searched: ${counts.join(', ')}${caveat}`, {
    // Names of a log are asked for by the hundred, and nobody reads the hints.
    hint: () => {
      const near = nearCandidates(candidates, what)
      return near.length > 0 ? `Did you mean ${near.join(', ')}?` : hint
    },
  })
}

/** The nearest first, each thing once, as what to ask for. */
function nearCandidates(candidates: readonly Nameable[], what: string): string[] {
  const { kind, name } = splitPrefix(what)
  const scored = candidates.flatMap((candidate) => {
    const score = nearest(candidate.names, name)
    if (score === undefined) return []
    return [{ candidate, score: score + (kind === undefined || candidate.target.kind === kind ? 0 : OTHER_KIND) }]
  })
  const sorted = scored.toSorted((a, b) => a.score - b.score || compareText(a.candidate.ask, b.candidate.ask))
  const seen = new Set<unknown>()
  return sorted
    .map(({ candidate }) => candidate)
    .filter((candidate) => {
      const thing = candidate.volume ?? candidate
      return !seen.has(thing) && seen.add(thing)
    })
    .slice(0, MOST_NEAR)
    .map(({ ask }) => ask)
}

/** By all of the name, or by its last part: the namespace may be another. */
function nearest(names: readonly string[], wanted: string): number | undefined {
  const own = wanted.slice(wanted.lastIndexOf('/') + 1)
  const scores = names.flatMap((name) => {
    const whole = distanceOf(wanted, name)
    const inOther = own === wanted || own === '' ? undefined : distanceOf(own, name.slice(name.lastIndexOf('/') + 1))
    return [whole ?? [], inOther === undefined ? [] : inOther + OTHER_NAMESPACE].flat()
  })
  return scores.length === 0 ? undefined : Math.min(...scores)
}

/** Names that somebody may have meant. */
import { compareText } from './compare-text.ts'

/** The nearest first, none that is nothing like it; those that contain the text count as near. */
export function nearNames(text: string, names: Iterable<string>, most: number): string[] {
  return scoredNames(text, names)
    .slice(0, most)
    .map(({ name }) => name)
}

function scoredNames(text: string, names: Iterable<string>): { readonly name: string; readonly score: number }[] {
  const scored = [...new Set(names)].flatMap((name) => {
    const score = distanceOf(text, name)
    return score === undefined ? [] : [{ name, score }]
  })
  return scored.toSorted((a, b) => a.score - b.score || compareText(a.name, b.name))
}

/** How far a name is from what was typed, 0 for the same but for capitals; undefined: nothing like it. */
function distanceOf(text: string, name: string): number | undefined {
  const [wanted, given] = [text.toLowerCase(), name.toLowerCase()]
  if (wanted.length > 2 && given.includes(wanted)) return (given.length - wanted.length) / 1000
  const allowed = Math.min(Math.max(2, Math.floor(wanted.length / 4)), Math.floor(wanted.length / 2))
  if (Math.abs(given.length - wanted.length) > allowed) return undefined
  const distance = edits(wanted, given)
  return distance <= allowed ? distance : undefined
}

/** Damerau's and Levenshtein's: letters that are missing, too many, wrong, or in the place of their neighbour. */
function edits(a: string, b: string): number {
  let before: readonly number[] = []
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(before, j - 2) + 1 : changed
      next.push(Math.min(changed, swapped, at(row, j) + 1, at(next, j - 1) + 1))
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}

/** Infinite where there is none. */
function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}

const MOST_MEANT = 3

/**
 * Before another hint: the name that was probably meant, as a question. Nothing, where none is near. Of names that are
 * equally near none is preferred: "umount" may be mount or unmount, which do opposite things.
 */
export function didYouMean(text: string, names: Iterable<string>): string {
  const scored = scoredNames(text, names)
  const nearest = scored.filter(({ score }) => score === scored[0]?.score).slice(0, MOST_MEANT)
  return nearest.length === 0 ? '' : `Did you mean ${nearest.map(({ name }) => name).join(' or ')}? `
}

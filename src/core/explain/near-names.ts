/** Names that somebody may have meant. */
import { compareText } from '../lang/compare-text.ts'

/** The nearest first, none that is nothing like it; those that contain the text count as near. */
export function nearNames(text: string, names: Iterable<string>, most: number): string[] {
  const wanted = text.toLowerCase()
  const allowed = Math.min(Math.max(2, Math.floor(wanted.length / 4)), Math.floor(wanted.length / 2))
  const scored = [...new Set(names)].flatMap((name) => {
    const lower = name.toLowerCase()
    if (wanted.length > 2 && lower.includes(wanted)) return [{ name, score: (lower.length - wanted.length) / 1000 }]
    if (Math.abs(lower.length - wanted.length) > allowed) return []
    const score = distance(wanted, lower)
    return score <= allowed ? [{ name, score }] : []
  })
  return scored
    .toSorted((a, b) => a.score - b.score || compareText(a.name, b.name))
    .slice(0, most)
    .map(({ name }) => name)
}

/** Levenshtein's. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

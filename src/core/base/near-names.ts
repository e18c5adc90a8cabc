/** Names that somebody may have meant. */
import { compareText } from './compare-text.ts'

/** Those that contain the text, the shortest first, and those that are one letter away from it; whatever their capitals. */
export function nearNames(text: string, names: Iterable<string>, most: number): string[] {
  return ranked(text, names)
    .slice(0, most)
    .map(({ name }) => name)
}

function ranked(text: string, names: Iterable<string>): { readonly name: string; readonly rank: number }[] {
  const typed = text.toLowerCase()
  const near = [...new Set(names)].flatMap((name) => {
    const meant = name.toLowerCase()
    if (meant === typed || (typed.length > 2 && meant.includes(typed))) return [{ name, rank: meant.length }]
    return isOneAway(typed, meant) ? [{ name, rank: Number.MAX_VALUE }] : []
  })
  return near.toSorted((a, b) => a.rank - b.rank || compareText(a.name, b.name))
}

/** A letter is missing, too much, wrong, or in the place of its neighbour. */
function isOneAway(text: string, name: string): boolean {
  let same = 0
  while (same < text.length && text[same] === name[same]) same++
  const [typed, meant] = [text.slice(same), name.slice(same)]
  const isSwapped = typed[0] === meant[1] && typed[1] === meant[0] && typed.slice(2) === meant.slice(2)
  const isOne = [meant, meant.slice(1)].includes(typed.slice(1)) || typed === meant.slice(1)
  return text.length > 1 && (isOne || isSwapped)
}

const MOST_MEANT = 3

/**
 * Before another hint: the name that was probably meant, as a question. Nothing, where none is near. Of names that are
 * equally near none is preferred: "umount" may be mount or unmount, which do opposite things.
 */
export function didYouMean(text: string, names: Iterable<string>): string {
  const near = ranked(text, names)
  const nearest = near.filter(({ rank }) => rank === near[0]?.rank).slice(0, MOST_MEANT)
  return nearest.length === 0 ? '' : `Did you mean ${nearest.map(({ name }) => name).join(' or ')}? `
}

/**
 * Which of many sentences a text says. Each way to say one is words that stand in the text in their order. Of each the rarest word is
 * looked up among the words of the text first: a line takes the time of the words in it, however many sentences there are.
 */

/** What stands between two parts is short of a second line of the same log. */
const LONGEST_GAP = 600
const GAP = ' … '
/** Between two parts: one word, whichever. */
const ONE_WORD = ' * '
const WORD = /[\p{L}\p{N}_]+/gu
const QUOTES = /["'`“”\\]+|\*\*/g
const BLANKS = /\s+/g

/** What is missing, and that it is missing, stand in one clause: "class a: failed to create b: program not found" is not of the class. */
const OF_ITS_CLAUSE = /^(?:not found|does not exist|not (?:ready|running|installed|staged|mounted|available))\b/
const NEXT_CLAUSE = ': '

interface Part {
  readonly text: string
  readonly isOfClause: boolean
  /** Only one word is between this part and the one before. */
  readonly isNear: boolean
}

interface Way<T> {
  readonly of: T
  readonly parts: readonly Part[]
  readonly length: number
}

/** A way by its rarest word, with its further ones: a text that lacks one of them does not say it. */
interface Keyed<T> extends Way<T> {
  readonly others: readonly string[]
}

/** Where a way stands in the text. */
interface Place {
  readonly end: number
  /** Letters of the way itself, without what stands between its parts. */
  readonly length: number
}

export interface Said<T> extends Place {
  readonly of: T
}

/** In lower case, on one line, without quotes. */
export function plainText(text: string): string {
  return text.toLowerCase().replace(QUOTES, '').replace(BLANKS, ' ')
}

export class Ways<T> {
  readonly #byWord = new Map<string, Keyed<T>[]>()

  /** @param sentences each with its ways, as plainText writes them; a part begins and ends at the edge of a word */
  constructor(sentences: Iterable<readonly [T, readonly string[]]>) {
    const ways = [...sentences].flatMap(([of, says]) => says.map((way) => wayOf(of, way)))
    const uses = new Map<string, number>()
    for (const way of ways) for (const word of wordsOf(way)) uses.set(word, (uses.get(word) ?? 0) + 1)
    for (const way of ways) {
      const [key = '', ...others] = [...new Set(wordsOf(way))].toSorted(
        (a, b) => (uses.get(a) ?? 0) - (uses.get(b) ?? 0) || b.length - a.length || (a < b ? -1 : 1),
      )
      this.#byWord.set(key, [...(this.#byWord.get(key) ?? []), { ...way, others }])
    }
  }

  /** @param text as plainText writes it @returns of each sentence that it says the way that ends last */
  in(text: string): Said<T>[] {
    const found = new Map<T, Said<T>>()
    const words = new Set(text.match(WORD))
    for (const word of words)
      for (const { of, parts, length, others } of this.#byWord.get(word) ?? []) {
        if (!others.every((other) => words.has(other))) continue
        const end = endIn(text, parts)
        const known = found.get(of)
        if (end !== undefined && (known === undefined || outward({ end, length }, known) < 0))
          found.set(of, { of, end, length })
      }
    return [...found.values()]
  }
}

/** The innermost first, which ends last; of two that end alike the one of more words. */
export function outward(a: Place, b: Place): number {
  return b.end - a.end || b.length - a.length
}

function wayOf<T>(of: T, way: string): Way<T> {
  const parts = partsOf(way)
  return { of, parts, length: parts.reduce((all, { text }) => all + text.length, 0) }
}

function partsOf(way: string): Part[] {
  return way
    .split(GAP)
    .flatMap((far) =>
      far
        .split(ONE_WORD)
        .map((text, index): Part => ({ text, isNear: index > 0, isOfClause: OF_ITS_CLAUSE.test(text) })),
    )
}

function wordsOf({ parts }: Way<unknown>): string[] {
  return parts.flatMap(({ text }) => text.match(WORD) ?? [])
}

/** Of the last place where all parts stand. */
function endIn(text: string, parts: readonly Part[]): number | undefined {
  const [{ text: first } = { text: '' }, ...rest] = parts
  for (
    let start = text.lastIndexOf(first);
    start !== -1;
    start = start === 0 ? -1 : text.lastIndexOf(first, start - 1)
  ) {
    const end = isWhole(text, start, first) ? endOf(text, start + first.length, rest) : undefined
    if (end !== undefined) return end
  }
  return undefined
}

/** Each part behind the one before, no further than a gap is long. */
function endOf(text: string, from: number, parts: readonly Part[]): number | undefined {
  let end = from
  for (const { text: part, isNear, isOfClause } of parts) {
    const near = text.slice(end, end + LONGEST_GAP)
    let at = near.indexOf(part)
    while (at !== -1 && !isWhole(text, end + at, part)) at = near.indexOf(part, at + 1)
    if (at === -1) return undefined
    const between = near.slice(0, at)
    if ((isNear && between.trim().includes(' ')) || (isOfClause && between.includes(NEXT_CLAUSE))) return undefined
    end += at + part.length
  }
  return end
}

/** "mountvolume" does not stand in "unmountvolume". */
function isWhole(text: string, at: number, part: string): boolean {
  return isEdge(text, at) && isEdge(text, at + part.length)
}

const IN_WORD = /[\p{L}\p{N}_]/u

function isEdge(text: string, at: number): boolean {
  return !IN_WORD.test(text[at - 1] ?? '') || !IN_WORD.test(text[at] ?? '')
}

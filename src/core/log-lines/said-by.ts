/** What a line says: the sentence that it is known by, and of an operation that failed the cause, which stands further in. */
import { defined } from '../lang/defined.ts'
import { ANSWERS, type Cause, ERRNO, SPECIFIC, VAGUE } from './causes.ts'
import type { SentenceView } from './line-explanation.ts'
import type { LogLine } from './log-line.ts'
import { HARMLESS, SENTENCES, type Sentence } from './sentences.ts'

export interface Said extends SentenceView {
  readonly about: Sentence['about']
}

/** @returns undefined: volctl does not know the sentence */
export function saidBy(line: LogLine): Said | undefined {
  const text = line.source === undefined ? line.said : `${line.source}] ${line.said}`
  const found = sentenceIn(text)
  if (found === undefined) return harmlessSaid(line)
  const { sentence, from } = found
  const { by, means, next, about } = sentence
  const said = { by, means, next, about, harmless: false }
  if (sentence.whole === true) return said
  const behind = lastPiece(text.slice(from))
  const [, code = ''] = RPC.exec(behind) ?? []
  const answer = Object.hasOwn(ANSWERS, code) ? `${code}: ${ANSWERS[code]}` : undefined
  // A code says as much as that it took too long, or that a program failed.
  const cause = causeIn(behind, answer === undefined ? [SPECIFIC, ERRNO, VAGUE] : [SPECIFIC, ERRNO])
  const isOpen = answer !== undefined || cause === undefined || VAGUE.includes(cause)
  return {
    ...said,
    next: cause?.next ?? next,
    ...defined({ cause: cause?.means, answered: answer, quote: isOpen ? lastWords(line) : undefined }),
  }
}

/** At a level of trouble, or with an error beside it, no sentence is harmless. */
function harmlessSaid({ said, severity = 'info', error }: LogLine): Said | undefined {
  if (severity !== 'info' || error !== undefined) return undefined
  const means = HARMLESS.find(({ says }) => says.test(said))?.means
  return means === undefined
    ? undefined
    : { by: 'Kubernetes', means, next: 'Nothing.', about: undefined, harmless: true }
}

/** The one that begins last, as it stands in the others; what only says who failed, if nothing else is said. */
function sentenceIn(text: string): { readonly sentence: Sentence; readonly from: number } | undefined {
  const found = SENTENCES.flatMap((sentence) => {
    const from = text.search(sentence.says)
    return from === -1 ? [] : [{ sentence, from }]
  })
  const rank = ({ sentence }: { readonly sentence: Sentence }): number => (sentence.envelope === true ? 1 : 0)
  return found.toSorted((a, b) => rank(a) - rank(b) || b.from - a.from)[0]
}

/** What a line names as the reason comes before what it says in front. */
function lastPiece(text: string): string {
  const start = Math.max(...['caused by: ', ' err='].map((mark) => text.lastIndexOf(mark)))
  return start === -1 ? text : text.slice(start)
}

const RPC = /\brpc error: code = (\w+)/

/** Of the first kind that is there the one that ends last: the innermost. */
function causeIn(text: string, kinds: readonly (readonly Cause[])[]): Cause | undefined {
  for (const kind of kinds) {
    const found = kind.flatMap((cause) => {
      const last = [...text.matchAll(cause.says)].at(-1)
      return last === undefined ? [] : [{ cause, end: last.index + last[0].length }]
    })
    const [innermost] = found.toSorted((a, b) => b.end - a.end)
    if (innermost !== undefined) return innermost.cause
  }
  return undefined
}

/** Of many words the first say of what, and the last why. */
const FIRST_WORDS = 100
const LAST_WORDS = 200
/** Behind what comes before a reason: "desc = ", the " : " behind a name, "Error: ". */
const BEFORE_REASON = [/.*\bcaused by: /s, / desc = /, /["')\]] : /, /\b[Ee]rr(?:or)?: /]

/** The reason, as whoever failed put it. */
function lastWords({ message, error: given = message }: LogLine): string | undefined {
  const start = BEFORE_REASON.map((words) => words.exec(given)).find((match) => match !== null)
  const reason = start === undefined ? given : given.slice(start.index + start[0].length)
  const words = reason.replaceAll(/\\[nt]|\s+/g, ' ').trim()
  const cut =
    words.length > FIRST_WORDS + LAST_WORDS ? `${words.slice(0, FIRST_WORDS)} … ${words.slice(-LAST_WORDS)}` : words
  return cut === '' ? undefined : cut
}

/** What a line says: the sentence that it is known by, and of an operation that failed the cause, which stands further in. */
import { omitUndefined } from '../../base/omit-undefined.ts'
import { ANSWERS, type Cause, ERRNO, SPECIFIC, VAGUE } from './causes.ts'
import type { SentenceView } from './line-explanation.ts'
import type { LogLine } from './log-line.ts'
import { HARMLESS, SENTENCES, type Sentence } from './sentences.ts'

/** @returns undefined: volctl does not know the sentence */
export function saidBy(line: LogLine): SentenceView | undefined {
  const { source, reason, said: words } = line
  const text = source === undefined && reason === undefined ? words : `${source ?? reason}] ${words}`
  const found = sentenceIn(text)
  if (found === undefined) return harmlessSaid(line)
  const { says: _, envelope: __, whole, ...said } = found.sentence
  if (whole === true) return { ...said, harmless: false }
  const behind = lastPiece(text.slice(found.from))
  const [, code = ''] = RPC.exec(behind) ?? []
  const answer = Object.hasOwn(ANSWERS, code) ? `${code}: ${ANSWERS[code]}` : undefined
  // A code says as much as that it took too long, or that a program failed.
  const cause = causeIn(behind, answer === undefined ? [SPECIFIC, ERRNO, VAGUE] : [SPECIFIC, ERRNO])
  return {
    ...said,
    ...omitUndefined({ next: cause?.next, cause: cause?.means, answered: answer }),
    harmless: false,
  }
}

/** At a level of trouble, or with an error beside it, no sentence is harmless. */
function harmlessSaid({ said, severity = 'info', error }: LogLine): SentenceView | undefined {
  if (severity !== 'info' || error !== undefined) return undefined
  const found = HARMLESS.find(({ says }) => says.test(said))
  return found && { by: 'Kubernetes', means: found.means, next: 'Nothing.', harmless: true }
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

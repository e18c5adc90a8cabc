/** Ok, not ok or unknown: the three answers of a node-problem-detector plugin, with one line of at most 80 characters. */
import { about } from '../json/json-schema.ts'
import { integer, matching, type ObjectOf, object, oneOf, type ShapeOf } from '../json/shape.ts'
import { TROUBLE_KINDS, type Trouble, type TroubleKind } from './troubles.ts'

export const limitsShape = object({
  most: about(
    'How many of each kind are allowed.',
    object({ error: integer, deadMount: integer, orphanedPod: integer, leakedDevice: integer, blocked: integer }),
  ),
  waitingForMs: integer,
})

/** How many of each kind are allowed; of waiting, how long. */
export interface Limits extends ShapeOf<typeof limitsShape> {}

export const CHECK_STATUS = { ok: 0, notOk: 1, unknown: 2 } as const
export type CheckStatus = keyof typeof CHECK_STATUS

/** What is judged. */
export const JUDGED = {
  status: about('Exit status 0, 1 and 2.', oneOf(...(Object.keys(CHECK_STATUS) as readonly CheckStatus[]))),
  /** Printable ASCII. */
  line: about('What is printed without -o.', matching(/^[ -~]{0,80}$/, 'a line of printable ASCII')),
}

export interface Judged extends ObjectOf<typeof JUDGED> {}

/** node-problem-detector cuts what is longer (max_output_length). */
const MOST_CHARACTERS = 80

/**
 * @param volumes how many were looked at
 * @param doubt why the node may not have been seen whole; undefined: it was
 */
export function judge(
  troubles: readonly Trouble[],
  limits: Limits,
  volumes: number,
  doubt: string | undefined,
): Judged {
  const exceeding = exceedingOf(troubles, limits)
  if (exceeding.length > 0) return { status: 'notOk', line: lineOf('not ok', notOkTexts(exceeding)) }
  if (doubt !== undefined) return unknownBecause(doubt)
  const borne = countsText(troubles.filter(({ kind }) => kind !== 'waiting'))
  return {
    status: 'ok',
    line: lineOf('ok', [
      `${volumes} ${volumes === 1 ? 'volume' : 'volumes'}${borne === '' ? '' : `; within limits: ${borne}`}`,
    ]),
  }
}

export function unknownBecause(why: string): Judged {
  return { status: 'unknown', line: lineOf('unknown', [why]) }
}

/** Of each kind all, where there are more than the limit allows. */
export function exceedingOf(troubles: readonly Trouble[], { most, waitingForMs }: Limits): Trouble[] {
  return TROUBLE_KINDS.flatMap((kind) => {
    const own = troubles.filter((each) => each.kind === kind)
    if (kind === 'waiting') return own.filter(({ forMs = 0 }) => forMs > waitingForMs)
    return own.length > most[kind] ? own : []
  })
}

const NOUNS: Readonly<Record<TroubleKind, readonly [one: string, many: string]>> = {
  error: ['error', 'errors'],
  deadMount: ['dead mount', 'dead mounts'],
  orphanedPod: ['orphaned pod', 'orphaned pods'],
  leakedDevice: ['leaked device', 'leaked devices'],
  blocked: ['obstacle', 'obstacles'],
  waiting: ['volume or pod waits too long', 'volumes or pods wait too long'],
}

/** From the one that says most to the shortest. */
function notOkTexts(troubles: readonly Trouble[]): string[] {
  const counts = countsText(troubles)
  const [first] = troubles
  return [...(first === undefined ? [] : [`${counts}: ${first.what}${troubles.length > 1 ? ', ...' : ''}`]), counts]
}

function countsText(troubles: readonly Trouble[]): string {
  return TROUBLE_KINDS.flatMap((kind) => {
    const count = troubles.filter((each) => each.kind === kind).length
    return count === 0 ? [] : [`${count} ${NOUNS[kind][count === 1 ? 0 : 1]}`]
  }).join(', ')
}

/** @param texts the first that fits is taken; where none does, the last is cut */
function lineOf(status: string, texts: readonly string[]): string {
  const lines = texts.map((text) => `${status}: ${plainAscii(text)}`)
  const fitting = lines.find((line) => line.length <= MOST_CHARACTERS)
  return fitting ?? `${lines.at(-1)?.slice(0, MOST_CHARACTERS - 3)}...`
}

/** The line is cut by bytes, and goes into a condition of the Node. */
function plainAscii(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[^ -~]/g, '?')
}

/** One look at a node as a monitor sees it: ok, not ok or unknown, the three answers of a node-problem-detector plugin. Pure. */
import { about } from '../json/json-schema.ts'
import { list, matching, object, oneOf, optional, type ShapeOf, text } from '../json/shape.ts'
import { count } from '../lang/count.ts'
import type { Plan } from '../plan/plan.ts'
import type { Decided } from '../reconcile/decisions.ts'
import { statusOf } from '../status/node-status.ts'
import type { Status } from '../status/status.ts'
import { isUnknowing, TROUBLE_KINDS, type Trouble, type TroubleKind, troubleShape, troublesOf } from './troubles.ts'

export const CHECK_STATUS = { ok: 0, notOk: 1, unknown: 2 } as const
type CheckStatus = keyof typeof CHECK_STATUS

export const checkShape = object({
  apiVersion: oneOf('volctl.io/v1'),
  kind: oneOf('Check'),
  status: about('Exit status 0, 1 and 2.', oneOf(...(Object.keys(CHECK_STATUS) as readonly CheckStatus[]))),
  /** Printable ASCII. */
  line: about('What is printed without -o.', matching(/^[ -~]{0,80}$/, 'a line of printable ASCII')),
  node: optional(about('Absent where the node could not be looked at.', text)),
  createdAt: optional(about('RFC 3339: when the node was looked at.', text)),
  volctlVersion: text,
  troubles: about(
    'All that is wrong; what waits makes the node not ok once it has waited for more than 10 minutes.',
    list<Trouble>(troubleShape),
  ),
})

/** `volctl check -o json`. Fields are stable once released; new ones may come. */
export interface Check extends ShapeOf<typeof checkShape> {}

export interface Look {
  readonly decided: Decided
  readonly status: Status
  readonly troubles: readonly Trouble[]
}

/** @param decided of a plan of the whole node with --orphans: orphaned pods count with everything that is left of them */
export function examine(decided: Decided): Look {
  const { status } = statusOf(decided, {})
  return { decided, status, troubles: troublesOf(decided, status) }
}

/** What was there in both looks: what a busy kubelet was about to do is done by the second. */
export function inBoth(first: Look, second: Look): Look {
  const keys = new Set(first.troubles.map(({ key }) => key))
  return { ...second, troubles: second.troubles.filter(({ key }) => keys.has(key)) }
}

export function checkOf({
  decided: { plan },
  status: { rows, node, createdAt, volctlVersion },
  troubles,
}: Look): Check {
  // What is refused may be another cluster's word on these pods, or another machine's: nobody knows what is wrong here.
  const { refused } = plan
  const judged =
    refused === undefined
      ? judge(troubles, rows.length, doubtOf(plan))
      : unknownBecause(`refused (${refused.code}): ${refused.message}`)
  return { ...HEAD, ...judged, node, createdAt, volctlVersion, troubles }
}

/** Where nothing could be looked at. */
export function failedCheck(why: string, volctlVersion: string): Check {
  return { ...HEAD, ...unknownBecause(why), volctlVersion, troubles: [] }
}

const HEAD = { apiVersion: 'volctl.io/v1', kind: 'Check' } as const

type Judged = Pick<Check, 'status' | 'line'>

/**
 * @param volumes how many were looked at
 * @param doubt why the node may not have been seen whole; undefined: it was
 */
export function judge(troubles: readonly Trouble[], volumes: number, doubt: string | undefined): Judged {
  const wrong = TROUBLE_KINDS.flatMap((kind) => troubles.filter((each) => each.kind === kind && isLongEnough(each)))
  const [first] = wrong
  if (first !== undefined) {
    const counts = countsText(wrong)
    return {
      status: 'notOk',
      line: lineOf('not ok', `${counts}: ${first.what}${wrong.length > 1 ? ', ...' : ''}`, counts),
    }
  }
  if (doubt !== undefined) return unknownBecause(doubt)
  return { status: 'ok', line: lineOf('ok', count(volumes, 'volume')) }
}

function unknownBecause(why: string): Judged {
  return { status: 'unknown', line: lineOf('unknown', why) }
}

/** Why "nothing is wrong" may not be true. */
function doubtOf({ problems, complete }: Plan): string | undefined {
  const unknowing = problems.find(isUnknowing)
  if (unknowing !== undefined) return `${unknowing.code}: ${unknowing.message}`
  return complete ? undefined : 'something that may matter could not be read'
}

/** For how long a pod may wait for a volume, or to terminate. */
const PATIENCE_MS = 10 * 60_000

function isLongEnough({ kind, forMs = 0 }: Trouble): boolean {
  return kind !== 'waiting' || forMs > PATIENCE_MS
}

const NOUNS: Readonly<Record<TroubleKind, readonly [one: string, many: string]>> = {
  error: ['error', 'errors'],
  deadMount: ['dead mount', 'dead mounts'],
  orphanedPod: ['orphaned pod', 'orphaned pods'],
  leakedDevice: ['leaked device', 'leaked devices'],
  blocked: ['obstacle', 'obstacles'],
  waiting: ['volume or pod waits too long', 'volumes or pods wait too long'],
}

function countsText(troubles: readonly Trouble[]): string {
  return [...Map.groupBy(troubles, ({ kind }) => kind)]
    .map(([kind, { length }]) => count(length, ...NOUNS[kind]))
    .join(', ')
}

/** node-problem-detector cuts what is longer (max_output_length). */
const MOST_CHARACTERS = 80

/** @param texts from the one that says most to the shortest: the first that fits is taken; where none does, the last is cut */
function lineOf(status: string, ...texts: readonly string[]): string {
  const lines = texts.map((text) => `${status}: ${plainAscii(text)}`)
  const fitting = lines.find((line) => line.length <= MOST_CHARACTERS)
  return fitting ?? `${lines.at(-1)?.slice(0, MOST_CHARACTERS - 3)}...`
}

/** The line is cut by bytes, and goes into a condition of the Node. */
function plainAscii(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[^ -~]/g, '?')
}

/** One look at a node as a monitor sees it. Pure. */
import { about } from '../json/json-schema.ts'
import { list, object, oneOf, optional, type ShapeOf, text } from '../json/shape.ts'
import type { Plan } from '../plan/plan.ts'
import type { Decided } from '../reconcile/decisions.ts'
import { statusOf } from '../status/node-status.ts'
import type { Status } from '../status/status.ts'
import { type Gauge, nodeGauges, outcomeGauges } from './gauges.ts'
import { JUDGED, type Judged, judge, type Limits, limitsShape, unknownBecause } from './judge.ts'
import { isUnknowing, type Trouble, troubleShape, troublesOf } from './troubles.ts'

export const checkShape = object({
  apiVersion: oneOf('volctl.io/v1'),
  kind: oneOf('Check'),
  ...JUDGED,
  node: optional(about('Absent where the node could not be looked at.', text)),
  createdAt: optional(about('RFC 3339: when the node was looked at.', text)),
  volctlVersion: text,
  troubles: about('All that was counted, also what is within the limits.', list<Trouble>(troubleShape)),
  limits: optional<Limits>(limitsShape),
})

/** `volctl check -o json`. Fields are stable once released; new ones may come. */
export interface Check extends ShapeOf<typeof checkShape> {}

export interface Examined {
  readonly check: Check
  readonly gauges: readonly Gauge[]
}

interface Look {
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

export function checkOf(look: Look, limits: Limits): Examined {
  const { decided, status, troubles } = look
  const { refused } = decided.plan
  // What is refused may be another cluster's word on these pods, or another machine's: nobody knows what is wrong here.
  const judged =
    refused === undefined
      ? judge(troubles, limits, status.rows.length, doubtOf(decided.plan))
      : unknownBecause(`refused (${refused.code}): ${refused.message}`)
  const { node, createdAt, volctlVersion } = status
  return {
    check: { apiVersion: 'volctl.io/v1', kind: 'Check', ...judged, node, createdAt, volctlVersion, troubles, limits },
    gauges: [...outcomeGauges(judged.status, Date.parse(createdAt)), ...nodeGauges(decided, status, troubles)],
  }
}

/** Where nothing could be looked at. @param at milliseconds since the epoch */
export function failedCheck(judged: Judged, volctlVersion: string, at: number): Examined {
  return {
    check: { apiVersion: 'volctl.io/v1', kind: 'Check', ...judged, volctlVersion, troubles: [] },
    gauges: outcomeGauges(judged.status, at),
  }
}

/** Why "nothing is wrong" may not be true. */
function doubtOf({ problems, complete }: Plan): string | undefined {
  const unknowing = problems.find(isUnknowing)
  if (unknowing !== undefined) return `${unknowing.code}: ${unknowing.message}`
  return complete ? undefined : 'something that may matter could not be read'
}

/** What a table says of one of its rows, in a few words: what is ready, or what the worst of its causes comes to. */
import type { CauseKind } from '../codes/cause-kinds.ts'
import type { Cause } from '../plan/cause.ts'
import type { Plan } from '../plan/plan.ts'
import { liftingFlag } from '../plan/plan-summary.ts'
import { verbsOf } from './ready.ts'

interface Judged {
  readonly verdict: { readonly state: string }
  readonly operations: readonly string[]
  readonly causes: readonly string[]
}

const STATES: Readonly<Record<string, string>> = { unknown: 'could not be judged', kept: 'stays', good: 'good' }

/** Of a cause of each kind. */
const KINDS: Readonly<Record<CauseKind, string>> = {
  machine: 'not shown to be the right machine',
  unread: 'could not be read',
  alive: 'its pod may still run',
  kubelet: 'the kubelet is next',
  controller: 'the controller is next',
  driver: 'waits for its driver',
  'dead-mount': 'does not answer',
  'in-use': 'in use',
  identity: 'not proven which volume it is',
  elsewhere: 'another node may have it',
  foreign: 'not made by the kubelet',
  data: 'data that stays',
  missing: 'needs what does not exist',
  device: 'its device is in doubt',
  volume: 'asks for what is not possible',
  asked: 'needs a flag',
  follows: 'comes after another',
  failed: 'failed',
}

/** @param plan that the rows were made with */
export function rowSays({ operations, summary: { causes = [] } }: Plan): (row: Judged) => string {
  const byId = new Map(operations.map((each) => [each.id, each]))
  const byKey = new Map(causes.map((each) => [each.key, each]))
  return ({ verdict: { state }, operations: ids, causes: [worst = ''] }) => {
    const own = ids.flatMap((id) => byId.get(id) ?? [])
    const cause = byKey.get(worst)
    if (state === 'operation') return `ready: ${verbsOf(own)}`
    const flag = state === 'notAsked' ? own.map(liftingFlag).find((each) => each !== undefined) : undefined
    if (flag !== undefined) return `needs ${flag}`
    return STATES[state] ?? (cause === undefined ? state : wordsOf(cause))
  }
}

/** Codes whose words come before those of their kind: who acts next has to be said first. */
const CODES: Readonly<Partial<Record<Cause['code'], string>>> = { ReportedUnused: "still in the Node's status" }

/** `waits for loop.pg.test`. */
function wordsOf({ kind, code, subject: { driver } }: Cause): string {
  const own = CODES[code]
  if (own !== undefined) return own
  return kind === 'driver' && driver !== undefined ? `waits for ${driver}` : KINDS[kind]
}

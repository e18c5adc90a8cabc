/** What stands in one row of a plan's screen: an operation, a wait, or several that are alike. */

import { count } from '../lang/count.ts'
import type { Blocked, DeadMount, Operation, Waiting } from '../plan/plan.ts'
import { isApiContent, operationLikeness, operationRank, type PlanGroup } from '../plan/plan-groups.ts'
import { type PlanNames, shownVolume } from '../plan/plan-names.ts'
import type { Palette } from './palette.ts'
import type { Row } from './plan-rows.ts'
import type { Cell } from './render-table.ts'
import { bytesText, deletesText, numberRanges } from './words.ts'

/** Of more alike rows than this the first few are shown. */
const ALIKE_AT_MOST = 5
export const SHOWN_OF_ALIKE = 3

/** A row, and what is said below it. */
export interface Entry {
  readonly row: Row
  readonly said: readonly Said[]
}

/** A sentence about a row or several, with what to do. */
export interface Said {
  readonly kind: 'reason' | 'blocked' | 'waiting' | 'dead' | 'kubelet'
  readonly text: string
  readonly hint?: string
  /** Where rows that follow each other have this in common, the first one's text stands for all. */
  readonly alike?: string
}

export interface Folding {
  readonly names: PlanNames
  readonly paint: Palette
  /** Ids of the operations that apply would begin. */
  readonly ready: ReadonlySet<string>
  /** -o wide, -v: a row each. */
  readonly unfolded: boolean
  /** What the kubelet would do instead is said too. */
  readonly kubelet: boolean
  /** Steps, rules and ids. */
  readonly wide: boolean
}

/** Reasons that the title of their group says. */
const PLAIN: ReadonlySet<Operation['reason']> = new Set(['PodGone', 'PodFinished', 'NotMounted', 'OrphanPodDir'])

export function isSaidByTitle({ reason, pod }: Operation): boolean {
  return pod !== undefined && PLAIN.has(reason)
}

/** The rows of a group: the worst first, alike ones folded. */
export function entriesOf(group: Pick<PlanGroup, 'operations' | 'waiting'>, folding: Folding): Entry[] {
  const sorted = group.operations.toSorted((a, b) => operationRank(a) - operationRank(b))
  const [blocked, ready] = [
    sorted.filter((operation) => operation.blocked !== undefined),
    sorted.filter((operation) => operation.blocked === undefined),
  ]
  return [
    ...foldedOperations(blocked, folding),
    ...waitEntries(group.waiting, folding),
    ...foldedOperations(ready, folding),
  ]
}

function foldedOperations(operations: readonly Operation[], folding: Folding): Entry[] {
  if (folding.unfolded) return operations.map((operation) => entryOf([operation], folding))
  return [...Map.groupBy(operations, operationLikeness).values()].flatMap((alike) => {
    if (alike.length > 1 && alike.every(({ volume }) => isApiContent(volume))) return [entryOf(alike, folding)]
    if (alike.length <= ALIKE_AT_MOST) return alike.map((each) => entryOf([each], folding))
    const [shown, hidden] = [alike.slice(0, SHOWN_OF_ALIKE), alike.slice(SHOWN_OF_ALIKE)]
    return [...shown.map((each) => entryOf([each], folding)), moreEntry(hidden, folding)]
  })
}

function entryOf(operations: readonly Operation[], folding: Folding): Entry {
  const [first] = operations
  if (first === undefined) return { row: {}, said: [] }
  const { kind, blocked, reason, rule, id } = first
  const { names, wide } = folding
  const isOne = operations.length === 1
  const volume = isOne ? shownVolume(first) : `${operations.length} config maps, secrets and tokens`
  return {
    row: {
      '#': numberRanges(names.numbers(operations.map((each) => each.id))),
      OPERATION: kind,
      ...(first.volume !== undefined && { VOLUME: volume }),
      DELETES: dataText(first),
      STATE:
        blocked === undefined
          ? isOne
            ? afterText(first, folding)
            : ''
          : blockedText(blocked, folding, isOne ? first : undefined),
      ...(wide && { REASON: reason, RULE: rule, ID: isOne ? id : '' }),
    },
    said: saidOf(first, folding),
  }
}

/** @param operation if the row is of one alone: what it comes after is said, as far as that is blocked too */
function blockedText({ code }: Blocked, { names, paint, ready }: Folding, operation?: Operation): Cell {
  const stuck = numberRanges(names.numbers((operation?.after ?? []).filter((id) => !ready.has(id))))
  return { text: `blocked: ${code}${stuck === '' ? '' : `, after ${stuck}`}`, paint: paint.warn }
}

/** Its turn comes once these have succeeded. */
function afterText({ after }: Operation, { names, paint, ready }: Folding): Cell {
  const numbers = numberRanges(names.numbers(after))
  const stuck = names.numbers(after.filter((id) => !ready.has(id)))
  if (stuck.length === 0) return numbers === '' ? '' : `after ${numbers}`
  return {
    text: `after ${numbers} (blocked${stuck.length < after.length ? `: ${numberRanges(stuck)}` : ''})`,
    paint: paint.warn,
  }
}

/** What the operation deletes of people's data; config maps, secrets and tokens can be had again (S13). */
function dataText({ deletes, volume }: Operation): string {
  if (isApiContent(volume)) return ''
  return deletes?.counted === false ? 'tmpfs, size unknown' : deletesText(deletes)
}

function saidOf(operation: Operation, { kubelet, wide, unfolded }: Folding): Said[] {
  const { blocked, message, ownMessage, reason, kubeletWould, dead = [] } = operation
  const own = ownReason(operation, wide)
  return [
    ...dead.map(deadText),
    ...(blocked === undefined ? [] : [{ kind: 'blocked' as const, text: blocked.message, ...hintOf(blocked) }]),
    ...(own
      ? [
          {
            kind: 'reason' as const,
            text: `${reason}: ${ownMessage ?? message}`,
            ...(!unfolded && { alike: reason }),
          },
        ]
      : []),
    ...(kubelet && kubeletWould !== undefined
      ? [{ kind: 'kubelet' as const, text: `the kubelet would ${kubeletWould}` }]
      : []),
  ]
}

function hintOf({ hint }: { readonly hint?: string }): { hint?: string } {
  return hint === undefined ? {} : { hint }
}

function deadText({ path, error }: DeadMount): Said {
  return { kind: 'dead', text: `dead: ${error}: ${path}` }
}

/** Of devices the group says why, since several have one reason. */
function ownReason(operation: Operation, wide: boolean): boolean {
  return operation.pod !== undefined && (wide || !isSaidByTitle(operation))
}

function moreEntry(hidden: readonly Operation[], folding: Folding): Entry {
  const { names } = folding
  const [first] = hidden
  const row = {
    '#': numberRanges(names.numbers(hidden.map(({ id }) => id))),
    OPERATION: first?.kind ?? '',
    VOLUME: `and ${hidden.length} more like it`,
    DELETES: dataOf(hidden),
    STATE: first?.blocked === undefined ? '' : blockedText(first.blocked, folding),
  }
  return { row, said: [] }
}

/** Of several operations together; '' where they delete nothing of people's. */
export function dataOf(operations: readonly Operation[]): string {
  const deletes = operations.flatMap((each) => (isApiContent(each.volume) ? [] : (each.deletes ?? [])))
  if (deletes.length === 0) return ''
  const files = deletes.reduce((sum, each) => sum + each.files, 0)
  const bytes = deletes.reduce((sum, each) => sum + each.bytes, 0)
  const uncounted = deletes.filter(({ counted }) => counted === false).length
  const counted = uncounted < deletes.length ? [`${count(files, 'file')}, ${bytesText(bytes)}`] : []
  const unknown = uncounted > 0 ? [`${count(uncounted, 'tmpfs', 'tmpfs')} of unknown size`] : []
  return [...counted, ...unknown].join(', ')
}

function waitEntries(waiting: readonly Waiting[], folding: Folding): Entry[] {
  const alike = [...Map.groupBy(waiting, ({ kind, code, hint = '' }) => [kind, code, hint].join(' ')).values()]
  return alike.flatMap((same) => {
    const all = folding.unfolded || same.length <= ALIKE_AT_MOST
    const shown = (all ? same : same.slice(0, SHOWN_OF_ALIKE)).map((each) => waitEntry(each, folding))
    const [first] = same
    if (all || first === undefined) return shown
    const more = `and ${same.length - SHOWN_OF_ALIKE} more like it`
    return [...shown, { row: { ...waitRow(first, folding), VOLUME: more }, said: [] }]
  })
}

function waitEntry(wait: Waiting, folding: Folding): Entry {
  const until = wait.until === undefined ? '' : ` (until ${wait.until})`
  return {
    row: waitRow(wait, folding),
    said: [{ kind: 'waiting', text: `${wait.message}${until}`, ...hintOf(wait) }],
  }
}

function waitRow({ kind, pod, volume, code }: Waiting, { paint }: Folding): Row {
  return {
    '#': '-',
    OPERATION: kind,
    ...(volume !== undefined && { VOLUME: shownVolume({ ...(pod !== undefined && { pod }), volume }) }),
    STATE: { text: `waits: ${code}`, paint: paint.warn },
  }
}

/** The counts of a plan: they add up to its operations. */
import { counted } from '../base/text.ts'
import { API_CONTENT } from '../volumes/volume-names.ts'
import type { LiftingFlag, Operation, Plan, PlanSummary, VolumeRef, Waiting } from './plan.ts'

/** Findings of either scope, as far as they are counted. */
interface Counted {
  readonly operations: readonly (Pick<Operation, 'id' | 'kind' | 'after'> & { readonly blocked?: object })[]
  readonly waiting: readonly unknown[]
  readonly problems: readonly unknown[]
}

/** @param filtered how many operations were left out by flags */
export function summaryOf({ operations, waiting, problems }: Counted, filtered: number) {
  return {
    operations: counted(operations.map(({ kind }) => kind)),
    blocked: operations.filter(({ blocked }) => blocked !== undefined).length,
    waiting: waiting.length,
    problems: problems.length,
    filtered,
    ready: readyAmong(operations).size,
  } satisfies PlanSummary
}

/** Ids of the operations that apply would begin: neither they nor any predecessor is blocked (S26). */
export function readyAmong(operations: Counted['operations']): ReadonlySet<string> {
  const known = new Set(operations.map(({ id }) => id))
  const ready = new Set<string>()
  // Each comes after its predecessors, of which only those count that are among these.
  for (const { id, blocked, after } of operations)
    if (blocked === undefined && after.every((each) => ready.has(each) || !known.has(each))) ready.add(id)
  return ready
}

/** What an apply would carry out, in words. */
export function readyText(ready: number): string {
  return ready === 1 ? 'the operation that is ready' : `the ${ready} operations that are ready`
}

/** The flag that asks for work that is done only on request (S13, S23). */
export function liftingFlag({
  kind,
  blocked,
}: Pick<Operation, 'kind'> & { readonly blocked?: { readonly code: string } }): LiftingFlag | undefined {
  if (blocked?.code === 'DeletesData') return '--orphans'
  if (blocked?.code !== 'NotAsked') return undefined
  return kind === 'ExpandVolume' ? '--expand' : '--remount'
}

/**
 * A running kubelet lists the volumes that it knows in node.status.volumesInUse. It unstages these within seconds, or
 * tries again at least every 2 min 2 s; a volume that is not listed is forgotten, and the kubelet never looks for it
 * again.
 */
export function isForgotten({ code, kind, volume }: Waiting): boolean {
  return code === 'KubeletRunning' && (kind === 'UnmountDevice' || kind === 'UnmapDevice') && volume?.inUse === false
}

/**
 * When the settle time of a kubelet that has just stopped is over (S11), in milliseconds since the epoch by this host's clock.
 * Undefined: nothing waits for that, or nothing shows when the kubelet stopped.
 */
export function settledAt({ waiting, inputs }: Pick<Plan, 'waiting' | 'inputs'>): number | undefined {
  if (inputs.kubelet.state !== 'stopped') return undefined
  const ends = waiting.flatMap(({ code, until }) =>
    code === 'Settling' && until !== undefined ? [Date.parse(until)] : [],
  )
  return ends.length === 0 ? undefined : Math.max(...ends)
}

export function isApiContent(volume: VolumeRef | undefined): boolean {
  return volume !== undefined && API_CONTENT.has(volume.plugin)
}

/** Which of several volumes an answer is about first: the one that is worst off, and of those the one with most behind it. */
import type { Verdict, VolumeView } from './explanation.ts'
import { NOT_ASKED } from './not-asked-for.ts'

/** Worst first. */
const ORDER: readonly Verdict['state'][] = ['problem', 'blocked', 'waiting', 'operation', 'nothing']

/** A volume with a claim matters more than a config map. */
export function byWorst(volumes: readonly VolumeView[]): VolumeView[] {
  return volumes.toSorted(
    (a, b) =>
      deadFirst(a) - deadFirst(b) || rankOf(a) - rankOf(b) || badOf(b) - badOf(a) || b.chain.length - a.chain.length,
  )
}

export function mattersMost(volumes: readonly VolumeView[]): VolumeView | undefined {
  return byWorst(volumes)[0]
}

/** What only a flag is missing for comes after what would be done. */
function rankOf({ verdict }: VolumeView): number {
  const isOnlyNotAsked = verdict.state === 'blocked' && NOT_ASKED.has(verdict.code)
  return isOnlyNotAsked ? ORDER.indexOf('operation') + 0.5 : ORDER.indexOf(verdict.state)
}

function deadFirst({ places }: VolumeView): number {
  return places.some(({ dead }) => dead !== undefined) ? 0 : 1
}

/** Is a link broken. */
function badOf({ chain }: VolumeView): number {
  return chain.some(({ state }) => state === 'bad') ? 1 : 0
}

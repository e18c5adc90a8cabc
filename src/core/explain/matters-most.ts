/** Which of several volumes an answer is about first: the one that is worst off, and of those the one with most behind it. */
import { type VolumeView, worstFirst } from './explanation.ts'

/** A volume with a claim matters more than a config map. */
export function byWorst(volumes: readonly VolumeView[]): VolumeView[] {
  return volumes.toSorted(
    (a, b) => deadFirst(a) - deadFirst(b) || worstFirst(a, b) || badOf(b) - badOf(a) || b.chain.length - a.chain.length,
  )
}

function deadFirst({ places }: VolumeView): number {
  return places.some(({ dead }) => dead !== undefined) ? 0 : 1
}

/** Is a link broken. */
function badOf({ chain }: VolumeView): number {
  return chain.some(({ state }) => state === 'bad') ? 1 : 0
}

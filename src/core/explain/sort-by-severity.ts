/** What an answer is about first: what is worst off, and of that the one with most behind it. */
import { causeOf } from '../messages/codes.ts'
import { EXPLAINED_STATES } from '../plan/verdict-states.ts'
import type { Verdict, VolumeView } from './explanation.ts'

/** What only a flag is missing for comes after what would be done. */
export function worstFirst(a: { readonly verdict: Verdict }, b: { readonly verdict: Verdict }): number {
  return rankOf(a.verdict) - rankOf(b.verdict)
}

function rankOf({ state, code: of }: Verdict): number {
  const kind = of && causeOf(of)
  const isAsked = state === 'blocked' && (kind === 'data' || kind === 'asked')
  return isAsked ? EXPLAINED_STATES.indexOf('operation') + 0.5 : EXPLAINED_STATES.indexOf(state)
}

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

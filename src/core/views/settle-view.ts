/** Waits for the time since the kubelet's end, which differ in pod and volume only. */
import type { Plan, Waiting } from '../plan/plan.ts'
import type { Screen } from './screen.ts'
import { wrapped } from './wrap.ts'

/** What is said at the top, all at once; a single one stands with its volume. */
export function settlingWaits({ waiting }: Plan): readonly Waiting[] {
  const waits = waiting.filter(({ code, until }) => code === 'KubeletJustStopped' && until !== undefined)
  return waits.length > 1 ? waits : []
}

export function settleText(waits: readonly Waiting[], { paint, width, symbols }: Screen): string {
  const alike = [...Map.groupBy(waits, ({ code, hint, until }) => JSON.stringify([code, hint, until])).values()]
  return alike.map(textOf).join('')

  function textOf(same: readonly Waiting[]): string {
    // A wait for somebody else as well says more.
    const [first] = same.toSorted((a, b) => a.message.length - b.message.length)
    if (first === undefined) return ''
    const kinds = [...Map.groupBy(same, ({ kind }) => kind)].map(([kind, all]) => `${all.length} ${kind}`).join(', ')
    const until = first.until === undefined ? '' : ` until ${first.until}`
    const text = `${kinds}: waiting${until}: ${first.message} (${first.code}; -v or -o wide shows each)`
    const hint = first.hint === undefined ? '' : wrapped(`  ${symbols.arrow} `, first.hint, width, paint.dim)
    return `\n${wrapped('', text, width, paint.warn)}${hint}`
  }
}

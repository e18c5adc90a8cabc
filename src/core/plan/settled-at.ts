import type { Plan } from './plan.ts'

/**
 * When the settle time of a kubelet that has just stopped is over (S11), in milliseconds since the epoch by this host's clock.
 * Undefined: nothing waits for that, or nothing shows when the kubelet stopped.
 */
export function settledAt({ waiting }: Pick<Plan, 'waiting'>): number | undefined {
  const ends = waiting.flatMap(({ code, until }) =>
    code === 'KubeletJustStopped' && until !== undefined ? [Date.parse(until)] : [],
  )
  return ends.length === 0 ? undefined : Math.max(...ends)
}

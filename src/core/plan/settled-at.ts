import type { Plan } from './plan.ts'

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

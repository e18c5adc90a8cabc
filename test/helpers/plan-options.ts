import { DEFAULT_SETTLE_MS, type PlanOptions } from '../../src/core/plan/plan.ts'

/** Options of a plan without any flag, and the options that a test gives. */
export function planOptions(given: Partial<PlanOptions> = {}): PlanOptions {
  return {
    orphans: false,
    remount: false,
    expand: false,
    settleMs: DEFAULT_SETTLE_MS,
    driverGone: [],
    handles: {},
    forceUnmount: [],
    lazy: [],
    volctlVersion: '0.0.0-test',
    ...given,
  }
}

/** From facts to the answer of `volctl doctor`. Pure: whatever is missing among the facts, every check is there. */
import { defined } from '../lang/defined.ts'
import type { PlanOptions } from '../plan/plan.ts'
import { decideNode } from '../reconcile/plan-node.ts'
import { apiChecks } from './api-checks.ts'
import { CHECK_GROUPS, CHECK_STATES, type Check, type CheckGroup, type CheckState, type Doctor } from './check.ts'
import { driverChecks } from './driver-checks.ts'
import type { DoctorFacts } from './facts.ts'
import { hostChecks } from './host-checks.ts'
import { kubeletChecks } from './kubelet-checks.ts'
import { nodeChecks } from './node-checks.ts'
import { podChecks } from './pod-checks.ts'
import { rightsChecks } from './rights-checks.ts'
import { volctlChecks } from './volctl-checks.ts'

/**
 * @param options of a plan without any flag: whether a safety rule refuses it is one of the checks
 * @param createdAt RFC 3339; of a snapshot when it was taken
 */
export function diagnose(facts: DoctorFacts, options: PlanOptions, createdAt: string): Doctor {
  const { state, source } = facts
  const { plan, context } = state === undefined ? {} : decideNode(state, options)
  const checks = inOrder([
    ...apiChecks(facts),
    ...rightsChecks(facts),
    ...nodeChecks(facts, plan),
    ...kubeletChecks(facts, context),
    ...podChecks(facts, context),
    ...driverChecks(facts, context),
    ...volctlChecks(facts),
    ...hostChecks(facts),
  ])
  const isPrevented = (what: 'plan' | 'apply'): boolean => checks.some(({ prevents }) => prevents === what)
  const plans = !isPrevented('plan')
  return {
    apiVersion: 'volctl.io/v1',
    kind: 'Doctor',
    ...defined({ node: state?.snapshot.nodeName, rootDir: state?.snapshot.rootDir }),
    createdAt,
    volctlVersion: options.volctlVersion,
    source,
    works: { plan: plans, ...(source === 'node' && { apply: plans && !isPrevented('apply') }) },
    checks,
    summary: Object.fromEntries(
      CHECK_STATES.map((each) => [each, checks.filter((one) => one.state === each).length]),
    ) as Record<CheckState, number>,
  }
}

/** The group with the worst check first, in each group the worst first; else as they were made. */
function inOrder(checks: readonly Check[]): readonly Check[] {
  const badness = ({ state }: Check): number => CHECK_STATES.indexOf(state)
  const sorted = checks.toSorted((a, b) => badness(a) - badness(b))
  const groups = (Object.keys(CHECK_GROUPS) as CheckGroup[]).map((group) =>
    sorted.filter((each) => each.group === group),
  )
  const worstOf = ([worst]: readonly Check[]): number => (worst === undefined ? CHECK_STATES.length : badness(worst))
  return groups.toSorted((a, b) => worstOf(a) - worstOf(b)).flat()
}

/** From a look to the answer of `volctl doctor`. Pure: whatever could not be read, what could be is judged. */
import { defined } from '../lang/defined.ts'
import type { PlanOptions } from '../plan/plan.ts'
import { decideNode } from '../reconcile/plan-node.ts'
import { CHECK_STATES, type Check, type CheckState, check, type Doctor, failed } from './check.ts'
import { apiChecks, hostChecks, ignored, kubeletState, nodeChecks, runtime } from './checks.ts'
import type { DoctorLook } from './doctor-look.ts'
import { driverChecks } from './driver-checks.ts'

/**
 * @param options of a plan without any flag: whether a safety rule refuses it is one of the checks
 * @param createdAt RFC 3339; of a snapshot when it was taken
 */
export function diagnose(look: DoctorLook, options: PlanOptions, createdAt: string): Doctor {
  const { state, host } = look
  const rank = ({ state: found }: Check): number => CHECK_STATES.indexOf(found)
  const checks = [
    ...(host === undefined ? [] : hostChecks(host)),
    ...ofNode(look, options),
    ...apiChecks(look, state?.snapshot.api),
  ].toSorted((a, b) => rank(a) - rank(b))
  const isPrevented = (what: 'plan' | 'apply'): boolean => checks.some(({ prevents }) => prevents === what)
  const plans = !isPrevented('plan')
  return {
    apiVersion: 'volctl.io/v1',
    kind: 'Doctor',
    ...defined({ node: state?.snapshot.nodeName, rootDir: state?.snapshot.rootDir }),
    createdAt,
    volctlVersion: options.volctlVersion,
    source: host === undefined ? 'snapshot' : 'node',
    works: { plan: plans, ...(host !== undefined && { apply: plans && !isPrevented('apply') }) },
    checks,
    summary: Object.fromEntries(
      CHECK_STATES.map((each) => [each, checks.filter((one) => one.state === each).length]),
    ) as Record<CheckState, number>,
  }
}

function ofNode(look: DoctorLook, options: PlanOptions): Check[] {
  const { state, failures } = look
  if (state === undefined) {
    const { message, hint = 'Name the node with --root-dir and --node.' } = failures.node ?? { message: 'not found' }
    return [check('NodeFound', failed(message, hint, 'plan'))]
  }
  const { snapshot } = state
  const { plan, context } = decideNode(state, options)
  return [
    ...nodeChecks(look, snapshot, plan),
    check('KubeletState', kubeletState(look, snapshot)),
    check('Runtime', runtime(failures.runtime ?? context.witnesses.blindRuntime, snapshot)),
    ...driverChecks(failures.csiSockets, snapshot, context),
    ...ignored(snapshot),
  ]
}

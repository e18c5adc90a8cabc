/** Whether a kubelet is there, and which pods run, right before an operation (S11, S26). */

import { withDeadline } from '../../linux/deadline.ts'
import { CameBack, errorMessage, OperationRefused, said, saidOfAny } from '../../messages/findings.ts'
import type { Plan } from '../../plan/plan.ts'
import type { Witness } from '../../rules/machine-facts.ts'
import type { KubeletSnapshot } from '../../volumes/snapshot.ts'
import type { ApplyContext } from './step.ts'

/** True if a kubelet is in charge of the node: it runs, or may start again (S11). */
export function ownsNode({ running, mayReturn }: KubeletSnapshot): boolean {
  return running || mayReturn
}

/** True if the plan was made while a kubelet was in charge: then a running kubelet is no reason to stop. */
export function plannedWithKubelet({ inputs }: Plan): boolean {
  return inputs.kubelet.state === 'running' || inputs.kubelet.state === 'mayReturn'
}

/** @param deadlineMs a witness that does not answer by then is abandoned: nothing has been changed yet */
export async function askWitness(context: ApplyContext, deadlineMs: number): Promise<Witness> {
  try {
    return await withDeadline(context.witness(), deadlineMs, 'the API server or the container runtime')
  } catch (error) {
    throw new OperationRefused(said('AlivenessUnknown.pods', { error: errorMessage(error) }), {
      cause: error,
      hint: 'Plan again when the API server and the container runtime answer.',
    })
  }
}

/** @throws OperationRefused KubeletRunning, if that cannot be told */
export async function kubeletIsBack(context: ApplyContext): Promise<boolean> {
  try {
    return ownsNode(await context.kubeletState())
  } catch (error) {
    throw new OperationRefused(said('KubeletRunning.undetermined', { error: errorMessage(error) }), { cause: error })
  }
}

/** By the node's lease, why a kubelet of this node's name runs. If the server does not answer, the witness fails as well. */
export function askLease(context: ApplyContext, deadlineMs: number): Promise<string | undefined> {
  return withDeadline(context.renewedLease(), deadlineMs, 'the API server').catch(() => undefined)
}

/** @param why what shows it; absent: this machine does */
export function kubeletCameBack(why?: string): CameBack {
  return new CameBack(why === undefined ? said('KubeletRunning.back') : saidOfAny('KubeletRunning', 'why', { why }))
}

/** Checks right before an operation (S26): the kubelet, the pod, the volume, the mounts. */

import { append } from '../../base/append.ts'
import { errorMessage } from '../../base/errors.ts'
import { memoize } from '../../base/memoize.ts'
import { CameBack, OperationRefused } from '../../base/operation-error.ts'
import type { KubeletSnapshot } from '../../facts/actual/snapshot.ts'
import { CSI_PLUGIN } from '../../facts/actual/volume-names.ts'
import type { Pod } from '../../kube/api/objects.ts'
import { withDeadline } from '../../linux/deadline.ts'
import type { Operation, Plan } from '../../plan/plan.ts'
import type { DeviceSource } from '../../volumes/plugin.ts'
import { isTerminalPhase, isTerminating, onDiskUid, protectedUids } from '../../volumes/pods.ts'
import { isDeviceOf } from '../../volumes/registry.ts'
import type { ApplyContext, Witness } from './ports.ts'

/** True if a kubelet is in charge of the node: it runs, or may start again (S11). */
export function ownsNode({ running, mayReturn }: KubeletSnapshot): boolean {
  return running || mayReturn
}

/** True if the plan was made while a kubelet was in charge: then a running kubelet is no reason to stop. */
export function plannedWithKubelet({ inputs }: Plan): boolean {
  return inputs.kubelet.state === 'running' || inputs.kubelet.state === 'mayReturn'
}

/**
 * The pod must still be orphaned or finished (S3, S5, S9). For an operation on a device, no pod may want the volume.
 *
 * @throws OperationRefused
 */
export async function requireUnused(operation: Operation, witness: Witness, context: ApplyContext): Promise<void> {
  if (operation.pod !== undefined) return requirePodAway(operation, operation.pod.uid, witness)
  const name = operation.volume?.uniqueName
  if (name === undefined) return
  if (
    (await context.wantedByController(name, unfinished(witness))) ||
    (await wantsDevice(operation, witness, context))
  ) {
    throw new OperationRefused('WantedAgain', `a pod of this node wants ${name} again`)
  }
}

/** A device may have several unique names (R014, P96): for iSCSI, FC and flexVolumes the sources are compared as well. */
async function wantsDevice({ volume }: Operation, witness: Witness, context: ApplyContext): Promise<boolean> {
  if (volume === undefined || volume.plugin === CSI_PLUGIN) return false
  const sources = await wantedSources(witness, context, volume.plugin)
  return sources === undefined || sources.some((source) => isDeviceOf(source, volume.plugin, volume.name))
}

/** The volumes that unfinished pods want; undefined if one could not be resolved and may be of this plugin. */
export async function wantedSources(
  witness: Witness,
  context: ApplyContext,
  plugin: string,
): Promise<readonly DeviceSource[] | undefined> {
  return context.wantedSources(unfinished(witness), plugin)
}

/** Pods in the API that may still use their volumes. */
export function unfinished(witness: Witness): Pod[] {
  return witness.apiPods.filter((pod) => !isFinished(pod, witness))
}

/** @param deadlineMs a witness that does not answer by then is abandoned: nothing has been changed yet */
export async function askWitness(context: ApplyContext, deadlineMs: number): Promise<Witness> {
  try {
    return await withDeadline(context.witness(), deadlineMs, 'the API server or the container runtime')
  } catch (error) {
    throw new OperationRefused(
      'AlivenessUnknown',
      `the pods that still run could not be determined: ${errorMessage(error)}`,
      {
        cause: error,
        hint: 'Plan again when the API server and the container runtime answer.',
      },
    )
  }
}

export async function askKubelet(context: ApplyContext): Promise<KubeletSnapshot> {
  try {
    return await context.kubeletState()
  } catch (error) {
    throw new OperationRefused(
      'KubeletRunning',
      `the state of the kubelet could not be determined: ${errorMessage(error)}`,
      { cause: error },
    )
  }
}

/** By the node's lease, why a kubelet of this node's name runs. If the server does not answer, the witness fails as well. */
export function askLease(context: ApplyContext, deadlineMs: number): Promise<string | undefined> {
  const asked = context.renewedLease?.() ?? Promise.resolve(undefined)
  return withDeadline(asked, deadlineMs, 'the API server').catch(() => undefined)
}

const RUNS_AGAIN = 'a kubelet runs again, or may start again, and the volumes of this node are its work'

/** @param why what shows it; absent: this machine does */
export function kubeletCameBack(why = RUNS_AGAIN): CameBack {
  return new CameBack('KubeletRunning', why)
}

function requirePodAway(operation: Operation, uid: string, witness: Witness): void {
  if (witness.alive.has(uid)) {
    throw new OperationRefused('PodStillRunning', `pod ${uid} still has a sandbox, container or process`, {
      hint: 'Stop its containers; then plan again.',
    })
  }
  const pods = podsOf(witness).get(uid)
  if (pods === undefined && !witness.listed.has(uid)) return
  if (operation.kind === 'RemoveOrphanPodDir') {
    throw new OperationRefused('WantedAgain', `pod ${uid} is in the API`, {
      hint: 'volctl keeps its directory until the pod is deleted from the API.',
    })
  }
  if (pods === undefined || !pods.every((pod) => isFinished(pod, witness))) {
    throw new OperationRefused('WantedAgain', `pod ${uid} is in the API and has not finished`)
  }
}

/** Pods by every UID that their directory may have on disk (S10). Cached, since a batch asks thousands of times. */
const podsOf = memoize((witness: Witness): ReadonlyMap<string, readonly Pod[]> => {
  const pods = new Map<string, Pod[]>()
  for (const pod of witness.apiPods) {
    for (const uid of new Set([onDiskUid(pod), ...protectedUids(pod)])) append(pods, uid, pod)
  }
  return pods
})

function isFinished(pod: Pod, { alive }: Witness): boolean {
  return (isTerminating(pod) || isTerminalPhase(pod)) && !protectedUids(pod).some((uid) => alive.has(uid))
}

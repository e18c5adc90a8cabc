/** What must still hold right before an operation (S26): the kubelet's state, the pod's, the volume's, the mounts'. */

import { isTerminalPhase, isTerminating, onDiskUid, protectedUids } from '../../desired/pods.ts'
import { isDeviceOf } from '../../devices/whose-device.ts'
import { errorMessage } from '../../errors/errors.ts'
import { OperationRefused } from '../../errors/operation-error.ts'
import { append } from '../../lang/append.ts'
import { onceFor } from '../../lang/once-for.ts'
import type { Pod } from '../../model/objects.ts'
import type { KubeletSnapshot } from '../../model/snapshot.ts'
import type { Operation, Plan } from '../../plan/plan.ts'
import type { DeviceSource } from '../../plugins/plugin.ts'
import { withDeadline } from '../../processes/deadline.ts'
import type { ApplyContext, Witness } from './ports.ts'

/** Does a kubelet own the node: it runs, or may come back (S11). */
export function ownsNode({ running, mayReturn }: KubeletSnapshot): boolean {
  return running || mayReturn
}

/** Was the plan made for a node with a kubelet: then its presence is nothing new. */
export function plannedWithKubelet({ inputs }: Plan): boolean {
  return inputs.kubelet.state === 'running' || inputs.kubelet.state === 'mayReturn'
}

/**
 * The pod must still be gone, or finished (S3, S5, S9). An operation on a device asks for nobody's volume instead.
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
    throw new OperationRefused('WantedAgain', `a pod of this node wants ${name} again`, { hint: 'Plan again.' })
  }
}

/** A device may have several names (R014, P96): of iSCSI, FC and flexVolumes the sources are compared as well. */
async function wantsDevice({ volume }: Operation, witness: Witness, context: ApplyContext): Promise<boolean> {
  if (volume === undefined || volume.plugin === 'kubernetes.io/csi') return false
  const sources = await wantedSources(witness, context, volume.plugin)
  return sources === undefined || sources.some((source) => isDeviceOf(source, volume.plugin, volume.name))
}

/** What the pods that have not finished want; undefined where one of it could not be resolved, and may be of the plugin. */
export async function wantedSources(
  witness: Witness,
  context: ApplyContext,
  plugin: string,
): Promise<readonly DeviceSource[] | undefined> {
  return context.wantedSources(unfinished(witness), plugin)
}

/** Pods of the API that may still use what they have. */
export function unfinished(witness: Witness): Pod[] {
  return witness.apiPods.filter((pod) => !isFinished(pod, witness))
}

/** @param deadlineMs what does not answer by then is given up: nothing has been begun */
export async function askWitness(context: ApplyContext, deadlineMs: number): Promise<Witness> {
  try {
    return await withDeadline(context.witness(), deadlineMs, 'the API server or the container runtime')
  } catch (error) {
    throw new OperationRefused('AlivenessUnknown', `who is alive could not be found out: ${errorMessage(error)}`, {
      cause: error,
      hint: 'Nothing is undone without a witness; plan again when it answers.',
    })
  }
}

export async function askKubelet(context: ApplyContext): Promise<KubeletSnapshot> {
  try {
    return await context.kubeletState()
  } catch (error) {
    throw new OperationRefused(
      'KubeletUnknown',
      `whether a kubelet runs could not be found out: ${errorMessage(error)}`,
      {
        cause: error,
        hint: 'Nothing is undone where a kubelet may be at work.',
      },
    )
  }
}

/** Why a kubelet of this node's name lives, by its lease. A server that does not answer tells nothing: the witness asks it too. */
export function askLease(context: ApplyContext, deadlineMs: number): Promise<string | undefined> {
  const asked = context.renewedLease?.() ?? Promise.resolve(undefined)
  return withDeadline(asked, deadlineMs, 'the API server').catch(() => undefined)
}

export function kubeletCameBack(why: string): OperationRefused {
  return new OperationRefused('KubeletCameBack', why, {
    hint: 'Hold it down, wait for --settle, and plan again; or let it do the rest.',
  })
}

function requirePodAway(operation: Operation, uid: string, witness: Witness): void {
  if (witness.alive.has(uid)) {
    throw new OperationRefused('PodIsAlive', `something of pod ${uid} runs`, {
      hint: 'Stop its containers; then plan again.',
    })
  }
  const pods = podsOf(witness).get(uid)
  if (pods === undefined && !witness.listed.has(uid)) return
  if (operation.kind === 'RemoveOrphanPodDir') {
    throw new OperationRefused('PodIsListed', `pod ${uid} is in the API`, {
      hint: 'Its directory stays until the API forgets it.',
    })
  }
  if (pods === undefined || !pods.every((pod) => isFinished(pod, witness))) {
    throw new OperationRefused('PodIsListed', `pod ${uid} is in the API and not finished`, { hint: 'Plan again.' })
  }
}

/** Pods under every UID that may be theirs on disk (S10). A batch asks thousands of times. */
const podsOf = onceFor((witness: Witness): ReadonlyMap<string, readonly Pod[]> => {
  const pods = new Map<string, Pod[]>()
  for (const pod of witness.apiPods) {
    for (const uid of new Set([onDiskUid(pod), ...protectedUids(pod)])) append(pods, uid, pod)
  }
  return pods
})

function isFinished(pod: Pod, { alive }: Witness): boolean {
  return (isTerminating(pod) || isTerminalPhase(pod)) && !protectedUids(pod).some((uid) => alive.has(uid))
}

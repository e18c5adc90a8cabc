/** Which pods are there right before an operation (S3, S5, S9, S22, S26): fresh, where a plan has the classes of its look. */

import { append } from '../base/append.ts'
import { memoize } from '../base/memoize.ts'
import { CSI_PLUGIN } from '../facts/actual/volume-names.ts'
import type { Pod } from '../kube/api/objects.ts'
import type { Operation } from '../plan/plan.ts'
import type { VolumeToMount } from '../volumes/desired-state.ts'
import type { DeviceSource } from '../volumes/plugin.ts'
import { isMirrorPod, isTerminalPhase, isTerminating, onDiskUid, protectedUids } from '../volumes/pods.ts'
import { isDeviceOf } from '../volumes/registry.ts'
import type { MachineFacts, Questions, Verdict, Witness } from './machine-facts.ts'
import type { MachineJudge } from './rule.ts'

/** The pod must still be orphaned or finished. For an operation on a device, no pod may want the volume. */
export const wantedAgain: MachineJudge = ({ operation, context }, witness) => {
  if (operation.pod !== undefined) return podIsBack(operation, operation.pod.uid, witness)
  const name = operation.volume?.uniqueName
  return name === undefined ? undefined : deviceWanted(operation, name, witness, context)
}

async function deviceWanted(
  operation: Operation,
  name: string,
  witness: Witness,
  context: Questions,
): Promise<Verdict | undefined> {
  const isWanted =
    (await context.wantedByController(name, unfinished(witness))) || (await wantsDevice(operation, witness, context))
  return isWanted ? { code: 'WantedAgain', message: `a pod of this node wants ${name} again` } : undefined
}

/** A device may have several unique names (R014, P96): for iSCSI, FC and flexVolumes the sources are compared as well. */
async function wantsDevice({ volume }: Operation, witness: Witness, context: Questions): Promise<boolean> {
  if (volume === undefined || volume.plugin === CSI_PLUGIN) return false
  const sources = await wantedSources(witness, context, volume.plugin)
  return sources === undefined || sources.some((source) => isDeviceOf(source, volume.plugin, volume.name))
}

/** The volumes that unfinished pods want; undefined if one could not be resolved and may be of this plugin. */
export async function wantedSources(
  witness: Witness,
  context: Questions,
  plugin: string,
): Promise<readonly DeviceSource[] | undefined> {
  return context.wantedSources(unfinished(witness), plugin)
}

/** Pods in the API that may still use their volumes. */
export function unfinished(witness: Witness): Pod[] {
  return witness.apiPods.filter((pod) => !isFinished(pod, witness))
}

function podIsBack({ kind }: Operation, uid: string, witness: Witness): Verdict | undefined {
  if (witness.alive.has(uid)) {
    return {
      code: 'PodStillRunning',
      message: `pod ${uid} still has a sandbox, container or process`,
      hint: 'Stop its containers; then plan again.',
    }
  }
  const pods = podsOf(witness).get(uid)
  if (pods === undefined && !witness.listed.has(uid)) return undefined
  if (kind === 'RemoveOrphanPodDir') {
    return {
      code: 'WantedAgain',
      message: `pod ${uid} is in the API`,
      hint: 'volctl keeps its directory until the pod is deleted from the API.',
    }
  }
  return pods?.every((pod) => isFinished(pod, witness)) === true
    ? undefined
    : { code: 'WantedAgain', message: `pod ${uid} is in the API and has not finished` }
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

/** S22: the pod must be in a fresh list, must not be terminating or finished, and must want this very volume. */
export function noLongerWanted({ operation, context }: MachineFacts, witness: Witness): Verdict | undefined {
  const { pod, volume } = operation
  const found = podOf(operation, witness)
  const no = (why: string): Verdict => ({ code: 'NoLongerWanted', message: `pod ${pod?.uid} ${why}` })
  if (found === undefined) return no('is no longer in the API')
  const isAlive = protectedUids(found).some((uid) => witness.alive.has(uid))
  if (isTerminalPhase(found) || (isTerminating(found) && !isAlive)) return no('is terminating or has ended')
  return wantedNow(operation, witness, context) === undefined ? no(`no longer wants ${volume?.uniqueName}`) : undefined
}

/** The volume, as the pod wants it now. */
export function wantedNow(operation: Operation, witness: Witness, context: Questions): VolumeToMount | undefined {
  const found = podOf(operation, witness)
  const name = operation.volume?.uniqueName
  return found === undefined || name === undefined ? undefined : context.wanted(found, name)
}

function podOf({ pod }: Operation, { apiPods }: Witness): Pod | undefined {
  return (
    apiPods.find((each) => !isMirrorPod(each) && each.metadata.uid === pod?.uid) ??
    apiPods.find((each) => onDiskUid(each) === pod?.uid)
  )
}

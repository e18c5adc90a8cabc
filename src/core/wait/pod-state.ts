/** How far one pod is: its volumes mounted, unmounted or detached, told in the kubelet's own parts. */
import type { ActualInputs } from '../actual/actual-inputs.ts'
import type { PodVolume, SubPaths } from '../actual/pod-volume.ts'
import { podSubPaths, podVolumes } from '../actual/pod-volumes.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
import { isTerminalPhase, isTerminating } from '../desired/pods.ts'
import { compareText } from '../lang/compare-text.ts'
import { defined } from '../lang/defined.ts'
import type { PodRef } from '../plan/plan.ts'
import { pluginNamed } from '../plugins/registry.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import type { PodClass } from '../reconcile/pods/pod-classes.ts'
import { isAttachedHere } from './attached-here.ts'
import type { WaitedTarget } from './wait-result.ts'
import type { PodTarget } from './wait-target.ts'

type State = Omit<WaitedTarget, 'name' | 'pod' | 'volume'>

/**
 * Are all volumes that a pod's containers use mounted (WaitForAttachAndMount). A volume on a dead mount is not.
 *
 * @returns `impossible` for a pod that has ended, is terminating, or is gone: its missing volumes will not be mounted
 */
export function podMounted(context: PlanContext, { ref }: PodTarget): State {
  const found = context.classes.of(ref.uid)
  const why = whyNeverMounted(found)
  if (why !== undefined && !isFrozenAndWhole(context, found)) return { state: 'impossible', message: why }
  const own = context.desired.volumes.filter(({ podUid }) => podUid === ref.uid)
  const failed = context.desired.unresolved.filter(({ podUid }) => podUid === ref.uid)
  const missing = own.filter((volume) => !isUp(context.inputs, volume))
  const failedToProcess = sorted(failed.map(({ podVolumeName }) => podVolumeName))
  const unmounted = sorted([...missing.flatMap(({ podVolumeNames }) => podVolumeNames), ...failedToProcess])
  if (unmounted.length === 0)
    return { state: 'reached', message: own.length === 0 ? 'the pod uses no volumes' : 'all volumes are mounted' }
  const unattached = sorted(
    missing
      .filter(({ attachability }) => attachability !== 'notAttachable')
      .filter(({ uniqueName }) => !context.objects.isAttached(uniqueName))
      .flatMap(({ podVolumeNames }) => podVolumeNames),
  )
  return {
    state: 'pending',
    message: `unmounted volumes=${list(unmounted)}, unattached volumes=${list(unattached)}, failed to process volumes=${list(failedToProcess)}`,
    ...defined({ why: failed[0]?.message }),
    ...{ unmounted, unattached, failedToProcess },
  }
}

/** A pod that is terminating may still have all of its volumes. */
function isFrozenAndWhole({ desired, inputs }: PlanContext, found: PodClass | undefined): boolean {
  const own = desired.volumes.filter(({ podUid }) => podUid === found?.uid)
  return found?.class === 'Frozen' && own.length > 0 && own.every((volume) => isUp(inputs, volume))
}

function whyNeverMounted(found: PodClass | undefined): string | undefined {
  if (found?.pod === undefined) return 'the pod was deleted from the API; its volumes are not mounted again'
  if (isTerminalPhase(found.pod))
    return `the pod has ended (${found.pod.status?.phase}); its volumes are not mounted again`
  return isTerminating(found.pod) ? 'the pod is terminating; its volumes are not mounted again' : undefined
}

/** Is a volume that a pod wants there, by the mount table and the directories. */
export function isUp(inputs: ActualInputs, volume: VolumeToMount): boolean {
  const plugin = pluginNamed(volume.plugin)
  if (volume.mode === 'Block' && !plugin.block) return false
  const evidence = plugin.evidence(inputs, volume)
  if (evidence.state !== 'mounted') return evidence.state === 'satisfied'
  return evidence.other === undefined && inputs.deadError(plugin.podPath(volume)) === undefined
}

/**
 * Is nothing of the pod's volumes set up any more (WaitForUnmount): no mount, no map, no state file, no `ready` marker, no content
 * that a tear-down deletes. Empty directories do not count.
 */
export function podUnmounted(context: PlanContext, { ref, outerNames }: PodTarget): State {
  const mounted = sorted(setUpVolumes(context, ref).flatMap((name) => outerNames.get(name) ?? [name]))
  if (mounted.length === 0) return { state: 'reached', message: 'no volume is mounted' }
  const found = context.classes.of(ref.uid)
  const why = found?.class === 'Desired' ? 'the pod is in the API and meant to run' : found?.why?.message
  return { state: 'pending', message: `mounted volumes=${list(mounted)}`, ...defined({ why }), mounted }
}

function setUpVolumes({ inputs, blocks }: PlanContext, { uid }: PodRef): string[] {
  const files = podVolumes(inputs, uid).filter(isSetUp)
  const leaked = [...podSubPaths(inputs, uid).values()].filter(isMounted)
  const maps = blocks.filter(({ mappings }) => mappings.some(({ podUid }) => podUid === uid))
  return [
    ...files.map(({ name }) => name),
    ...leaked.map(({ volumeName }) => volumeName),
    ...maps.map(({ name }) => name),
  ]
}

export function isSetUp({ layers, foreign, stateFile, markers, content, subPaths }: PodVolume): boolean {
  const isThere = layers.length + foreign.length + markers.length + content.length > 0
  return isThere || stateFile !== undefined || (subPaths !== undefined && isMounted(subPaths))
}

function isMounted({ leaves, foreign }: SubPaths): boolean {
  return foreign.length > 0 || leaves.some(({ layers }) => layers.length > 0)
}

/** Are the volumes that the pod wanted or had in the first look detached from this node. */
export function podDetached(context: PlanContext, { volumes }: PodTarget): State {
  const states = [...volumes].map(([uniqueName, names]) => ({ names, state: isAttachedHere(context, uniqueName) }))
  const attached = sorted(states.filter(({ state }) => state !== 'no').flatMap(({ names }) => names))
  if (attached.length === 0) return { state: 'reached', message: 'no volume is attached' }
  const isUnknown = states.some(({ state }) => state === 'unknown')
  return {
    state: 'pending',
    message: `attached volumes=${list(attached)}`,
    ...(isUnknown && { why: 'this credential does not show whether all of them are attached' }),
    attached,
  }
}

/** As the kubelet prints a list. */
export function list(names: readonly string[]): string {
  return `[${names.join(' ')}]`
}

export function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].toSorted(compareText)
}

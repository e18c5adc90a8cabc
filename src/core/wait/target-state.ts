/** How far one pod, or one volume with all of its pods on this node, is, in the kubelet's own parts. */
import type { ActualInputs } from '../actual/actual-inputs.ts'
import type { PodVolume, SubPaths } from '../actual/pod-volume.ts'
import { apiLookup, mayList } from '../desired/api-lookup.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
import { isTerminalPhase, isTerminating } from '../desired/pods.ts'
import { compareText } from '../lang/compare-text.ts'
import { defined } from '../lang/defined.ts'
import type { VolumeRow } from '../ledger/row.ts'
import { podPart } from '../ledger/row-part.ts'
import { attachmentName, parseCsiUniqueName } from '../names/volume-names.ts'
import { podName } from '../plan/pod-name.ts'
import { pluginNamed } from '../plugins/registry.ts'
import { type PlanContext, podRefOf } from '../reconcile/context/context.ts'
import type { PodClass } from '../reconcile/pods/pod-classes.ts'
import type { WaitedTarget } from './wait-result.ts'
import type { PodTarget, VolumeTarget } from './wait-target.ts'

type Target = PodTarget | VolumeTarget
type State = Omit<WaitedTarget, 'name' | 'pod' | 'volume'>

/**
 * Are all volumes that a pod's containers use mounted (WaitForAttachAndMount); of a volume: do all pods of this node that want it have
 * it. What is on a dead mount is not.
 *
 * @returns `impossible` for a pod that has ended, is terminating, or is gone: its missing volumes will not be mounted
 */
export function mounted(context: PlanContext, target: Target): State {
  return target.kind === 'pod' ? podMounted(context, target) : volumeMounted(context, target)
}

function podMounted({ desired, classes, inputs, objects }: PlanContext, { ref }: PodTarget): State {
  const found = classes.of(ref.uid)
  const own = desired.volumes.filter(({ podUid }) => podUid === ref.uid)
  const failed = desired.unresolved.filter(({ podUid }) => podUid === ref.uid)
  const missing = own.filter((volume) => !isUp(inputs, volume))
  const why = whyNeverMounted(found)
  // A pod that is terminating may still have all of its volumes.
  const isWhole = found?.class === 'Frozen' && own.length > 0 && missing.length === 0
  if (why !== undefined && !isWhole) return { state: 'impossible', message: why }
  const failedToProcess = sorted(failed.map(({ podVolumeName }) => podVolumeName))
  const unmounted = sorted([...missing.flatMap(({ podVolumeNames }) => podVolumeNames), ...failedToProcess])
  if (unmounted.length === 0)
    return { state: 'reached', message: own.length === 0 ? 'the pod uses no volumes' : 'all volumes are mounted' }
  const isUnattached = ({ attachability, uniqueName }: VolumeToMount): boolean =>
    attachability !== 'notAttachable' && !objects.isAttached(uniqueName)
  const unattached = sorted(missing.filter(isUnattached).flatMap(({ podVolumeNames }) => podVolumeNames))
  return {
    state: 'pending',
    message: `unmounted volumes=${list(unmounted)}, unattached volumes=${list(unattached)}, failed to process volumes=${list(failedToProcess)}`,
    ...defined({ why: failed[0]?.message }),
    ...{ unmounted, unattached, failedToProcess },
  }
}

function whyNeverMounted(found: PodClass | undefined): string | undefined {
  const never = 'its volumes are not mounted again'
  if (found?.pod === undefined) return `the pod was deleted from the API; ${never}`
  if (isTerminalPhase(found.pod)) return `the pod has ended (${found.pod.status?.phase}); ${never}`
  return isTerminating(found.pod) ? `the pod is terminating; ${never}` : undefined
}

function volumeMounted(context: PlanContext, target: VolumeTarget): State {
  const { wanted = [], unresolved = [] } = volumeOf(context, target) ?? {}
  if (wanted.length + unresolved.length === 0)
    return { state: 'pending', message: 'no pod of this node wants the volume' }
  const missing = [...wanted.filter((volume) => !isUp(context.inputs, volume)), ...unresolved]
  if (missing.length === 0) return { state: 'reached', message: 'the volume is mounted' }
  const pods = sorted(missing.map(({ podUid }) => podName(podRefOf(context, podUid))))
  return { state: 'pending', message: `not mounted in pods=${list(pods)}`, ...defined({ why: unresolved[0]?.message }) }
}

/** Is a volume that a pod wants there, by the mount table and the directories. */
function isUp(inputs: ActualInputs, volume: VolumeToMount): boolean {
  const plugin = pluginNamed(volume.plugin)
  if (volume.mode === 'Block' && !plugin.block) return false
  const evidence = plugin.evidence(inputs, volume)
  if (evidence.state !== 'mounted') return evidence.state === 'satisfied'
  return evidence.other === undefined && inputs.deadError(plugin.podPath(volume)) === undefined
}

/**
 * Is nothing set up any more (WaitForUnmount): no mount, no map, no state file, no `ready` marker, no content that a tear-down deletes.
 * Empty directories do not count. A volume is not staged either.
 */
export function unmounted(context: PlanContext, target: Target): State {
  const isPod = target.kind === 'pod'
  const mounted = sorted(isPod ? volumesSetUp(context, target) : placesSetUp(context, volumeOf(context, target)))
  const [first] = mounted
  if (first === undefined)
    return { state: 'reached', message: isPod ? 'no volume is mounted' : 'the volume is not mounted' }
  if (!isPod) {
    const more = mounted.length === 1 ? '' : ` and in ${mounted.length - 1} more places`
    return { state: 'pending', message: `mounted or set up at ${first}${more}`, mounted }
  }
  const found = context.classes.of(target.ref.uid)
  const why = found?.class === 'Desired' ? 'the pod is in the API and meant to run' : found?.why?.message
  return { state: 'pending', message: `mounted volumes=${list(mounted)}`, ...defined({ why }), mounted }
}

function volumesSetUp({ ledger }: PlanContext, { ref: { uid }, outerNames }: PodTarget): string[] {
  const names = ledger.ofPod(uid).flatMap((row) => {
    const { onDisk, leaked, mappings } = podPart(row, uid)
    return [
      ...onDisk.filter(isSetUp).map(({ name }) => name),
      ...leaked.filter(isMounted).map(({ volumeName }) => volumeName),
      ...mappings.map(({ block }) => block.name),
    ]
  })
  return names.flatMap((name) => outerNames.get(name) ?? [name])
}

function placesSetUp({ inputs }: PlanContext, row: VolumeRow | undefined): string[] {
  const { mounts = [], onDisk = [], maps = [] } = row ?? {}
  return [
    ...mounts.map(({ mountPoint }) => mountPoint),
    ...onDisk.filter(isSetUp).map(({ dir }) => inputs.absolute(dir)),
    ...maps.filter(({ mappings }) => mappings.length > 0).map(({ block }) => inputs.absolute(block.dir)),
  ]
}

function isSetUp({ layers, foreign, stateFile, markers, content, subPaths }: PodVolume): boolean {
  const isThere = layers.length + foreign.length + markers.length + content.length > 0
  return isThere || stateFile !== undefined || (subPaths !== undefined && isMounted(subPaths))
}

function isMounted({ leaves, foreign }: SubPaths): boolean {
  return foreign.length > 0 || leaves.some(({ layers }) => layers.length > 0)
}

/** Is the volume, or are those that the pod wanted or used in the first look, detached from this node. */
export function detached(context: PlanContext, target: Target): State {
  const isPod = target.kind === 'pod'
  const states = isPod
    ? [...target.volumes].map(([name, names]) => ({ names, state: isAttachedHere(context, name) }))
    : [volumeAttached(context, target)]
  const left = states.filter(({ state }) => state !== 'no')
  const attached = sorted(left.flatMap(({ names }) => names))
  if (attached.length === 0)
    return { state: 'reached', message: isPod ? 'no volume is attached' : 'the volume is not attached' }
  const isUnknown = left.some(({ state }) => state === 'unknown')
  const unseen = 'this credential does not show whether'
  if (!isPod)
    return {
      state: 'pending',
      message: isUnknown ? `${unseen} the volume is attached` : 'the volume is attached',
      attached,
    }
  return {
    state: 'pending',
    message: `attached volumes=${list(attached)}`,
    ...(isUnknown && { why: `${unseen} all of them are attached` }),
    attached,
  }
}

function volumeAttached(context: PlanContext, target: VolumeTarget) {
  const name = attachedName(context, target)
  const { attachment } = volumeOf(context, target) ?? {}
  const state = name === undefined ? (attachment === undefined ? 'no' : 'yes') : isAttachedHere(context, name)
  return { names: [name ?? target.name], state }
}

/**
 * Will a detach of the volume not be seen? A VolumeAttachment that is gone is seen in a list alone: to a GET the Node authorizer answers
 * 403, whether there is one or not (N32).
 */
export function isDetachUnseen(context: PlanContext, uniqueName: string): boolean {
  const { api } = context.inputs.snapshot
  if (api === undefined || parseCsiUniqueName(uniqueName) === undefined) return false
  return isAttachedHere(context, uniqueName) !== 'no' && !mayList(api, 'volumeattachments')
}

/**
 * Is a volume attached to this node, by its VolumeAttachment and by node.status.volumesAttached. The controller takes a volume out of
 * the status before it is detached, so that alone proves nothing (S3): of a CSI volume the VolumeAttachment must be gone.
 */
export function isAttachedHere({ inputs, objects }: PlanContext, uniqueName: string): 'yes' | 'no' | 'unknown' {
  const { api, nodeName } = inputs.snapshot
  if (api === undefined) return 'unknown'
  if (objects.isAttached(uniqueName)) return 'yes'
  const csi = parseCsiUniqueName(uniqueName)
  if (csi === undefined) return api.node === null ? 'unknown' : 'no'
  const { state } = apiLookup(api).volumeAttachment(attachmentName(csi.handle, csi.driver, nodeName))
  return state === 'Found' ? 'yes' : state === 'Absent' ? 'no' : 'unknown'
}

/** The name by which it is known whether the volume is attached. */
export function attachedName(context: PlanContext, target: VolumeTarget): string | undefined {
  return volumeOf(context, target)?.uniqueName ?? target.uniqueName
}

/** The volume as it is now; undefined: neither the API nor this node has anything of it. */
function volumeOf({ ledger }: PlanContext, target: VolumeTarget): VolumeRow | undefined {
  const { uniqueName = '', persistentVolume = '', claim = '', directories } = target
  return (
    ledger.row(uniqueName) ??
    ledger.ofPersistentVolume(persistentVolume) ??
    // One that was not bound in the first look has a volume later.
    ledger.ofClaim(claim) ??
    directories.flatMap((directory) => ledger.at(directory))[0]
  )
}

/** As the kubelet prints a list. */
function list(names: readonly string[]): string {
  return `[${names.join(' ')}]`
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].toSorted(compareText)
}

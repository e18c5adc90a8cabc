/**
 * A CSI file system volume of an orphaned or finished pod: first the driver, then what the driver left behind (R441, C76,
 * S14, S16, O5, O6).
 */

import type { MountInfo } from '../../linux/mount-table.ts'
import { said } from '../../messages/findings.ts'
import type { PlanContext } from '../../rules/context.ts'
import { driverCall, isWithoutDriver } from '../../rules/driver-call.ts'
import type { PodClass } from '../../rules/pods/pod-classes.ts'
import { leaveEmpty, unreadWithin } from '../../rules/unread.ts'
import { readyMarker, wrappedName } from '../../volumes/desired-state.ts'
import type { Subject } from '../../volumes/finding.ts'
import { inlineNameOf, type PodVolume, type SubPaths } from '../../volumes/on-disk/pod-volumes.ts'
import { allowedFsTypes } from '../../volumes/plugin.ts'
import { CSI_PLUGIN, isGeneration } from '../../volumes/volume-names.ts'
import { describeCsiVolume } from '../identity/volume-facts.ts'
import { csiSteps, type Leftover, partsOfVolume, reportKept, subPathWork, tearDown } from '../tear-down/tear-down.ts'

export function unmountCsiVolume(context: PlanContext, pod: PodClass, volume: PodVolume): void {
  const { inputs } = context
  const { name, layers, stateFile, target, content, subPaths } = volume
  const mounted = layers.length > 0
  const parts = partsOfVolume(context, pod, volume)
  const hasSubPaths = parts.subPaths.mounts.length > 0
  if (stateFile === undefined && !mounted && !(hasSubPaths && unreadWithin(inputs, volume.dir) !== undefined)) {
    // There is nothing that a driver could undo, but sub-paths may still show the volume (O17).
    const files = content.filter(({ type }) => type !== 'dir')
    reportKept(context, volume, files, IN_A_VOLUME)
    if (subPaths === undefined || !hasSubPaths) leaveEmpty(context, volume)
    else unmountLeakedSubPaths(context, pod, subPaths, 'LeakedSubPath.unmounted', parts.subject, CSI_PLUGIN)
    return
  }
  const identified = context.identify.podVolume(volume)
  const { identity } = identified
  const call = identity && driverCall(context, identity, stateFile, mounted)
  const isAlone = isWithoutDriver(call)
  // A link, device or file that was published on the target itself is removed by the driver (C17, C123).
  const strays = content.filter(
    ({ type, path }) => type !== 'dir' && !path.startsWith(`${target}/`) && (isAlone || path !== target),
  )
  // Where nothing is mounted on it.
  const uncovered = content.filter(
    ({ path, type, size }) =>
      (path.startsWith(`${target}/`) && type !== 'dir') || (path === target && type === 'file' && size !== 0),
  )
  const leftover: Leftover = {
    ...parts,
    ...said(mounted ? 'PodGone.mounted' : 'PodGone.stateFile', { name }),
    ...(call?.kind === 'absentSinceBoot' && said('DriverAbsentSinceBoot', { driver: identity?.driver })),
    ...(stateFile?.data === undefined ? NOT_RECONSTRUCTABLE : { kind: 'UnmountVolume', rule: 'R441' }),
    volume: describeCsiVolume(context, {
      name,
      mode: 'Filesystem',
      identity,
      uniqueName: inlineNameOf(volume),
      device: layers.at(-1),
    }),
    ...(call?.kind === 'absentSinceBoot' && { kubeletWould: 'wait for the driver for ever' }),
    steps: csiSteps(context, isAlone ? undefined : 'NodeUnpublishVolume', volume, {
      hasTarget: inputs.tree.isDir(target),
      isKept: strays.length > 0,
    }),
    uncovered: mounted ? undefined : { target, files: uncovered },
    identified,
    call,
  }
  tearDown(context, leftover, () => reportKept(context, volume, strays, IN_A_VOLUME))
}

const IN_A_VOLUME = 'is in a volume directory of a deleted pod'

/** A kubelet that has just started does not find the volume (S17). */
const NOT_RECONSTRUCTABLE = {
  kind: 'CleanOrphanVolume',
  code: 'NotReconstructable',
  rule: 'S17',
  kubeletWould: 'try once, fail because vol_data.json is missing or unusable, and leave the volume for ever',
} as const

// Sub-path mounts that are all that is left of a volume: they are unmounted by the mount table (O17, O18, P142).

/**
 * @param says what is missing of the volume
 * @param plugin as its directory says, where there is one
 */
export function unmountLeakedSubPaths(
  context: PlanContext,
  pod: PodClass,
  subPaths: SubPaths,
  says: 'LeakedSubPath.missing' | 'LeakedSubPath.unmounted',
  subject: Subject,
  plugin?: string,
): void {
  const volumeName = subPaths.volumeName
  const persistentVolume = context.objects.persistentVolume(volumeName)
  const volume = {
    name: volumeName,
    plugin: plugin ?? (persistentVolume?.spec.csi === undefined ? 'unknown' : CSI_PLUGIN),
    mode: 'Filesystem' as const,
    persistentVolume: persistentVolume && volumeName,
  }
  const work = subPathWork(context, subPaths)
  const left = work.steps.filter(({ op }) => op === 'umount').length
  const memory = memoryBehind(context, pod.uid, subPaths)
  tearDown(context, {
    ...{ kind: 'UnmountVolume', pod, volume, subject },
    ...said(says, { name: volumeName, left, plural: left === 1 ? ' is' : 's are' }),
    rule: 'O17',
    subPaths: work,
    steps: [],
    mounts: [],
    data: { name: volumeName, memory },
    deletes: memory.length === 0 ? undefined : UNCOUNTED,
    kubeletWould: 'leave the sub-paths mounted for ever, and fail to remove the pod directory every 2 s',
  })
}

// Data in memory: a tmpfs ends with its last mount, which may be a sub-path's (S13).

/** Files in a mount cannot be counted without entering the mount. */
export const UNCOUNTED = { files: 0, bytes: 0, counted: false } as const

/**
 * Mounts of these sub-paths that may be the last mounts of an emptyDir in memory: no mount outside the pod's own directories
 * shows its file system, unlike that of a hostPath in /run. A volume that the kubelet wraps (secret, projected) is no
 * emptyDir (P22).
 */
export function memoryBehind({ inputs }: PlanContext, podUid: string, subPaths: SubPaths | undefined): MountInfo[] {
  if (subPaths === undefined) return []
  if (inputs.tree.has(readyMarker(podUid, wrappedName(subPaths.volumeName)))) return []
  const layers = subPaths.leaves
    .flatMap((leaf) => leaf.layers)
    // Content written by the kubelet's atomic writer belongs to no emptyDir, even if the volume's directory is gone (P28).
    .filter(
      ({ fsType, root }) => allowedFsTypes('emptyDir')?.includes(fsType) && !isGeneration(root.split('/')[1] ?? ''),
    )
  const ending = new Set(
    [...new Set(layers.map(({ dev }) => dev))].filter((dev) =>
      inputs.mounts.ofDevice(dev).every((mount) => mount.mountPoint.includes(`/pods/${podUid}/`)),
    ),
  )
  return layers.filter(({ dev }) => ending.has(dev))
}

/** Volumes on disk or mounted, matched with those that pods want by directory, identity or device. */

import type { BlockVolume } from '../actual/block-volume.ts'
import type { PodVolume } from '../actual/pod-volume.ts'
import { podSubPaths, podVolumes } from '../actual/pod-volumes.ts'
import type { StagedVolume } from '../actual/staged-volumes.ts'
import { type GlobalMount, globalUniqueName } from '../devices/global-mounts.ts'
import { CSI_PLUGIN, csiUniqueName, uniquePodVolumeName, uniqueVolumeName } from '../names/volume-names.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { identifyBlock, identifyPodVolume, identifyStaged } from '../reconcile/identity/csi-identity.ts'
import type { NodeVolume } from './node-volume.ts'
import type { VolumeRegister } from './volume-register.ts'

/** Before the pods' directories, which are known to be of a global mount by its device. */
export function noteGlobal(register: VolumeRegister, global: GlobalMount): void {
  const { plugin, path } = global
  const found = register.named(globalUniqueName(plugin, path))
  found.globals.push(global)
  for (const { dev } of global.layers) register.noteDevice(plugin, dev, found)
}

export function noteStaged(context: PlanContext, register: VolumeRegister, staged: StagedVolume): void {
  register.identified(identifyStaged(context, staged)).staged.push(staged)
}

/** What lies in the pod's directory. */
export function notePod(context: PlanContext, register: VolumeRegister, uid: string): void {
  const { inputs } = context
  const volumes = podVolumes(inputs, uid)
  for (const volume of volumes) {
    const found = register.byDirectory.get(volume.dir) ?? ofPodVolume(context, register, volume)
    found.onDisk.push(volume)
    register.byDirectory.set(volume.dir, found)
  }
  for (const subPaths of podSubPaths(inputs, uid).values()) {
    const { volumeName, leaves, foreign } = subPaths
    if (volumes.some(({ name }) => name === volumeName)) continue
    if (foreign.length === 0 && leaves.every(({ layers }) => layers.length === 0)) continue
    const found = register.ofSpecName(uid, volumeName) ?? ofPersistentVolumeName(context, register, volumeName)
    found.leaked.push({ podUid: uid, subPaths })
  }
}

function ofPersistentVolumeName({ objects }: PlanContext, register: VolumeRegister, name: string): NodeVolume {
  const csi = objects.csiSourceOf(name)
  return csi === undefined ? register.alone() : register.named(csiUniqueName(csi.driver, csi.volumeHandle))
}

function ofPodVolume(context: PlanContext, register: VolumeRegister, volume: PodVolume): NodeVolume {
  const { plugin, podUid, name, layers, stateFile, subPaths } = volume
  if (plugin === CSI_PLUGIN) {
    const data = stateFile?.data
    // Only sub-paths are left (O17): as of one whose directory is missing.
    if (stateFile === undefined && layers.length === 0 && subPaths?.leaves.some((leaf) => leaf.layers.length > 0))
      return ofPersistentVolumeName(context, register, name)
    if (data?.volumeLifecycleMode !== 'Ephemeral') return register.identified(identifyPodVolume(context, volume))
    const found = register.named(uniquePodVolumeName(plugin, podUid, data.specVolID ?? name))
    found.identity ??= { driver: data.driverName, handle: data.volumeHandle, from: 'vol_data.json' }
    return found
  }
  if (plugin === 'kubernetes.io/local-volume') return register.named(uniqueVolumeName(plugin, name))
  return register.onDevice(plugin, layers.at(-1)?.dev) ?? register.named(uniquePodVolumeName(plugin, podUid, name))
}

/** After the pods' directories, whose links lead to its device. */
export function noteBlock(context: PlanContext, register: VolumeRegister, block: BlockVolume): void {
  const { plugin, dir, mappings, mapDir } = block
  const linked = mappings.flatMap(({ symlink }) => register.byDirectory.get(symlink ?? '') ?? [])[0]
  const found =
    linked ??
    (plugin === CSI_PLUGIN
      ? register.identified(identifyBlock(context, block))
      : register.named(globalUniqueName(plugin, dir)))
  found.maps.push({ block, mappings })
  register.byDirectory.set(mapDir, found)
}

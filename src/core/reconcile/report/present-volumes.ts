/** Attachable volumes that are mounted or mapped on this node, for any pod or none: they must be attached here (O7, S30). */

import { omitUndefined } from '../../base/omit-undefined.ts'
import type { VolumeData } from '../../facts/actual/state-file.ts'
import {
  CSI_PLUGIN,
  csiUniqueName,
  inlineCsiHandle,
  unescapeQualifiedName,
  uniqueVolumeName,
} from '../../facts/actual/volume-names.ts'
import type { PersistentVolume } from '../../kube/api/objects.ts'
import type { Subject } from '../../plan/subject.ts'
import type { Handle } from '../../volumes/api-objects.ts'
import type { VolumeToMount } from '../../volumes/desired-state.ts'
import { flexVolume } from '../../volumes/flex-volume.ts'
import { statusVolumesAt } from '../../volumes/populate.ts'
import { evidenceOf, pluginNamed } from '../../volumes/registry.ts'
import type { PlanContext } from '../context/context.ts'

export interface PresentVolume {
  readonly uniqueName: string
  /** The spec name; for a volume that is only staged, its PersistentVolume's name, or the volume handle. */
  readonly name: string
  /** Absolute: where the volume is mounted or mapped. */
  readonly path: string
  /** UIDs of the pods that have the volume; empty: it is only staged. */
  readonly pods: readonly string[]
  /** CSI only: volumes of other plugins have no VolumeAttachment. */
  readonly identity?: Handle
  readonly persistentVolume?: PersistentVolume
  /** Asked where something is wrong with it. */
  readonly subject: () => Subject
}

/** One entry for each unique name, with a pod's own path if there is one. */
export function presentVolumes(context: PlanContext): readonly PresentVolume[] {
  const { desired, onDisk, staged, blocks, inputs, ledger, objects } = context
  const { api } = inputs.snapshot
  const found = new Map<string, PresentVolume>()
  const note = ({ path, ...volume }: PresentVolume): void => {
    const known = found.get(volume.uniqueName)
    const pods = [...new Set([...(known?.pods ?? []), ...volume.pods])]
    found.set(volume.uniqueName, { ...(known ?? { ...volume, path: inputs.absolute(path) }), pods })
  }
  const noteCsi = (identity: Handle, at: Pick<PresentVolume, 'path' | 'pods' | 'subject'>, name?: string): void => {
    // Without the CSIDriver object it is not known whether the driver attaches volumes (S3).
    const driver = api?.csiDrivers.find(({ metadata }) => metadata.name === identity.driver)
    if (driver === undefined || driver.spec.attachRequired === false) return
    const [persistentVolume] = objects.persistentVolumesOf(identity)
    const uniqueName = csiUniqueName(identity.driver, identity.handle)
    const shown = name ?? persistentVolume?.metadata.name ?? identity.handle
    note({ uniqueName, name: shown, identity, ...at, ...omitUndefined({ persistentVolume }) })
  }
  for (const volume of desired.volumes) {
    const uniqueName = attachableName(context, volume)
    const evidence = uniqueName === undefined ? undefined : evidenceOf(inputs, volume)
    // Another volume that is mounted in its place is the one that the state file there names.
    if (uniqueName === undefined || evidence?.state !== 'mounted' || evidence.other !== undefined) continue
    const { driver, handle, persistentVolume, podUid, plugin, specName: name } = volume
    const identity = driver === undefined || handle === undefined ? undefined : { driver, handle }
    const at = { path: pluginNamed(plugin).podPath(volume), pods: [podUid], subject: () => ledger.wanted(volume) }
    note({ uniqueName, name, ...at, ...omitUndefined({ identity, persistentVolume }) })
  }
  // Also of pods that are gone.
  for (const { path: dir, volume } of onDisk.all) {
    const [top, uid, volumes, , name] = dir.split('/')
    const path = `${dir}/mount`
    if (top !== 'pods' || uid === undefined || volumes !== 'volumes' || name === undefined) continue
    // An inline volume is never attached, whatever its driver does with other volumes (C35).
    if (inputs.at(path).length === 0 || volume.handle === inlineCsiHandle(uid, name)) continue
    const identity = { driver: volume.driver, handle: volume.handle }
    noteCsi(identity, { path, pods: [uid], subject: () => ledger.path(dir) }, unescapeQualifiedName(name))
  }
  for (const each of staged) {
    const { stateFile, layers, target: path } = each
    if (stateFile?.data === undefined || layers.length === 0) continue
    noteCsi(handleIn(stateFile.data), { path, pods: [], subject: () => ledger.staged(each) })
  }
  for (const block of blocks) {
    const { plugin, stateFile, mappings, staging, name, dir: path } = block
    const held = mappings.filter(({ mapLayers, publishLayers }) => mapLayers.length + publishLayers.length > 0)
    if (plugin !== CSI_PLUGIN || stateFile?.data === undefined) continue
    if (held.length === 0 && (staging?.mounts.length ?? 0) === 0) continue
    const pods = held.map(({ podUid }) => podUid)
    noteCsi(handleIn(stateFile.data), { path, pods, subject: () => ledger.block(block, held[0]) }, name)
  }
  // Of other plugins a PersistentVolume gives the name by which the Node lists the volume.
  for (const each of ledger.globals) {
    const { plugin, name, path, layers } = each
    const [volume, other] = layers.length === 0 || api === undefined ? [] : statusVolumesAt(api, plugin, name)
    if (volume === undefined || other !== undefined) continue
    const { uniqueName, persistentVolume } = volume
    note({ uniqueName, name, path, pods: [], persistentVolume, subject: () => ledger.global(each) })
  }
  return [...found.values()]
}

function handleIn({ driverName: driver, volumeHandle: handle }: VolumeData): Handle {
  return { driver, handle }
}

/** The name by which the node's status lists a wanted volume; undefined: the volume is never attached, or that is unknown. */
export function attachableName({ inputs }: PlanContext, volume: VolumeToMount): string | undefined {
  const { attachability, uniqueName, plugin, specName } = volume
  if (attachability === 'attachable') return uniqueName
  // Only a flexVolume driver that attaches is called to mount a device (P87).
  const global = pluginNamed(plugin) === flexVolume ? flexVolume.globalPath(volume) : undefined
  return global !== undefined && inputs.at(global).length > 0 ? uniqueVolumeName(plugin, specName) : undefined
}

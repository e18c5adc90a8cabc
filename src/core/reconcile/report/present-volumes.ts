/** Attachable volumes that are mounted or mapped on this node, for any pod or none: they must be attached here (O7, S30). */

import { omitUndefined } from '../../base/omit-undefined.ts'
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
import { statusVolumes, statusVolumesAt } from '../../volumes/populate.ts'
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
  const found = new Map<string, PresentVolume>()
  const note = (volume: PresentVolume): void => {
    const known = found.get(volume.uniqueName)
    const pods = [...new Set([...(known?.pods ?? []), ...volume.pods])]
    found.set(volume.uniqueName, { ...(known ?? volume), pods })
  }
  for (const volume of context.desired.volumes) {
    const uniqueName = attachableName(context, volume)
    if (uniqueName === undefined || !isThere(context, volume)) continue
    const { driver, handle, persistentVolume } = volume
    note({
      uniqueName,
      name: volume.specName,
      path: context.inputs.absolute(pluginNamed(volume.plugin).podPath(volume)),
      pods: [volume.podUid],
      subject: () => context.ledger.wanted(volume),
      ...omitUndefined({
        identity: driver === undefined || handle === undefined ? undefined : { driver, handle },
        persistentVolume,
      }),
    })
  }
  for (const each of [...recorded(context), ...staged(context), ...mapped(context), ...global(context)]) note(each)
  return [...found.values()]
}

/** The name by which the node's status lists a wanted volume; undefined: the volume is never attached, or that is unknown. */
export function attachableName({ inputs }: PlanContext, volume: VolumeToMount): string | undefined {
  const { attachability, uniqueName, plugin, specName } = volume
  if (attachability === 'attachable') return uniqueName
  // Only a flexVolume driver that attaches is called to mount a device (P87).
  const global = pluginNamed(plugin) === flexVolume ? flexVolume.globalPath(volume) : undefined
  return global !== undefined && inputs.at(global).length > 0 ? uniqueVolumeName(plugin, specName) : undefined
}

/** Not if another volume is mounted in its place: the state file there names that one. */
function isThere({ inputs }: PlanContext, volume: VolumeToMount): boolean {
  const evidence = evidenceOf(inputs, volume)
  return evidence.state === 'mounted' && evidence.other === undefined
}

/** Mounted volumes that a state file in a pod's directory names, also of pods that are gone. */
function recorded(context: PlanContext): PresentVolume[] {
  return context.onDisk.all.flatMap(({ path, volume }) => {
    const [top, uid, volumes, , name] = path.split('/')
    if (top !== 'pods' || uid === undefined || volumes !== 'volumes' || name === undefined) return []
    // An inline volume is never attached, whatever its driver does with other volumes (C35).
    if (context.inputs.at(`${path}/mount`).length === 0 || volume.handle === inlineCsiHandle(uid, name)) return []
    const place = { path: `${path}/mount`, pods: [uid], subject: () => context.ledger.path(path) }
    return csiVolume(context, volume, unescapeQualifiedName(name), place)
  })
}

function staged(context: PlanContext): PresentVolume[] {
  return context.staged.flatMap((each) => {
    const { stateFile, layers, target } = each
    if (stateFile?.data === undefined || layers.length === 0) return []
    const identity = { driver: stateFile.data.driverName, handle: stateFile.data.volumeHandle }
    const [persistentVolume] = context.objects.persistentVolumesOf(identity)
    const place = { path: target, pods: [], subject: () => context.ledger.staged(each) }
    return csiVolume(context, identity, persistentVolume?.metadata.name ?? identity.handle, place)
  })
}

function mapped(context: PlanContext): PresentVolume[] {
  return context.blocks.flatMap((block) => {
    const { plugin, stateFile, mappings, staging, name, dir } = block
    if (plugin !== CSI_PLUGIN || stateFile?.data === undefined) return []
    const held = mappings.filter(({ mapLayers, publishLayers }) => mapLayers.length + publishLayers.length > 0)
    if (held.length === 0 && (staging?.mounts.length ?? 0) === 0) return []
    const { driverName: driver, volumeHandle: handle } = stateFile.data
    const pods = held.map(({ podUid }) => podUid)
    const place = { path: dir, pods, subject: () => context.ledger.block(block, held[0]) }
    return csiVolume(context, { driver, handle }, name, place)
  })
}

/** Global mounts of other plugins, if a PersistentVolume gives the name by which the Node lists the volume. */
function global({ inputs, ledger }: PlanContext): PresentVolume[] {
  const { api } = inputs.snapshot
  if (api === undefined || statusVolumes(api).length === 0) return []
  return ledger.globals.flatMap((each): PresentVolume[] => {
    const { plugin, name, path, layers } = each
    const [volume, other] = layers.length === 0 ? [] : statusVolumesAt(api, plugin, name)
    if (volume === undefined || other !== undefined) return []
    const { uniqueName, persistentVolume } = volume
    const subject = (): Subject => ledger.global(each)
    return [{ uniqueName, name, path: inputs.absolute(path), pods: [], persistentVolume, subject }]
  })
}

function csiVolume(
  context: PlanContext,
  { driver, handle }: Handle,
  name: string,
  { path, pods, subject }: Pick<PresentVolume, 'path' | 'pods' | 'subject'>,
): PresentVolume[] {
  if (!isAttached(context, driver)) return []
  const persistentVolume = context.objects.persistentVolumesOf({ driver, handle })[0]
  return [
    {
      uniqueName: csiUniqueName(driver, handle),
      name,
      path: context.inputs.absolute(path),
      pods,
      identity: { driver, handle },
      subject,
      ...omitUndefined({ persistentVolume }),
    },
  ]
}

/** Without the CSIDriver object it is not known whether the driver attaches volumes (S3). */
function isAttached({ inputs }: PlanContext, driver: string): boolean {
  const object = inputs.snapshot.api?.csiDrivers.find((each) => each.metadata.name === driver)
  return object !== undefined && object.spec.attachRequired !== false
}

/**
 * --handle: a person names the volume of a directory whose vol_data.json is lost (S17).
 *
 * The flag replaces the proof by the directory's hash, never the comparison of devices: a mounted target must show the device
 * that is staged under that handle, and no device that is staged under another handle.
 */

import { ownValue } from '../../base/own-value.ts'
import type { PodVolume } from '../../facts/actual/pod-volumes.ts'
import {
  driverOf,
  registeredDriver,
  type StagedVolume,
  stagedShownBy,
  stagedUnder,
} from '../../facts/actual/staged-volumes.ts'
import { CSI_PLUGIN, inlineCsiHandle, sha256Hex, unescapeQualifiedName } from '../../facts/actual/volume-names.ts'
import type { Identified } from '../../facts/sources.ts'
import type { MountInfo } from '../../linux/mount-table.ts'
import { otherThanOwnStaged } from '../../volumes/same-volume.ts'
import type { PlanContext } from '../context/context.ts'

/** @param shown a mount of the volume, if there is one */
export function givenForFileSystem(
  context: PlanContext,
  { name, podUid }: PodVolume,
  shown: MountInfo | undefined,
): Identified | undefined {
  const handle = handleGiven(context, name)
  if (handle === undefined) return undefined
  if (handle === inlineCsiHandle(podUid, unescapeQualifiedName(name)))
    return inlineIdentity(context, name, handle, shown)
  const own = stagedUnder(context.staged, handle)
  const named = driverByName(context, name, handle)
  if (shown !== undefined) {
    const same = stagedShownBy(context.staged, shown)
    const confirmed = own.find((staged) => same.includes(staged))
    if (confirmed !== undefined) return identityOf(name, handle, driverOf(confirmed))
    const other = own.find((staged) => staged.layers.length > 0 && (named ?? driverOf(staged)) === driverOf(staged))
    const contradicts = other ?? same[0]
    if (contradicts !== undefined) return notTheSame(`--handle ${name}=${handle}`, shown, contradicts)
  }
  const drivers = new Set(own.map(driverOf))
  const [staging] = drivers
  if (drivers.size === 0 || (named !== undefined && drivers.has(named))) return identityOf(name, handle, named)
  return identityOf(name, handle, drivers.size === 1 && named === undefined ? staging : undefined)
}

/**
 * S17: why a state file is not believed although it can be read: what is mounted is not what is staged for the volume that it names
 * (S38). If one layer is the volume's, a layer above or below it is somebody else's mount (S18), and no doubt about the file.
 */
export function contradicted(
  { inputs }: PlanContext,
  { driver, handle }: { readonly driver: string; readonly handle: string },
  layers: readonly MountInfo[],
): Identified | undefined {
  const volume = { plugin: CSI_PLUGIN, specName: handle, driver, handle }
  const found = layers.map((shown) => otherThanOwnStaged(inputs, shown, volume))
  const [shown, other] = [layers.at(-1), found.at(-1)]
  if (shown === undefined || other === undefined || found.includes(undefined)) return undefined
  const { name, expected = `${driver}^${handle}` } = other
  return {
    unconfirmed: `vol_data.json names another volume than ${shown.mountPoint} shows: ${name}, and not ${expected}`,
    hint: UNLIKE,
  }
}

/** Only an inline volume of this very pod has such a handle (C32), and it is never staged; its driver serves inline volumes here. */
function inlineIdentity(context: PlanContext, name: string, handle: string, shown: MountInfo | undefined): Identified {
  const [staged] = shown === undefined ? [] : stagedShownBy(context.staged, shown)
  if (shown !== undefined && staged !== undefined) return notTheSame(`--handle ${name}=${handle}`, shown, staged)
  const [driver, ...others] = inlineDrivers(context)
  if (driver !== undefined && others.length === 0) return { identity: { driver, handle, from: '--handle' } }
  return {
    unconfirmed: `--handle ${name}=${handle} is of an inline volume, and its driver is not clear: ${others.length === 0 ? 'no driver' : 'more than one driver'} that is registered here serves inline volumes`,
    hint: 'Start the driver that served the volume, and no other such driver; then plan again.',
  }
}

/** Drivers that are registered on this node, and serve inline volumes (C105). */
export function inlineDrivers({ inputs }: PlanContext): readonly string[] {
  const drivers = inputs.snapshot.api?.csiDrivers ?? []
  const serving = drivers.filter(({ spec }) => spec.volumeLifecycleModes?.includes('Ephemeral'))
  return serving.map(({ metadata }) => metadata.name).filter((name) => registeredDriver(inputs, name) !== undefined)
}

export function givenForBlock(context: PlanContext, name: string): Identified | undefined {
  const handle = handleGiven(context, name)
  if (handle === undefined) return undefined
  const fileSystem = stagedUnder(context.staged, handle).find(
    ({ layers, stateFile }) => layers.length > 0 || stateFile !== undefined,
  )
  if (fileSystem === undefined) return identityOf(name, handle, driverByName(context, name, handle))
  return {
    unconfirmed: `--handle ${name}=${handle}: the volume with this handle is staged as a file system in ${fileSystem.dir}, but ${name} is a block volume`,
    hint: 'Look up the handle of this block volume in the storage system.',
  }
}

/** The handle of any --handle whose hash is this staging directory's name. */
export function givenWithHash({ options: { handles } }: PlanContext, key: string): string | undefined {
  return Object.values(handles).find((handle) => sha256Hex(handle) === key)
}

function handleGiven({ options: { handles } }: PlanContext, name: string): string | undefined {
  return ownValue(handles, name) ?? ownValue(handles, unescapeQualifiedName(name))
}

/** A handle does not say its driver: the PersistentVolume of that name does, or the handle's VolumeAttachment (R007). */
function driverByName({ objects, inputs }: PlanContext, name: string, handle: string): string | undefined {
  const csi = objects.csiSourceOf(unescapeQualifiedName(name))
  if (csi !== undefined) return csi.driver
  const attachers = new Set((inputs.snapshot.api?.volumeAttachments ?? []).map(({ spec }) => spec.attacher))
  const fitting = [...attachers].filter((driver) => objects.attachmentOf({ driver, handle }) !== undefined)
  return fitting.length === 1 ? fitting[0] : undefined
}

function identityOf(name: string, handle: string, driver: string | undefined): Identified {
  if (driver !== undefined) return { identity: { driver, handle, from: '--handle' } }
  return {
    unconfirmed: `--handle ${name}=${handle}: the driver is not clear, since staging directories, PersistentVolume and VolumeAttachment name none, or several`,
    hint: 'Find out which driver serves this handle, and restore the PersistentVolume or the VolumeAttachment.',
  }
}

const UNLIKE =
  'Look up in the storage system which volume the device is; a handle that the device contradicts is never used.'

function notTheSame(claim: string, shown: MountInfo, staged: StagedVolume): Identified {
  const layer = staged.layers.at(-1)
  return {
    unconfirmed: `${claim}: ${shown.mountPoint} shows device ${shown.dev} ${shown.root}, but ${staged.dir} is staged from device ${layer?.dev} ${layer?.root}`,
    hint: UNLIKE,
  }
}

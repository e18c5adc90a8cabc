/**
 * Driver and handle of a CSI volume found on disk, and where they came from (S16, S17, C95, O5, O9, O22).
 *
 * vol_data.json names both. Without that file a name alone proves nothing: a PersistentVolume may have been deleted and created
 * again, and an inline volume may have a PersistentVolume's name. The staging directory's name, the hash of the handle, is proof.
 */

import { ownValue } from '../../base/collections.ts'
import {
  type CsiIdentity,
  type Identified,
  identitiesInStatus,
  identityOfObject,
  identityOnRecord,
  uniqueNameOf,
} from '../../facts/row.ts'
import type { VolumeAttachment } from '../../kube/api/objects.ts'
import type { MountInfo } from '../../linux/mount-table.ts'
import { isWithin } from '../../linux/paths.ts'
import { advice, giveHandle, volctl } from '../../messages/command.ts'
import { said } from '../../messages/findings.ts'
import type { PlanContext } from '../../rules/context.ts'
import { type Handle, isSameVolume } from '../../volumes/api-objects.ts'
import { csiSourceOf } from '../../volumes/in-tree-volumes.ts'
import type { BlockVolume } from '../../volumes/on-disk/block-volume.ts'
import type { PodVolume } from '../../volumes/on-disk/pod-volumes.ts'
import { driverOf, isOld, type StagedVolume, stagedShownBy, stagedUnder } from '../../volumes/on-disk/staged-volumes.ts'
import { otherThanOwnStaged } from '../../volumes/same-volume.ts'
import {
  attachmentName,
  CSI_PLUGIN,
  csiGlobalDir,
  inlineCsiHandle,
  sha256Hex,
  unescapeQualifiedName,
} from '../../volumes/volume-names.ts'

/** Identity of a pod's file system volume. */
export function identifyPodVolume(context: PlanContext, volume: PodVolume): Identified {
  const { subPaths } = volume
  // If the target is no longer mounted, a sub-path may still show the volume's device.
  const layers =
    volume.layers.length > 0 ? volume.layers : (subPaths?.leaves.find((leaf) => leaf.layers.length > 0)?.layers ?? [])
  const shown = layers.at(-1)
  const identity = identityOnRecord(volume.stateFile)
  const doubt = identity && contradicted(context, identity, layers)
  if (identity !== undefined && doubt === undefined) return { identity }
  const given = givenForFileSystem(context, volume, shown)
  return given ?? doubt ?? (shown === undefined ? byConfirmedName(context, volume) : byDevice(context, volume, shown))
}

function byDevice(context: PlanContext, volume: PodVolume, shown: MountInfo): Identified {
  const identities = stagedShownBy(context.staged, shown).map(context.identify.staged)
  const found = identities.flatMap(({ identity }) => identity ?? [])
  const [first] = found
  if (first !== undefined && found.length === identities.length && found.every((each) => isSameVolume(each, first))) {
    return { identity: { ...first, from: `the global mount on the same device (${first.from})` } }
  }
  return unconfirmed(context, volume, `no staged volume on device ${shown.dev} proves its driver and volume handle`)
}

/**
 * Nothing is mounted, so there is no device to compare: the PersistentVolume of that name, confirmed by its staging directory
 * (O6). Not if another pod uses or used the staged volume: then the PersistentVolume may have been deleted and created again
 * after this directory was made (S17).
 */
function byConfirmedName(context: PlanContext, volume: PodVolume): Identified {
  const { name } = volume
  const named = identityOfObject(context.objects.persistentVolume(unescapeQualifiedName(name)))
  const dir = named && csiGlobalDir(named.driver, named.handle)
  const record = context.inputs.tree.stateFile(`${dir}/vol_data.json`)?.data
  if (named === undefined || dir === undefined || record === undefined || !isSameVolume(named, record))
    return unconfirmed(context, volume, 'nothing on disk proves its driver and volume handle')
  if (isUsedByAnotherPod(context, named, dir)) {
    const why = `PersistentVolume ${name}, which another pod uses, may not be the volume that this directory was created for`
    return unconfirmed(context, volume, why)
  }
  return { identity: { ...named, from: `PersistentVolume ${name}, confirmed by the staging directory` } }
}

function isUsedByAnotherPod(context: PlanContext, identity: CsiIdentity, stagingDir: string): boolean {
  const { inputs, onDisk, uses, staged } = context
  const uniqueName = uniqueNameOf(identity)
  if (uses.of(uniqueName).length > 0 || onDisk.of(uniqueName).some(({ path }) => path !== stagingDir)) return true
  const layers = staged.find(({ dir }) => dir === stagingDir)?.layers ?? []
  const shown = layers.flatMap(({ dev }) => inputs.mounts.ofDevice(dev))
  return shown.some((mount) => isWithin(mount.mountPoint, inputs.absolute('pods')))
}

/** Identity of a staged file system volume. */
export function identifyStaged(context: PlanContext, staged: StagedVolume): Identified {
  const { driverDir, key } = staged
  const identity = identityOnRecord(staged.stateFile)
  if (identity !== undefined) {
    const { driver, handle } = identity
    if (isOld(staged) || csiGlobalDir(driver, handle) === staged.dir) return { identity }
    return {
      unconfirmed: said('IdentityUnconfirmed.otherHash', { dir: staged.dir, driver, handle }),
      hint: 'Find out which volume is staged there before you unmount anything.',
    }
  }
  // Of any --handle whose hash is this staging directory's name.
  const handle = Object.values(context.options.handles).find((given) => sha256Hex(given) === key)
  const match =
    context.ledger.stagedIn(staged.dir) ??
    (handle === undefined ? undefined : { driver: driverDir, handle, from: '--handle' })
  if (match !== undefined) return { identity: { ...match, from: `${match.from}, confirmed by the directory's hash` } }
  return {
    unconfirmed: said('IdentityUnconfirmed.noHash', { dir: staged.dir }),
    hint: giveHandle('NAME', 'HANDLE'),
  }
}

/** Identity of a raw block volume: from its vol_data.json, or from --handle (O22). */
export function identifyBlock(context: PlanContext, block: BlockVolume): Identified {
  const identity = identityOnRecord(block.stateFile)
  if (identity !== undefined) return { identity }
  const why = "the volume's name alone does not prove its driver and volume handle"
  return givenForBlock(context, block.name) ?? unconfirmed(context, block, why)
}

/** @param why follows what became of its vol_data.json */
function unconfirmed(context: PlanContext, volume: PodVolume | BlockVolume, why: string): Identified {
  const { name, stateFile } = volume
  const plain = unescapeQualifiedName(name)
  const named = identityOfObject(context.objects.persistentVolume(plain))
  const hint = giveHandle(name, named?.handle ?? 'HANDLE')
  const isInline = 'podUid' in volume && named === undefined && inlineDrivers(context).length > 0
  const state = stateFile === undefined ? 'missing' : `unusable (${stateFile.corrupt})`
  return {
    unconfirmed: said('IdentityUnconfirmed.noRecord', { state, why }),
    // The handle of an inline volume follows from pod and name (C32), so that it can be given as it is.
    hint: isInline
      ? advice`${hint}; of an inline volume (csi: in the pod's spec) it is known: ${volctl('plan', '--handle', `${name}=${inlineCsiHandle(volume.podUid, plain)}`)}`
      : hint,
  }
}

// Driver and handle of a VolumeAttachment: its name is a hash of driver, handle and node, and so confirms other sources
// (R007).

/** From the PersistentVolume, an inline spec, a vol_data.json, or a name in the node's status, each only if the hash agrees. */
export function identifyAttachment(
  { inputs, objects, onDisk }: PlanContext,
  { metadata, spec: { attacher, source } }: VolumeAttachment,
): CsiIdentity | undefined {
  const { api, nodeName } = inputs.snapshot
  const fits = ({ driver, handle }: Handle): boolean =>
    driver === attacher && attachmentName(handle, driver, nodeName) === metadata.name
  const volume = objects.persistentVolume(source.persistentVolumeName)
  const csi = volume === undefined ? source.inlineVolumeSpec?.csi : csiSourceOf(volume)
  const from = `PersistentVolume ${source.persistentVolumeName ?? '(inline)'}`
  // Of the attacher, also where the PersistentVolume was made anew for a driver of another name: the hash proves it.
  const own = csi && { driver: attacher, handle: csi.volumeHandle, from }
  if (own !== undefined && fits(own)) return own
  return [...onDisk.all.map((each) => each.volume), ...identitiesInStatus(api?.node)].find(fits)
}

// --handle: a person names the volume of a directory whose vol_data.json is lost (S17).
//
// The flag replaces the proof by the directory's hash, never the comparison of devices: a mounted target must show the device
// that is staged under that handle, and no device that is staged under another handle.

/** @param shown a mount of the volume, if there is one */
function givenForFileSystem(
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
    if (contradicts !== undefined) return notTheSame(name, handle, shown, contradicts)
  }
  const staging = [...new Set(own.map(driverOf))].filter((driver) => named === undefined || driver === named)
  const [driver, ...others] = own.length === 0 ? [named] : staging
  return identityOf(name, handle, others.length === 0 ? driver : undefined)
}

/**
 * S17: why a state file is not believed although it can be read: what is mounted is not what is staged for the volume that it names
 * (S38). If one layer is the volume's, a layer above or below it is somebody else's mount (S18), and no doubt about the file.
 */
function contradicted(
  { inputs }: PlanContext,
  { driver, handle }: Handle,
  layers: readonly MountInfo[],
): Identified | undefined {
  const volume = { plugin: CSI_PLUGIN, specName: handle, driver, handle }
  const found = layers.map((shown) => otherThanOwnStaged(inputs, shown, volume))
  const [shown, other] = [layers.at(-1), found.at(-1)]
  if (shown === undefined || other === undefined || found.includes(undefined)) return undefined
  const { name, expected = `${driver}^${handle}` } = other
  return {
    unconfirmed: said('IdentityUnconfirmed.otherShown', { path: shown.mountPoint, name, expected }),
    hint: UNLIKE,
  }
}

/** Only an inline volume of this very pod has such a handle (C32), and it is never staged; its driver serves inline volumes here. */
function inlineIdentity(context: PlanContext, name: string, handle: string, shown: MountInfo | undefined): Identified {
  const [staged] = shown === undefined ? [] : stagedShownBy(context.staged, shown)
  if (shown !== undefined && staged !== undefined) return notTheSame(name, handle, shown, staged)
  const [driver, ...others] = inlineDrivers(context)
  if (driver !== undefined && others.length === 0) return { identity: { driver, handle, from: '--handle' } }
  const drivers = others.length === 0 ? 'no driver' : 'more than one driver'
  return {
    unconfirmed: said('IdentityUnconfirmed.inlineDriver', { name, handle, drivers }),
    hint: 'Start the driver that served the volume, and no other such driver; then plan again.',
  }
}

/** Drivers that are registered on this node, and serve inline volumes (C105). */
function inlineDrivers({ inputs }: PlanContext): readonly string[] {
  const drivers = inputs.snapshot.api?.csiDrivers ?? []
  const serving = drivers.filter(({ spec }) => spec.volumeLifecycleModes?.includes('Ephemeral'))
  return serving.map(({ metadata }) => metadata.name).filter((name) => inputs.driver(name) !== undefined)
}

function givenForBlock(context: PlanContext, name: string): Identified | undefined {
  const handle = handleGiven(context, name)
  if (handle === undefined) return undefined
  const fileSystem = stagedUnder(context.staged, handle).find(
    ({ layers, stateFile }) => layers.length > 0 || stateFile !== undefined,
  )
  if (fileSystem === undefined) return identityOf(name, handle, driverByName(context, name, handle))
  return {
    unconfirmed: said('IdentityUnconfirmed.noBlock', { name, handle, dir: fileSystem.dir }),
    hint: 'Look up the handle of this block volume in the storage system.',
  }
}

function handleGiven({ options: { handles } }: PlanContext, name: string): string | undefined {
  return ownValue(handles, name) ?? ownValue(handles, unescapeQualifiedName(name))
}

/** A handle does not say its driver: the PersistentVolume of that name does, or the handle's VolumeAttachment (R007). */
function driverByName({ objects, inputs }: PlanContext, name: string, handle: string): string | undefined {
  const named = identityOfObject(objects.persistentVolume(unescapeQualifiedName(name)))
  if (named !== undefined) return named.driver
  const attachers = new Set((inputs.snapshot.api?.volumeAttachments ?? []).map(({ spec }) => spec.attacher))
  const fitting = [...attachers].filter((driver) => objects.attachmentOf({ driver, handle }) !== undefined)
  return fitting.length === 1 ? fitting[0] : undefined
}

function identityOf(name: string, handle: string, driver: string | undefined): Identified {
  if (driver !== undefined) return { identity: { driver, handle, from: '--handle' } }
  return {
    unconfirmed: said('IdentityUnconfirmed.noDriver', { name, handle }),
    hint: 'Find out which driver serves this handle, and restore the PersistentVolume or the VolumeAttachment.',
  }
}

const UNLIKE =
  'Look up in the storage system which volume the device is; a handle that the device contradicts is never used.'

function notTheSame(name: string, handle: string, shown: MountInfo, { dir, layers }: StagedVolume): Identified {
  const { mountPoint: path, dev, root } = shown
  const { dev: stagedDev, root: stagedRoot } = { ...layers.at(-1) }
  const about = { name, handle, path, dev, root, dir, stagedDev, stagedRoot }
  return {
    unconfirmed: said('IdentityUnconfirmed.otherDevice', about),
    hint: UNLIKE,
  }
}

/**
 * Driver and handle of a CSI volume found on disk, and where they came from (S16, S17, C95, O5, O9, O22).
 *
 * vol_data.json names both. Without that file a name alone proves nothing: a PersistentVolume may have been deleted and created
 * again, and an inline volume may have a PersistentVolume's name. The staging directory's name, the hash of the handle, is proof.
 */

import { giveHandle, volctl } from '../../base/command.ts'
import type { BlockVolume } from '../../facts/actual/block-volume.ts'
import type { PodVolume } from '../../facts/actual/pod-volumes.ts'
import { type StagedVolume, stagedShownBy } from '../../facts/actual/staged-volumes.ts'
import { readStateFile } from '../../facts/actual/state-file.ts'
import {
  attachmentName,
  csiGlobalDir,
  csiUniqueName,
  inlineCsiHandle,
  unescapeQualifiedName,
} from '../../facts/actual/volume-names.ts'
import type { CsiIdentity, Identified } from '../../facts/sources.ts'
import type { VolumeAttachment } from '../../kube/api/objects.ts'
import type { MountInfo } from '../../linux/mount-table.ts'
import { isWithin } from '../../linux/paths.ts'
import { csiSourceOf } from '../../volumes/in-tree-volumes.ts'
import { volumesInStatus } from '../../volumes/node-affinity.ts'
import type { PlanContext } from '../context/context.ts'
import { contradicted, givenForBlock, givenForFileSystem, givenWithHash, inlineDrivers } from './given-handle.ts'

/** Identity of a pod's file system volume. */
export function identifyPodVolume(context: PlanContext, volume: PodVolume): Identified {
  const { stateFile } = volume
  const layers = layersOf(volume)
  const shown = layers.at(-1)
  if (stateFile?.data !== undefined) {
    const { driverName: driver, volumeHandle: handle } = stateFile.data
    const identity = { driver, handle, from: 'vol_data.json' }
    const doubt = contradicted(context, identity, layers)
    return doubt === undefined ? { identity } : (givenForFileSystem(context, volume, shown) ?? doubt)
  }
  const lost = stateFile === undefined ? 'vol_data.json is missing' : `vol_data.json is unusable (${stateFile.corrupt})`
  const given = givenForFileSystem(context, volume, shown)
  if (given !== undefined) return given
  return shown === undefined ? byConfirmedName(context, volume, lost) : byDevice(context, volume, shown, lost)
}

/** If the target is no longer mounted, a sub-path may still show the volume's device. */
function layersOf({ layers, subPaths }: PodVolume): readonly MountInfo[] {
  return layers.length > 0 ? layers : (subPaths?.leaves.find((leaf) => leaf.layers.length > 0)?.layers ?? [])
}

function byDevice(context: PlanContext, volume: PodVolume, shown: MountInfo, lost: string): Identified {
  const identities = stagedShownBy(context.staged, shown).map((staged) => identifyStaged(context, staged))
  const found = identities.flatMap((each) => ('identity' in each ? [each.identity] : []))
  const [first] = found
  if (first !== undefined && found.length === identities.length && found.every((each) => sameVolume(each, first))) {
    return { identity: { ...first, from: `the global mount on the same device (${first.from})` } }
  }
  return unconfirmedOfPod(
    context,
    volume,
    `${lost}, and no staged volume on device ${shown.dev} proves its driver and volume handle`,
  )
}

/**
 * Nothing is mounted, so there is no device to compare: the PersistentVolume of that name, confirmed by its staging directory
 * (O6). Not if another pod uses or used the staged volume: then the PersistentVolume may have been deleted and created again
 * after this directory was made (S17).
 */
function byConfirmedName(context: PlanContext, volume: PodVolume, lost: string): Identified {
  const named = identityOfPersistentVolume(context, unescapeQualifiedName(volume.name))
  if (named !== undefined) {
    const dir = csiGlobalDir(named.driver, named.handle)
    const data = readStateFile(context.inputs.tree.get(`${dir}/vol_data.json`))?.data
    if (data !== undefined && sameVolume(named, { driver: data.driverName, handle: data.volumeHandle })) {
      if (!isUsedByAnotherPod(context, named, dir)) {
        return { identity: { ...named, from: `PersistentVolume ${volume.name}, confirmed by the staging directory` } }
      }
      const message = `${lost}, and PersistentVolume ${volume.name}, which another pod uses, may not be the volume that this directory was created for`
      return unconfirmed(context, volume.name, message)
    }
  }
  return unconfirmedOfPod(context, volume, `${lost}, and nothing on disk proves its driver and volume handle`)
}

function isUsedByAnotherPod(context: PlanContext, { driver, handle }: CsiIdentity, stagingDir: string): boolean {
  const { inputs, onDisk, uses, staged } = context
  const uniqueName = csiUniqueName(driver, handle)
  if (uses.of(uniqueName).length > 0 || onDisk.of(uniqueName).some(({ path }) => path !== stagingDir)) return true
  const layers = staged.find(({ dir }) => dir === stagingDir)?.layers ?? []
  const shown = layers.flatMap(({ dev }) => inputs.mounts.ofDevice(dev))
  return shown.some((mount) => isWithin(mount.mountPoint, inputs.absolute('pods')))
}

/** Identity of a staged file system volume. */
export function identifyStaged(context: PlanContext, staged: StagedVolume): Identified {
  const { stateFile, driverDir, key } = staged
  if (stateFile?.data !== undefined) {
    const { driverName: driver, volumeHandle: handle } = stateFile.data
    if (driverDir === 'pv' || csiGlobalDir(driver, handle) === staged.dir) {
      return { identity: { driver, handle, from: 'vol_data.json' } }
    }
    return {
      unconfirmed: `vol_data.json in ${staged.dir} names ${driver}^${handle}, but the directory's name is not the hash of that handle`,
      hint: 'Find out which volume is staged there before you unmount anything.',
    }
  }
  const handle = givenWithHash(context, key)
  const match =
    context.ledger.stagedIn(staged.dir) ??
    (handle === undefined ? undefined : { driver: driverDir, handle, from: '--handle' })
  if (match !== undefined) return { identity: { ...match, from: `${match.from}, confirmed by the directory's hash` } }
  return {
    unconfirmed: `staging directory ${staged.dir} has no readable vol_data.json, and its name is not the hash of any known volume handle`,
    hint: giveHandle('NAME', 'HANDLE'),
  }
}

/** Identity of a raw block volume: from its vol_data.json, or from --handle (O22). */
export function identifyBlock(context: PlanContext, block: BlockVolume): Identified {
  const { stateFile } = block
  if (stateFile?.data !== undefined) {
    const { driverName: driver, volumeHandle: handle } = stateFile.data
    return { identity: { driver, handle, from: 'vol_data.json' } }
  }
  const given = givenForBlock(context, block.name)
  if (given !== undefined) return given
  const lost = stateFile === undefined ? 'vol_data.json is missing' : `vol_data.json is unusable (${stateFile.corrupt})`
  return unconfirmed(
    context,
    block.name,
    `${lost}, and the volume's name alone does not prove its driver and volume handle`,
  )
}

function identityOfPersistentVolume(context: PlanContext, name: string): CsiIdentity | undefined {
  const csi = context.objects.csiSourceOf(name)
  return csi === undefined
    ? undefined
    : { driver: csi.driver, handle: csi.volumeHandle, from: `PersistentVolume ${name}` }
}

function unconfirmed(context: PlanContext, name: string, message: string): Identified {
  const named = identityOfPersistentVolume(context, unescapeQualifiedName(name))
  const guess = named === undefined ? 'HANDLE' : named.handle
  return {
    unconfirmed: message,
    hint: giveHandle(name, guess),
  }
}

/** The handle of an inline volume follows from pod and name (C32), so that it can be given as it is. */
function unconfirmedOfPod(context: PlanContext, { podUid, name }: PodVolume, message: string): Identified {
  const volume = unescapeQualifiedName(name)
  if (identityOfPersistentVolume(context, volume) !== undefined || inlineDrivers(context).length === 0)
    return unconfirmed(context, name, message)
  const given = `${name}=${inlineCsiHandle(podUid, volume)}`
  return {
    unconfirmed: message,
    hint: `${giveHandle(name, 'HANDLE')}; of an inline volume (csi: in the pod's spec) it is known: ${volctl('plan', '--handle', given)}`,
  }
}

function sameVolume(a: Pick<CsiIdentity, 'driver' | 'handle'>, b: Pick<CsiIdentity, 'driver' | 'handle'>): boolean {
  return a.driver === b.driver && a.handle === b.handle
}

// Driver and handle of a VolumeAttachment: its name is a hash of driver, handle and node, and so confirms other sources
// (R007).

/** From the PersistentVolume, an inline spec, a vol_data.json, or a name in the node's status, each only if the hash agrees. */
export function identifyAttachment(context: PlanContext, attachment: VolumeAttachment): CsiIdentity | undefined {
  const { api, nodeName } = context.inputs.snapshot
  const { attacher: driver, source } = attachment.spec
  const fits = (handle: string): boolean => attachmentName(handle, driver, nodeName) === attachment.metadata.name
  const volume = context.objects.persistentVolume(source.persistentVolumeName ?? '')
  const handle = volume === undefined ? source.inlineVolumeSpec?.csi?.volumeHandle : csiSourceOf(volume)?.volumeHandle
  if (handle !== undefined && fits(handle)) {
    return { driver, handle, from: `PersistentVolume ${source.persistentVolumeName ?? '(inline)'}` }
  }
  for (const { volume: known } of context.onDisk.all) {
    if (known.driver === driver && fits(known.handle)) return { driver, handle: known.handle, from: known.from }
  }
  const prefix = csiUniqueName(driver, '')
  const name = volumesInStatus(api?.node).find((each) => each.startsWith(prefix) && fits(each.slice(prefix.length)))
  return name === undefined ? undefined : { driver, handle: name.slice(prefix.length), from: "the node's status" }
}

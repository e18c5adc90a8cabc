/**
 * Driver and handle of a CSI volume found on disk, and where they came from (S16, S17, C95, O5, O9, O22).
 *
 * A state file says it; without one, a name alone never does: a PersistentVolume may have been made anew, and an inline
 * volume may bear a PV's name. The staging directory's name is the hash of the handle: that confirms.
 */

import type { BlockVolume } from '../../actual/block-volume.ts'
import type { PodVolume } from '../../actual/pod-volume.ts'
import { stagedShownBy } from '../../actual/staged-on-device.ts'
import type { StagedVolume } from '../../actual/staged-volumes.ts'
import { readStateFile } from '../../actual/state-file.ts'
import { isWithin } from '../../files/path-within.ts'
import type { MountInfo } from '../../mountinfo/mount-table.ts'
import { csiGlobalDir, csiUniqueName, unescapeQualifiedName } from '../../names/volume-names.ts'
import type { Obstacle } from '../../plan/draft.ts'
import type { PlanContext } from '../context/context.ts'
import { givenForBlock, givenForFileSystem, givenWithHash } from './given-handle.ts'
import type { CsiIdentity, Identified } from './identified.ts'
import { knownHandleOf } from './known-handles.ts'

/** S17: nothing is undone under a name that may be another volume's. */
export function identityObstacle(identified: Identified | undefined): Obstacle | undefined {
  if (identified === undefined || 'identity' in identified) return undefined
  return { code: 'IdentityUnconfirmed', message: identified.unconfirmed, hint: identified.hint }
}

/** Identity of a pod's file system volume. */
export function identifyPodVolume(context: PlanContext, volume: PodVolume): Identified {
  const { stateFile } = volume
  if (stateFile?.data !== undefined) {
    const { driverName: driver, volumeHandle: handle } = stateFile.data
    return { identity: { driver, handle, from: 'vol_data.json' } }
  }
  const lost =
    stateFile === undefined ? 'its vol_data.json is lost' : `its vol_data.json tells nothing: ${stateFile.corrupt}`
  const shown = mountOf(volume)
  const given = givenForFileSystem(context, volume.name, shown)
  if (given !== undefined) return given
  return shown === undefined ? byConfirmedName(context, volume, lost) : byDevice(context, volume, shown, lost)
}

/** A sub-path shows the volume's device where the target does not any more. */
function mountOf({ layers, subPaths }: PodVolume): MountInfo | undefined {
  return layers.at(-1) ?? subPaths?.leaves.find((leaf) => leaf.layers.length > 0)?.layers.at(-1)
}

function byDevice(context: PlanContext, volume: PodVolume, shown: MountInfo, lost: string): Identified {
  const identities = stagedShownBy(context.staged, shown).map((staged) => identifyStaged(context, staged))
  const found = identities.flatMap((each) => ('identity' in each ? [each.identity] : []))
  const [first] = found
  if (first !== undefined && found.length === identities.length && found.every((each) => sameVolume(each, first))) {
    return { identity: { ...first, from: `the global mount on the same device (${first.from})` } }
  }
  return unconfirmed(
    context,
    volume.name,
    `${lost}, and no staged volume on device ${shown.dev} confirms driver and handle`,
  )
}

/**
 * Nothing is mounted, so there is no device to compare: the PV of that name, confirmed by its staging directory (O6).
 * Only where nobody else accounts for what is staged: a PV that another pod has, or had, may have been made anew since
 * this directory was (S17).
 */
function byConfirmedName(context: PlanContext, volume: PodVolume, lost: string): Identified {
  const named = identityOfPersistentVolume(context, unescapeQualifiedName(volume.name))
  if (named !== undefined) {
    const dir = csiGlobalDir(named.driver, named.handle)
    const data = readStateFile(context.inputs.tree.get(`${dir}/vol_data.json`))?.data
    if (data !== undefined && sameVolume(named, { driver: data.driverName, handle: data.volumeHandle })) {
      if (!isHadByAnotherPod(context, named, dir)) {
        return { identity: { ...named, from: `PersistentVolume ${volume.name}, confirmed by the staging directory` } }
      }
      const message = `${lost}, and PersistentVolume ${volume.name}, which another pod has, may not be the one that this directory was made for`
      return unconfirmed(context, volume.name, message)
    }
  }
  return unconfirmed(context, volume.name, `${lost}, and nothing on disk confirms driver and handle`)
}

function isHadByAnotherPod(context: PlanContext, { driver, handle }: CsiIdentity, stagingDir: string): boolean {
  const { inputs, onDisk, users, staged } = context
  const uniqueName = csiUniqueName(driver, handle)
  if (users.of(uniqueName).length > 0 || onDisk.of(uniqueName).some(({ path }) => path !== stagingDir)) return true
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
      unconfirmed: `vol_data.json in ${staged.dir} names ${driver}^${handle}, which is not what the directory's name is the hash of`,
      hint: 'Find out which volume is staged there before anything is undone.',
    }
  }
  const handle = givenWithHash(context, key)
  const match =
    knownHandleOf(context, staged.dir) ??
    (handle === undefined ? undefined : { driver: driverDir, handle, from: '--handle' })
  if (match !== undefined) return { identity: { ...match, from: `${match.from}, confirmed by the directory's hash` } }
  return {
    unconfirmed: `the staging directory ${staged.dir} has no readable vol_data.json, and no known handle has its hash`,
    hint: 'Give --handle NAME=HANDLE with the handle that the storage system shows for this volume.',
  }
}

/** Identity of a raw block volume: its state file, or a handle that a person gave (O22). */
export function identifyBlock(context: PlanContext, block: BlockVolume): Identified {
  const { stateFile } = block
  if (stateFile?.data !== undefined) {
    const { driverName: driver, volumeHandle: handle } = stateFile.data
    return { identity: { driver, handle, from: 'vol_data.json' } }
  }
  const given = givenForBlock(context, block.name)
  if (given !== undefined) return given
  const lost =
    stateFile === undefined ? 'its vol_data.json is lost' : `its vol_data.json tells nothing: ${stateFile.corrupt}`
  return unconfirmed(context, block.name, `${lost}, and a name alone does not confirm driver and handle`)
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
    hint: `Check the handle with the storage system, then give --handle ${name}=${guess}.`,
  }
}

function sameVolume(a: Pick<CsiIdentity, 'driver' | 'handle'>, b: Pick<CsiIdentity, 'driver' | 'handle'>): boolean {
  return a.driver === b.driver && a.handle === b.handle
}

/**
 * What a driver keeps below the staging path, which belongs to the driver (C20): ceph-csi mounts RBD images at STAGING/HANDLE
 * and writes a file beside the mount with what it needs to unmap the image. Such a driver is called to unstage like any other
 * (R442, R452). Anything that the driver is not known to have made is foreign, and blocks (S18, O12).
 */

import type { TreeEntry } from '../../facts/actual/snapshot.ts'
import { registeredDriver, stages } from '../../facts/actual/staged-volumes.ts'
import type { StateFile } from '../../facts/actual/state-file.ts'
import { baseName, parentOf } from '../../facts/actual/tree.ts'
import type { CsiIdentity } from '../../facts/sources.ts'
import type { MountInfo } from '../../linux/mount-table.ts'
import type { Draft } from '../../plan/draft.ts'
import type { PlanContext } from '../context/context.ts'
import type { Stack } from '../context/layers.ts'
import { type DriverCall, driverCall, isWithoutDriver } from '../drivers/driver-call.ts'
import { type Kept, type References, referencesTo } from './mount-references.ts'

interface DriverStaging {
  readonly mounts: readonly MountInfo[]
  /** The same mounts, by path. */
  readonly stacks: readonly Stack[]
  readonly foreign: readonly MountInfo[]
  /** Files that the driver did not make. */
  readonly strangers: readonly TreeEntry[]
}

/** What is staged for a volume, and what a driver can still do about it. */
export interface StagedParts extends References {
  readonly call: DriverCall | undefined
  readonly own: DriverStaging
}

interface StagingFacts {
  /** Relative: the staging path of the driver's calls. */
  readonly path: string
  readonly identity: CsiIdentity | undefined
  readonly stateFile: StateFile | undefined
  /** The volume's, where the kubelet has it staged. */
  readonly layers: readonly MountInfo[]
  /** Below the staging path. */
  readonly mounts: readonly MountInfo[]
  readonly files: readonly TreeEntry[]
  /** Operations on this volume that come first. */
  readonly predecessors: readonly Draft[]
}

/** File in which ceph-csi keeps what it needs to unmap an RBD image. */
const STASHED = new Set(['image-meta.json'])

/** With other mounts that show the same, and the operations that come first. */
export function stagedParts(context: PlanContext, found: StagingFacts): StagedParts | Kept {
  const { path, identity, stateFile, layers, mounts, predecessors } = found
  const call = identity && driverCall(context, identity, stateFile, layers.length + mounts.length > 0)
  const own = driverStaging(context, found, call)
  const shown = referencesTo(context, [...layers, ...own.mounts], context.inputs.absolute(path))
  return 'why' in shown ? shown : { call, own, ...shown, after: [...new Set([...predecessors, ...shown.after])] }
}

function driverStaging(context: PlanContext, found: StagingFacts, call: DriverCall | undefined): DriverStaging {
  const { inputs } = context
  const { path, files, predecessors } = found
  const handle = handleToUnstage(context, found, call)
  const pathOf = (mount: MountInfo): string => inputs.relative(inputs.plain(mount.mountPoint))
  const isOwn = (mount: MountInfo): boolean =>
    handle !== undefined &&
    parentOf(pathOf(mount)) === path &&
    (baseName(pathOf(mount)) === handle || showsWhatGoes(context, mount, predecessors))
  const paths = new Set(found.mounts.filter(isOwn).map(pathOf))
  const mounts = found.mounts.filter((mount) => paths.has(pathOf(mount)))
  // A driver that mounts below the staging path keeps its notes there, too; without a mount only known names are its own.
  const isNote = (entry: TreeEntry): boolean =>
    handle !== undefined &&
    parentOf(entry.path) === path &&
    entry.type === 'file' &&
    (paths.size > 0 || STASHED.has(baseName(entry.path)) || (baseName(entry.path) === handle && entry.size === 0))
  const stacks = Map.groupBy(mounts, pathOf)
  return {
    mounts,
    stacks: [...stacks].map(([at, layers]) => ({ path: inputs.absolute(at), layers })),
    foreign: found.mounts.filter((mount) => !paths.has(pathOf(mount))),
    strangers: files.filter((entry) => entry.type !== 'dir' && !isNote(entry)),
  }
}

/** Undefined if the driver will not be called to unstage: then nothing counts as made by the driver. */
function handleToUnstage(
  context: PlanContext,
  { identity }: StagingFacts,
  call: DriverCall | undefined,
): string | undefined {
  if (identity === undefined || isWithoutDriver(call)) return undefined
  return stages(registeredDriver(context.inputs, identity.driver)) ? identity.handle : undefined
}

/** True if the mount shows the device and root of a pod's mount that this plan removes. */
function showsWhatGoes({ inputs }: PlanContext, mount: MountInfo, predecessors: readonly Draft[]): boolean {
  return inputs.devices
    .showing(mount)
    .some((each) => each.root === mount.root && predecessors.some((draft) => draft.removes.has(each.id)))
}

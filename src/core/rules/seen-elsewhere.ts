/**
 * Whether the volume is set up under another root directory (S8, S21, S24): by a mount in any namespace whose path has the
 * form of this volume's path. The volume's device need not be known for this.
 */

import { memoize } from '../base/collections.ts'
import { present } from '../base/text.ts'
import type { HiddenFileSystem } from '../linux/block/sysfs-block-tree.ts'
import { EVERYTHING, wholeDisk, withWhatItIsMadeOf } from '../linux/block/whole-disk.ts'
import { pause } from '../linux/deadline.ts'
import { isSameMount, type MountInfo, whoMounted } from '../linux/mount-table.ts'
import { isWithin, undeletedPath } from '../linux/paths.ts'
import { leadersOf } from '../linux/propagation.ts'
import { advice, said } from '../messages/findings.ts'
import type { Obstacle } from '../volumes/finding.ts'
import type { ActualInputs } from '../volumes/on-disk/actual-inputs.ts'
import { CSI_PLUGIN, parseCsiUniqueName, unescapeQualifiedName } from '../volumes/volume-names.ts'
import { type SoughtVolume, shapedMounts, shapeMatcher } from '../volumes/volume-shapes.ts'
import { deviceBehind } from './disk-users.ts'
import { firstMount, layersOf, tablesAround } from './expected-mounts.ts'
import { deviceAt, NO_DEVICE, nameTheDevice } from './find-volume-device.ts'
import type { Host } from './host.ts'
import type { MachineFacts, Verdict } from './machine-facts.ts'
import { fstabOf, isSame, ownOf } from './node-stack.ts'
import type { Judge, MachineJudge } from './rule.ts'

/** Names the path and, in another namespace, one of its processes. */
export const setUpElsewhere: MachineJudge = (facts) => {
  const { attachment, operation } = facts
  const { volume } = operation
  if (volume === undefined || volume.plugin !== CSI_PLUGIN) return undefined
  const { name, handle, persistentVolume } = volume
  // If only the path was known to the plan, its name is the escaped one.
  const own = name === handle ? undefined : unescapeQualifiedName(name)
  const names = present(own, persistentVolume, attachment?.spec.source.persistentVolumeName)
  const matches = shapeMatcher({ ...parseCsiUniqueName(volume.uniqueName ?? ''), names })
  const there = firstMount(facts, (table, other) =>
    shapedMounts(other?.anybodys === undefined ? table.all : []).flatMap((shaped) => {
      const { mount } = shaped
      const by = matches(shaped)
      const counts = by === 'handle' || (by === 'name' && !isJudged(mount, facts))
      return counts && !isOfAnother(mount, facts) ? mount : []
    }),
  )
  return (
    there && {
      ...said('HeldBy.elsewhere', { name, who: there.who }),
      users: there.users,
    }
  )
}

/** True if it is in our own table, below the root directory: another volume of a running pod may have this name (S17). */
function isJudged(shown: MountInfo, { around, plan }: MachineFacts): boolean {
  if (!isWithin(undeletedPath(shown.mountPoint), plan.rootDir)) return false
  return around.table.at(shown.mountPoint).some((mount) => isSameMount(mount, shown))
}

/**
 * True for another kubelet's volume of the same name, or of the same handle in another cluster's storage: both devices are
 * known and have no disk in common. Anonymous numbers (0:N) prove nothing, since each mount of a network file system has its
 * own; nor does the number of a disk that is gone.
 */
function isOfAnother(mount: MountInfo, facts: MachineFacts): boolean {
  const { host } = facts
  const device = deviceBehind(mount, host)
  const own = ownDevices(facts)
  if (device === undefined || own === undefined) return false
  const theirs = disksOf(device, host)
  return theirs !== undefined && own.every((each) => disksOf(each, host)?.isDisjointFrom(theirs) ?? false)
}

/** The volume's own devices; undefined: not all are known, or a number may belong to another disk by now. */
function ownDevices({ record, operation, host }: MachineFacts): readonly string[] | undefined {
  const devices = [...record.devices.keys(), ...layersOf(operation).map((layer) => deviceBehind(layer, host))]
  const isKnown = (dev: string | undefined): dev is string =>
    dev !== undefined && isSame(dev, record.devices.get(dev)?.sequence, host)
  return devices.length > 0 && devices.every(isKnown) ? devices : undefined
}

/** Names of a device and of every device that it is built on; undefined: the kernel has no such block device. */
function disksOf(dev: string, { blockTree }: Host): Set<string> | undefined {
  const name = blockTree.nameOf(dev)
  const node = name === undefined ? undefined : blockTree.node(name)
  if (node === undefined) return undefined
  return new Set(withWhatItIsMadeOf(node, blockTree, EVERYTHING).map((each) => each.name))
}

// The same by the look: volumes that are staged or published below the root directory's former path, by a second kubelet, or below a
// link. No phase decides on them, so they count as in use.

/** Anything that is mounted outside the root directory under a path of this volume. */
export const mountedOutside: Judge = ({ device: { names } = {}, identified, context: { inputs } }) =>
  names && mountOutside(inputs, { ...identified?.identity, names })

function mountOutside(inputs: ActualInputs, sought: SoughtVolume): Obstacle | undefined {
  const matches = shapeMatcher(sought)
  const all = outside(inputs).filter((each) => matches(each) && !goesWithRoot(inputs, each.mount))
  const found = all.find((each) => matches(each) === 'handle') ?? all[0]
  return (
    found && {
      ...said('HeldBy.outsideMount', { path: found.path, rootDir: inputs.rootDir }),
      hint: advice`Maybe a kubelet with another root directory mounted it. ${whoMounted(found.path)}`,
    }
  )
}

/**
 * Before a volume is set up a second time: volumes of the pod are mounted below another root directory, in which then all of it
 * lies, or this one is staged there for another pod.
 */
export const setUpOutside: Judge = ({ wanted, context: { inputs } }) => {
  if (wanted === undefined) return undefined
  const { podUid, driver, handle, specName, deviceMountable } = wanted
  const found = outside(inputs).find((each) => each.podUid === podUid && !goesWithRoot(inputs, each.mount))
  if (found === undefined)
    return deviceMountable ? mountOutside(inputs, { driver, handle, names: [specName] }) : undefined
  return {
    ...said('HeldBy.outsideVolumes', { rootDir: inputs.rootDir, path: found.path }),
    hint: `If ${driver === undefined ? 'what mounts them' : `CSI driver ${driver}`} is configured with ${found.path.replace(/\/pods\/.*/, '')} as the kubelet's directory, configure it with ${inputs.rootDir}. If the root directory was moved while the pod runs, start the kubelet with the one that the pod's volumes are in, or delete the pod; then plan again.`,
  }
}

/** A copy by mount propagation, such as one in a container that shares the root directory, is judged with its original (R032). */
function goesWithRoot(inputs: ActualInputs, mount: MountInfo): boolean {
  return leadersOf(inputs.mounts, mount).some(({ mountPoint }) => isWithin(inputs.plain(mountPoint), inputs.rootDir))
}

/** Nearly all of a hundred thousand mounts are below the root directory, and few of the others have such a path. */
const outside = memoize((inputs: ActualInputs) => shapedMounts(inputs.mounts.notBelow(inputs.rootDir)))

// Hidden file systems: alive, but in no mount table that can be read. Somebody has one mounted in a container that does not
// show here, or unmounted it lazily while a file was open (S20, S21); which, the kernel does not say. Nor does it say which
// volume one belongs to, so each may be any volume whose device is unknown.

/** A file system that is being unmounted leaves the table first, and looks hidden for a moment. */
const TRIES = 10
const PAUSE_MS = 100

/**
 * A volume with an unknown device is not touched while a hidden file system may be that volume's. If the device was found
 * by name, or --device names it, only hidden file systems on that disk count.
 */
export const hiddenFileSystem: MachineJudge = async (facts) => {
  const { operation, record } = facts
  // What is left of a device that is unstaged already takes nothing away.
  if (operation.kind !== 'DetachVolume' && operation.steps.every(({ op }) => op !== 'NodeUnstageVolume'))
    return undefined
  if (record.devices.size > record.found.size || operation.volume?.givenDevice === NO_DEVICE) return undefined
  const isOfOthers = knownAsOthers(facts)
  const disks = record.found.size === 0 ? undefined : onTheSameDisks(record.found, facts)
  for (let tries = 1; ; tries++) {
    const hidden = facts.host
      .hiddenFileSystems([...tablesAround(facts.around)].map(({ table }) => table))
      .find((each) => disks?.has(each.dev) !== false && !isOfOthers(each))
    if (hidden === undefined) return undefined
    if (tries === TRIES || facts.signal?.aborted) return mayBeIts(facts, hidden)
    await facts.waiting.spend(() => pause(PAUSE_MS, facts.signal))
    facts.around.changed()
  }
}

/**
 * Those on devices that are known to be another's: of the plan's other operations, which may still be unmounting, those that
 * --device names for other volumes, and, unless this volume's names lead there, those that fstab names.
 */
function knownAsOthers(facts: MachineFacts): (hidden: HiddenFileSystem) => boolean {
  const { plan, operation, record, host } = facts
  const layers = plan.operations.flatMap(layersOf)
  const ofOthers = plan.operations.filter(
    ({ volume }) => volume?.uniqueName !== undefined && volume.uniqueName !== operation.volume?.uniqueName,
  )
  const given = ofOthers.flatMap(({ volume }) => deviceAt(volume?.givenDevice ?? NO_DEVICE, host) ?? [])
  const devs = new Set([...layers.map(({ dev }) => dev), ...onTheSameDisks(given, facts)])
  const machines = new Set(record.found.size === 0 ? fstabOf(host).devices : [])
  return ({ dev, device }) => devs.has(dev) || machines.has(device)
}

/** "major:minor" of the devices' disks, and of everything on these. */
function onTheSameDisks(devs: Iterable<string>, facts: MachineFacts): ReadonlySet<string> {
  const own = ownOf(facts).devices
  return new Set(wholeDisk(devs, facts.host.blockTree, { own, throughLvm: false }).map(({ dev }) => dev))
}

function mayBeIts({ operation }: MachineFacts, { device, fsType }: HiddenFileSystem): Verdict {
  const volume = operation.volume?.name ?? 'the volume'
  return {
    ...said('HeldBy.unseen', { fsType, device, volume }),
    hint: advice`If it is not, say which device the volume has (lsblk -f): ${nameTheDevice(operation)}. If it is, first end its use: by a process that has a file of it open, or by a container that volctl does not see.`,
  }
}

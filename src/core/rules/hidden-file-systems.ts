/**
 * Hidden file systems: alive, but in no mount table that can be read. Somebody has one mounted in a container that does not
 * show here, or unmounted it lazily while a file was open (S20, S21); which, the kernel does not say. Nor does it say which
 * volume one belongs to, so each may be any volume whose device is unknown.
 */

import type { HiddenFileSystem } from '../linux/block/sysfs-block-tree.ts'
import { wholeDisk } from '../linux/block/whole-disk.ts'
import { pause } from '../linux/deadline.ts'
import { tablesAround } from './expected-mounts.ts'
import { deviceAt, NO_DEVICE, nameTheDevice } from './find-volume-device.ts'
import type { MachineFacts, Verdict } from './machine-facts.ts'
import { fstabOf, ownOf } from './node-stack.ts'

/** A file system that is being unmounted leaves the table first, and looks hidden for a moment. */
const TRIES = 10
const PAUSE_MS = 100

/**
 * A volume with an unknown device is not touched while a hidden file system may be that volume's. If the device was found
 * by name, or --device names it, only hidden file systems on that disk count.
 */
export async function hiddenFileSystem(facts: MachineFacts): Promise<Verdict | undefined> {
  const { operation, record } = facts
  // What is left of a device that is unstaged already takes nothing away.
  if (operation.kind !== 'DetachVolume' && operation.steps.every(({ op }) => op !== 'NodeUnstageVolume'))
    return undefined
  if (record.devices.size > record.found.size || operation.volume?.givenDevice === NO_DEVICE) return undefined
  const isOfOthers = knownAsOthers(facts)
  const mayBe = mayBeOn(facts)
  for (let tries = 1; ; tries++) {
    const hidden = facts.host
      .hiddenFileSystems([...tablesAround(facts.around)].map(({ table }) => table))
      .find((each) => mayBe(each.dev) && !isOfOthers(each))
    if (hidden === undefined) return undefined
    if (tries === TRIES || facts.signal?.aborted) return mayBeIts(facts, hidden)
    await facts.waiting.spend(() => pause(PAUSE_MS, facts.signal))
    facts.around.changed()
  }
}

function mayBeOn(facts: MachineFacts): (dev: string) => boolean {
  const { found } = facts.record
  if (found.size === 0) return () => true
  const devices = onTheSameDisks(found, facts)
  return (dev) => devices.has(dev)
}

/**
 * Those on devices that are known to be another's: of the plan's other operations, which may still be unmounting, those that
 * --device names for other volumes, and, unless this volume's names lead there, those that fstab names.
 */
function knownAsOthers(facts: MachineFacts): (hidden: HiddenFileSystem) => boolean {
  const { plan, operation, record, host } = facts
  const layers = plan.operations.flatMap(({ expects = [] }) => expects.flatMap((each) => each.layers))
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
    code: 'HeldBy',
    message: `the ${fsType} file system on /dev/${device} is in use, and in no mount table that volctl sees; it may be that of ${volume}`,
    hint: `If it is not, say which device the volume has (lsblk -f): ${nameTheDevice(operation)}. If it is, first end its use: by a process that has a file of it open, or by a container that volctl does not see.`,
  }
}

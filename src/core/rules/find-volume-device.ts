/** Finds the device of a volume that is no longer mounted or mapped here: by --device, or by its names (S21). */

import { uniqueNameOf } from '../facts/row.ts'
import type { VolumeAttachment } from '../kube/api/objects.ts'
import { EVERYTHING, withWhatItIsMadeOf } from '../linux/block/whole-disk.ts'
import { type MountInfo, placeOf } from '../linux/mount-table.ts'
import { undeletedPath } from '../linux/paths.ts'
import { type Advice, advice, volctl } from '../messages/command.ts'
import { said } from '../messages/findings.ts'
import type { Operation } from '../plan/plan.ts'
import { areOfOneRow } from '../volumes/finding.ts'
import { attachmentName, CSI_PLUGIN, readStateFile } from '../volumes/volume-names.ts'
import { takesDevice } from './device-in-use.ts'
import { type DiskUser, lookAtDisks, namesBehind } from './disk-users.ts'
import { noteOverlays } from './file-system-users.ts'
import type { Host } from './host.ts'
import { askCluster, type MachineFacts, unlessForbidden } from './machine-facts.ts'
import { allBefore, fstabOf, ownOf } from './node-stack.ts'
import type { MachineJudge } from './rule.ts'

/** The value of --device for a volume that has no device on this node. */
export const NO_DEVICE = 'none'

/** Neither --device nor anything on this node shows the device. */
function isDeviceUnknown({ record, operation }: MachineFacts): boolean {
  return record.devices.size === 0 && operation.volume?.givenDevice !== NO_DEVICE
}

/**
 * What the device is, and what is made of it, before anybody is asked who has it: noted in the record. What --device names counts,
 * regardless of other evidence; one that is none of this node refuses. Without it, and if none is known, the devices whose names match
 * the attachment's metadata or the volume handle.
 */
export const findDevice: MachineJudge = async (facts) => {
  const { operation, record, host } = facts
  const isDetach = operation.kind === 'DetachVolume'
  if (!isDetach) noteOverlays(facts)
  if (!isDetach && !(takesDevice(operation) && isDeviceUnknown(facts))) return undefined
  const given = operation.volume?.givenDevice
  const dev = given === undefined ? undefined : deviceAt(given, host)
  if (given !== undefined && given !== NO_DEVICE && dev === undefined)
    return {
      ...said('DeviceUnknown.flag', { given }),
      hint: advice`Name a device that lsblk shows. If the volume has none on this node: ${applyWith(operation, NO_DEVICE)}`,
    }
  if (isDetach && given !== undefined) record.forgetFound()
  if (dev !== undefined && isDetach) record.note(dev)
  else if (dev !== undefined) record.noteFound(dev)
  else if (isDeviceUnknown(facts)) for (const each of await devicesByName(facts)) record.noteFound(each)
  return undefined
}

/** Before a driver unstages a volume, the attachment is asked for, and the node's own devices are never a volume's (O36). */
async function devicesByName(facts: MachineFacts): Promise<readonly string[]> {
  const { operation, attachment, plan, host } = facts
  if (operation.kind === 'DetachVolume') return devicesNamed(clues(operation, attachment), facts)
  const { driver, handle, plugin } = operation.volume ?? {}
  if (plugin !== CSI_PLUGIN || driver === undefined || handle === undefined) return []
  const detach = plan.operations.find(
    ({ kind, subject }) => kind === 'DetachVolume' && areOfOneRow(subject, operation.subject),
  )
  const name = detach?.attachment?.name ?? attachmentName(handle, driver, plan.node)
  // A credential that may not read attachments cannot detach, either, and the driver may not use attachments at all.
  const asked = await askCluster(facts, (cluster) => cluster.getVolumeAttachment(name)).catch(unlessForbidden)
  const own = ownOf(facts).devices
  return devicesNamed(clues(operation, asked), facts).filter((dev) => !own.has(host.blockTree.nameOf(dev) ?? ''))
}

/** "major:minor" of a device file, as of a value of --device; undefined: no device of this node. */
export function deviceAt(file: string, { blockTree }: Host): string | undefined {
  const name = blockTree.nameOfFile(file)
  return name === undefined ? undefined : blockTree.node(name)?.dev
}

/** What to type where neither is known: the volume's device, or that it has none on this node. */
export function nameTheDevice(operation: Operation, device = '/dev/NAME'): Advice {
  return advice`${applyWith(operation, device)}; if the volume has none on this node: ${applyWith(operation, NO_DEVICE)}`
}

/** The command with which a person says which device the volume is. */
function applyWith(operation: Operation, device: string): Advice {
  return volctl('apply', '--device', `${nameOf(operation)}=${device}`)
}

/** What the other attachments of this node tell of their devices; nothing where the credential may not list them. */
async function namedByOthers(facts: MachineFacts): Promise<string[]> {
  const { operation, plan } = facts
  const all = await askCluster(facts, (cluster) => cluster.listVolumeAttachments().catch(() => []))
  const others = all.filter(
    ({ metadata, spec }) => spec.nodeName === plan.node && metadata.name !== operation.attachment?.name,
  )
  return others.flatMap(({ status }) => Object.values(status?.attachmentMetadata ?? {}))
}

function clues({ volume }: Operation, attachment: VolumeAttachment | undefined): string[] {
  const { handle = '' } = volume ?? {}
  const metadata = Object.values(attachment?.status?.attachmentMetadata ?? {})
  // Handles are often paths of the storage system, whose last part is the disk.
  return [...metadata, handle, handle.split(/[/#:]/).at(-1) ?? ''].filter((each) => each !== '')
}

/** Names with fewer letters and digits than this match too many others. */
const LEAST = 8
/** A virtio disk shows only this much of its serial number. */
const SERIAL = 20

/** "major:minor" of the devices that have one of these names: their path, or in udev's links by-id and by-path. */
function devicesNamed(names: readonly string[], { host: { blockTree } }: MachineFacts): string[] {
  const links = (['by-id', 'by-path'] as const).flatMap((directory) => blockTree.links(directory))
  const found = names.flatMap((name) => {
    const own = blockTree.nameOfFile(name) ?? []
    const [text, serial] = [plain(name), plain(name.slice(0, SERIAL))]
    const isNamed = (link: string): boolean =>
      (text.length >= LEAST && link.includes(text)) || (serial.length >= 2 * LEAST && link.endsWith(serial))
    return [...[own].flat(), ...links.filter(({ link }) => isNamed(plain(link))).map((each) => each.name)]
  })
  return [...new Set(found)].flatMap((name) => blockTree.node(name)?.dev ?? [])
}

/** Storage systems and udev differ in dashes and capitals (vol-0a1b, vol0a1b). */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/** If the device stays unknown, no block device that belongs to nothing known may be in use on this node. */
export const unexplainedDevice: MachineJudge = async (facts) => {
  const { operation, plan } = facts
  if (!isDeviceUnknown(facts)) return undefined
  const volume = nameOf(operation)
  const before = [...allBefore(operation, plan)].filter(
    (each) => each.volume?.uniqueName === operation.volume?.uniqueName,
  )
  if (before.length > 0 && before.every(({ steps }) => steps.every(({ op }) => op !== 'NodeUnstageVolume'))) {
    return {
      ...said('DeviceUnknown.notFound', { volume }),
      hint: advice`Find out which device it was (lsblk): ${nameTheDevice(operation)}`,
    }
  }
  const found = await firstUnexplained(facts, devicesNamed(await namedByOthers(facts), facts))
  return (
    found && {
      ...said('DeviceUnknown.diskInUse', { volume, ...found }),
      hint: advice`If that is the volume's device: ${nameTheDevice(operation, `/dev/${found.disk}`)}`,
    }
  )
}

const nameOf = ({ volume }: Operation): string => volume?.name ?? 'the volume'

// Block devices in use here that belong to nothing known: each may be that of a volume whose device is unknown (S21). Known are the devices
// of the system directories, those that fstab names, image files, and the volumes of this node.

/** In memory, on a file, or on a device that is checked itself: no attached disk has such a name. */
const NO_DISKS = /^(?:zram|ram|loop)\d+$/

/**
 * The first one found.
 *
 * @param attached "major:minor" of devices that other attachments of this node name
 * @throws StepFailed UsersUnknown if the openers cannot be seen
 */
async function firstUnexplained(facts: MachineFacts, attached: readonly string[]): Promise<DiskUser | undefined> {
  const tree = facts.host.blockTree
  const explained = explainedDevices(facts, attached)
  const isExplained = (name: string): boolean => explained.has(name) || NO_DISKS.test(name)
  const nodes = tree
    .names()
    // Before anything is read of it: a node may have hundreds of loop devices.
    .filter((name) => !isExplained(name))
    .flatMap((name) => tree.node(name) ?? [])
    .filter((node) => !withWhatItIsMadeOf(node, tree, EVERYTHING).some(({ name }) => isExplained(name)))
  const isNamed = (device: string): boolean => {
    const name = tree.nameOfFile(undeletedPath(facts.host.loopBackingFile(device) ?? ''))
    return nodes.some((node) => node.name === name)
  }
  const { user } = await lookAtDisks(
    {
      nodes: nodes.map((node) => ({ ...node, on: node.name, isBelow: false })),
      // The holders are checked themselves, and the existence of an unused map is no use.
      isNoUse: () => true,
      isOwnLoop: (device) => !isNamed(device),
      isOwnOpener: ({ pid }, node) => node?.servedBy === pid,
    },
    facts,
  )
  return user
}

function explainedDevices(facts: MachineFacts, attached: readonly string[]): ReadonlySet<string> {
  const { around, host, plan } = facts
  const own = ownOf(facts)
  const fstab = fstabOf(host)
  const kept = fstab.places.flatMap((place) => around.table.at(place))
  const volumes = around.table.under(plan.rootDir).filter(({ mountPoint }) => isOfAnother(mountPoint, facts))
  const mounted = [...kept, ...volumes].flatMap((mount) => namesOf(mount, facts))
  const named = attached.flatMap((dev) => host.blockTree.nameOf(dev) ?? [])
  return new Set([...own.devices, ...mounted, ...fstab.devices, ...named])
}

/** Where the kubelet mounts or maps a CSI volume. */
const OF_CSI =
  /^(?:(plugins\/kubernetes\.io\/csi\/[^/]+\/[^/]+)\/globalmount|(pods\/[^/]+\/volumes\/kubernetes\.io~csi\/[^/]+)\/mount|(plugins\/kubernetes\.io\/csi\/volumeDevices\/)(?:(?:staging|publish)\/)?([^/]+)(?:\/.+)?)$/

/** The state file beside a mount says whose it is. A path below `plugins` or `pods` alone may be that of any volume, this one too. */
export function isOfAnother(mountPoint: string, { host, operation, plan, around }: MachineFacts): boolean {
  const [, staged, published, devices, name] = OF_CSI.exec(mountPoint.slice(plan.rootDir.length + 1)) ?? []
  const directory = staged ?? published ?? (devices && `${devices}${name}/data`)
  const path = `${plan.rootDir}/${directory}/vol_data.json`
  const content = directory === undefined ? undefined : host.readSmallFile(placeOf(around.table, path))
  const data = content === undefined ? undefined : readStateFile({ path, type: 'file', content }).data
  return data !== undefined && uniqueNameOf(data) !== operation.volume?.uniqueName
}

function namesOf(mount: MountInfo, { host: { blockTree } }: MachineFacts): string[] {
  const name = blockTree.nameOf(mount.dev)
  return name === undefined ? namesBehind(mount, blockTree) : [name]
}

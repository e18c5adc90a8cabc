/** The device of a volume of which nothing is mounted or mapped here any more: named by a person, or looked for (S21). */

import { OperationRefused } from '../../errors/operation-error.ts'
import type { VolumeAttachment } from '../../model/objects.ts'
import { attachmentName, CSI_PLUGIN } from '../../names/volume-names.ts'
import type { Operation } from '../../plan/plan.ts'
import { withDeadline } from '../../processes/deadline.ts'
import type { StepContext } from '../operation/step-context.ts'
import { nodesOwn } from './node-stack.ts'
import { unexplainedDevice } from './unexplained-devices.ts'

/** What --device says of a volume that has none on this node. */
export const NO_DEVICE = 'none'

/** No person says so, and nothing here tells it. */
export function isDeviceUnknown({ record, operation }: StepContext): boolean {
  return record.devices.size === 0 && operation.volume?.givenDevice !== NO_DEVICE
}

/**
 * Notes the device that --device names, whatever else is known; where none is, those that bear a name which the attachment
 * or the handle gives.
 *
 * @throws OperationRefused DeviceUnknown
 */
export async function findDevice(run: StepContext, bound: { readonly name: string }): Promise<void> {
  const { operation, record } = run
  const given = operation.volume?.givenDevice
  if (given !== undefined) record.forgetFound()
  if (given !== undefined && given !== NO_DEVICE) record.note(deviceGiven(given, run))
  if (!isDeviceUnknown(run)) return
  const attachment = await attachmentOf(bound.name, run)
  for (const dev of devicesNamed(clues(operation, attachment), run)) record.noteFound(dev)
}

/**
 * The same before a driver unstages a volume of which nothing is mounted or mapped here any more. What --device says of
 * the detach in the same plan holds here too; what is the node's own is nobody's volume (O36).
 *
 * @throws OperationRefused DeviceUnknown
 */
export async function findStagedDevice(run: StepContext): Promise<void> {
  const { operation, record, plan, around, host } = run
  const { driver, handle, uniqueName, plugin } = operation.volume ?? {}
  if (record.devices.size > 0 || plugin !== CSI_PLUGIN || driver === undefined || handle === undefined) return
  const detach = plan.operations.find(
    (each) => each.kind === 'DetachVolume' && uniqueName !== undefined && each.volume?.uniqueName === uniqueName,
  )
  const given = detach?.volume?.givenDevice
  if (given === NO_DEVICE) return
  if (given !== undefined) return record.noteFound(deviceGiven(given, run))
  const name = detach?.attachment?.name ?? attachmentName(handle, driver, plan.node)
  const attachment = await attachmentOf(name, run).catch(unlessForbidden)
  const own = nodesOwn(around, plan.rootDir, host).devices
  for (const dev of devicesNamed(clues(operation, attachment), run))
    if (!own.has(host.blockTree.nameOf(dev) ?? '')) record.noteFound(dev)
}

/** Whoever may not read attachments detaches nothing either, and his driver may have none. */
function unlessForbidden(error: unknown): undefined {
  const { status, code } = error as { status?: unknown; code?: unknown }
  if (status !== 403 && code !== 'Forbidden') throw error
}

function attachmentOf(name: string, { waiting, context }: StepContext): Promise<VolumeAttachment | undefined> {
  return waiting.spend((ms) => withDeadline(context.cluster.getVolumeAttachment(name), ms, 'the API server'))
}

/** "major:minor" */
function deviceGiven(given: string, { host: { blockTree }, operation }: StepContext): string {
  const name = blockTree.nameOfFile(given)
  const dev = name === undefined ? undefined : blockTree.node(name)?.dev
  if (dev !== undefined) return dev
  throw new OperationRefused('DeviceUnknown', `${given}, which --device names, is no block device of this node`, {
    hint: `Give one that lsblk shows, or --device ${nameOf(operation)}=${NO_DEVICE} if none is the volume's.`,
  })
}

function clues({ volume }: Operation, attachment: VolumeAttachment | undefined): string[] {
  const { handle = '' } = volume ?? {}
  const metadata = Object.values(attachment?.status?.attachmentMetadata ?? {})
  // Handles are often paths of the storage system, whose last part is the disk.
  return [...metadata, handle, handle.split(/[/#:]/).at(-1) ?? ''].filter((each) => each !== '')
}

/** Below that many letters and digits a name is in too many others. */
const LEAST = 8
/** A virtio disk has room for so much of its serial number. */
const SERIAL = 20

/** "major:minor" of the devices that one of the names is of: a path, or what udev calls them by identity or place. */
function devicesNamed(names: readonly string[], { host: { blockTree } }: StepContext): string[] {
  const links = (['by-id', 'by-path'] as const).flatMap((directory) => blockTree.links(directory))
  const found = names.flatMap((name) => {
    const own = name.startsWith('/dev/') ? (blockTree.nameOfFile(name) ?? []) : []
    const [text, serial] = [plain(name), plain(name.slice(0, SERIAL))]
    const isNamed = (link: string): boolean =>
      (text.length >= LEAST && link.includes(text)) || (serial.length >= 2 * LEAST && link.endsWith(serial))
    return [...[own].flat(), ...links.filter(({ link }) => isNamed(plain(link))).map((each) => each.name)]
  })
  return [...new Set(found)].flatMap((name) => blockTree.node(name)?.dev ?? [])
}

/** Storage systems and udev differ in dashes and capitals (vol-0a1b, vol0a1b). */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/**
 * Where it stays unknown, no block device may be in use here that nothing explains.
 *
 * @throws OperationRefused DeviceUnknown, naming it
 */
export function requireNothingUnexplained(run: StepContext): void {
  const { operation, record } = run
  if (!isDeviceUnknown(run)) return
  const volume = nameOf(operation)
  if (record.touched && !record.unstaged) {
    throw new OperationRefused('DeviceUnknown', `the device of ${volume} could not be found`, {
      hint: `Find out which it was: give --device ${volume}=/dev/NAME, or --device ${volume}=${NO_DEVICE} if it has none here.`,
    })
  }
  const found = unexplainedDevice(run)
  if (found === undefined) return
  throw new OperationRefused(
    'DeviceUnknown',
    `the device of ${volume} is not known, and /dev/${found.name} is in use here, by nothing that explains it: ${found.use}`,
    {
      hint: `Give --device ${volume}=/dev/${found.name} if that is the volume's, --device ${volume}=${NO_DEVICE} if none on this node is.`,
    },
  )
}

const nameOf = ({ volume }: Operation): string => volume?.name ?? 'the volume'

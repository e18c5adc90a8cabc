/** Releasing an iSCSI LUN: its SCSI devices, then its sessions, as far as nobody else needs them (P76, P78, P84, P160, S25). */
import { sharedSourcesOf } from '../../desired/shared-sources.ts'
import { errorMessage, VolctlError } from '../../errors/errors.ts'
import { StepFailed } from '../../errors/operation-error.ts'
import { ISCSI_PLUGIN, type IscsiDisk, parseIscsiDirectory } from '../../names/iscsi-disk.ts'
import type { Step } from '../../plan/plan.ts'
import { removeDisks, requireDisksUnused } from '../disks/remove-disks.ts'
import { askWitness, wantedSources } from '../operation/preconditions.ts'
import { command, firstLineOf } from '../operation/step-command.ts'
import type { StepContext } from '../operation/step-context.ts'
import { type IscsiVolume, lookAtIscsi, type RecordedDisk, readIscsiDisk } from './iscsi-volume.ts'

/** iscsiadm's "no such session" and "no records found": it is done already (P76). */
const DONE_ALREADY = new Set([0, 2, 21])

/** @returns what stays, and why; undefined: nothing */
export async function removeIscsiDisks(step: Step, run: StepContext): Promise<string | undefined> {
  const disk = readIscsiDisk(step.target, run)
  if (disk === undefined) return undefined
  const volume = await lookAtIscsi(disk, step.target, run)
  if (volume.sharedWith !== undefined) {
    // As long as this LUN itself is in use its directory stays, or nobody would ever come back for the session.
    await requireDisksUnused(volume.disks, run)
    return leave(volume, volume.sharedWith, step, run)
  }
  requireLogOutPossible(volume, run)
  await removeDisks(volume.disks, run)
  return undefined
}

/** @returns what stays, and why; undefined: nothing */
export async function logOutOfIscsi(step: Step, run: StepContext): Promise<string | undefined> {
  const disk = readIscsiDisk(step.target, run)
  if (disk === undefined) return undefined
  const volume = await lookAtIscsi(disk, step.target, run)
  if (volume.sharedWith !== undefined) return leave(volume, volume.sharedWith, step, run)
  const reason = await wantedBy(disk, run)
  if (reason !== undefined) return stays(volume, reason)
  await endSessions(volume, step.target, run)
  return disk.ownIface ? deleteIface(disk.iface, run) : undefined
}

/** Of a volume whose sessions nobody else uses (`sharedWith`). @throws StepFailed HeldBy, SessionLeft, CommandFailed */
export async function endSessions(volume: IscsiVolume, directory: string, run: StepContext): Promise<void> {
  requireLogOutPossible(volume, run)
  // A log-out takes every LUN of the session. Nobody uses them, and what a tear-down before this one had to leave of
  // them, a multipath map above all, would hang on paths that are gone.
  await removeDisks([...volume.disks, ...volume.otherDisks], run)
  for (const portal of volume.disk.portals) {
    await requireNothingLeft(volume.disk, directory, run)
    await logOutOf(portal, volume, run)
  }
  requireLoggedOut(volume, run)
}

/** Before the first disk goes: a session without its disks, that nobody can end, would be half a tear-down. */
function requireLogOutPossible({ sessions }: IscsiVolume, { host }: StepContext): void {
  if (sessions.length > 0) host.requireCommand('iscsiadm')
}

/**
 * The record of a session goes only where somebody comes back for it: another record of the target, or a pod that wants
 * one of its LUNs (S14). Whoever has the other LUN in use may be gone in a moment.
 *
 * @throws StepFailed HeldBy
 */
async function leave(volume: IscsiVolume, reason: string, { target }: Step, run: StepContext): Promise<string> {
  const what = stays(volume, reason)
  if (hasOtherRecord(volume.disk, target, run) || (await wantedBy(volume.disk, run)) !== undefined) return what
  throw new StepFailed('HeldBy', `${what}; nothing else here is on record for it`, {
    hint: 'End that use; then plan again: the directory is kept, and tells what is left to do.',
  })
}

/** A directory, mounted or not, of a LUN of the target through the same interface. */
function hasOtherRecord({ iqn, iface }: RecordedDisk, own: string, { host, plan }: StepContext): boolean {
  const plugin = `${plan.rootDir}/plugins/${ISCSI_PLUGIN}`
  return [plugin, `${plugin}/volumeDevices`]
    .map((each) => `${each}/iface-${iface}`)
    .flatMap((each) => host.listNames(each).map((name) => `${each}/${name}`))
    .some((path) => path !== own && parseIscsiDirectory(path)?.iqn === iqn)
}

/** S25 keeps the devices as well: a session of which one LUN is used is left whole. */
function stays({ sessions, disks }: IscsiVolume, reason: string): string {
  const what = [...sessions.map(({ name }) => name), ...disks.map(({ name }) => name)].join(', ')
  return `its iSCSI session${what === '' ? '' : ` (${what})`} stays: ${reason}`
}

/**
 * A pod that wants a LUN of this target, mounted yet or not, would have to log in again. Its own tear-down comes back
 * for the session; where it is not known who wants what nobody would, so that the record is kept.
 *
 * @throws StepFailed AlivenessUnknown, UnresolvedVolume
 */
async function wantedBy({ iqn }: IscsiDisk, { context, waiting }: StepContext): Promise<string | undefined> {
  let sources: Awaited<ReturnType<typeof wantedSources>>
  try {
    sources = await wantedSources(await waiting.spend((ms) => askWitness(context, ms)), context, ISCSI_PLUGIN)
  } catch (error) {
    throw new StepFailed('AlivenessUnknown', `who wants the session could not be found out: ${errorMessage(error)}`, {
      cause: error,
      hint: 'Plan again when the witnesses answer.',
    })
  }
  if (sources === undefined) {
    throw new StepFailed('UnresolvedVolume', `a volume of a pod of this node may be of target ${iqn}`, {
      hint: 'Plan again: the plan says which volume could not be resolved.',
    })
  }
  const other = sources.map((source) => sharedSourcesOf(source).iscsi).find((source) => source?.iqn === iqn)
  return other == null ? undefined : `a pod of this node wants LUN ${other.lun ?? 0} of the same target`
}

/**
 * A log-out takes whatever the session has by then, and flushing may have taken minutes: LUNs that came since are
 * somebody's (S25, S26).
 *
 * @throws StepFailed HeldBy
 */
async function requireNothingLeft(disk: RecordedDisk, directory: string, run: StepContext): Promise<void> {
  run.around.changed()
  const { sharedWith, sessions } = await lookAtIscsi(disk, directory, run)
  const [left] = sessions.flatMap(({ name, luns }) =>
    luns.flatMap((lun) => lun.disks.map((each) => `${each} of ${name}`)),
  )
  const why = sharedWith ?? (left === undefined ? undefined : `${left} came while the others were removed`)
  if (why === undefined) return
  throw new StepFailed('HeldBy', `not logged out of ${disk.iqn}: ${why}`, {
    hint: 'Find out who uses it (lsblk, iscsiadm -m session -P 3); then plan again: the directory is kept.',
  })
}

async function logOutOf(portal: string, { disk, sessions }: IscsiVolume, run: StepContext): Promise<void> {
  const node = ['-m', 'node', '-p', portal, '-T', disk.iqn, '-I', disk.iface]
  try {
    await iscsiadm([...node, '--logout'], run)
    await iscsiadm([...node, '-o', 'delete'], run)
  } catch (error) {
    // Without its program there is no record to delete, and without a session nothing to end.
    if (error instanceof VolctlError && error.code === 'CommandMissing' && sessions.length === 0) return
    throw error
  }
}

async function iscsiadm(args: readonly string[], run: StepContext): Promise<void> {
  run.say(`iscsiadm ${args.join(' ')}`)
  const result = await command(run, 'iscsiadm', args)
  if (result.status !== undefined && DONE_ALREADY.has(result.status)) return
  throw new StepFailed('CommandFailed', `iscsiadm ${args.join(' ')} failed: ${firstLineOf(result)}`, {
    hint: 'Log out by hand, or bring the target back; then plan again: the directory is kept, and tells what is left to do.',
  })
}

/** Truth is sysfs: iscsiadm also says "no records" of a session whose record somebody deleted. */
function requireLoggedOut({ disk, sessions }: IscsiVolume, { host }: StepContext): void {
  const now = new Set(host.blockTree.iscsiSessions().map(({ name }) => name))
  const left = sessions.find((session) => now.has(session.name))
  if (left === undefined) return
  throw new StepFailed('SessionLeft', `${left.name} of ${disk.iqn} is still logged in`, {
    hint: `End it by hand (iscsiadm -m session -r ${left.name.slice('session'.length)} -u); then plan again.`,
  })
}

/**
 * Only one that was cloned for this volume alone (P76), and only when no session goes through it any more.
 *
 * @returns why it stays; undefined: it is gone
 */
export async function deleteIface(iface: string, run: StepContext): Promise<string | undefined> {
  const user = run.host.blockTree.iscsiSessions().find((session) => session.iface === iface)
  if (user !== undefined) return `its iSCSI interface ${iface} stays: ${user.name} goes through it`
  try {
    await iscsiadm(['-m', 'iface', '-I', iface, '-o', 'delete'], run)
  } catch (error) {
    if (error instanceof VolctlError && error.code === 'CommandMissing') return undefined
    throw error
  }
  return undefined
}

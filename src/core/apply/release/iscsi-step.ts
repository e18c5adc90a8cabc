/** Releases an iSCSI LUN: its SCSI devices, then its sessions, unless somebody else needs them (P76, P78, P84, P160, S25). */

import { advice, commandLine } from '../../messages/command.ts'
import { errorMessage, StepFailed, said } from '../../messages/findings.ts'
import { unfinished } from '../../rules/api-now.ts'
import { iscsiVolume, keptText, recordedVolume } from '../../rules/luns.ts'
import type { IscsiVolume } from '../../rules/machine-facts.ts'
import { CommandMissing } from '../../trust/programs.ts'
import { sharedSourcesOf } from '../../volumes/desired-state.ts'
import { ISCSI_PLUGIN, type IscsiDisk } from '../../volumes/iscsi.ts'
import { type ControllerWanted, wantedDevices } from '../../volumes/populate.ts'
import type { Step } from '../../volumes/steps.ts'
import { removeDisks, requireRelease } from '../disks/remove-disks.ts'
import { askWitness } from '../operation/ask-kubelet.ts'
import { command, firstLineOf, type StepContext } from '../operation/step.ts'

/** Exit statuses of iscsiadm that mean success, "no such session" and "no records found": already done (P76). */
const DONE_ALREADY = new Set([0, 2, 21])

/** @returns what is kept, and why; undefined: nothing */
export async function removeIscsiDisks({ target }: Step, run: StepContext): Promise<string | undefined> {
  const volume = await iscsiVolume(target, run)
  if (volume === undefined) return undefined
  // While this LUN itself is in use, its directory is kept; otherwise no later plan would end the session.
  if (volume.sharedWith !== undefined) return keep(volume, volume.disks, run)
  requireLogOutPossible(volume, run)
  await removeDisks(volume.disks, run)
  return undefined
}

/** @returns what is kept, and why; undefined: nothing */
export async function logOutOfIscsi({ target }: Step, run: StepContext): Promise<string | undefined> {
  const volume = await iscsiVolume(target, run)
  if (volume === undefined) return undefined
  if (volume.sharedWith !== undefined) return keep(volume, [], run)
  const { disk } = volume
  const reason = await wantedBy(disk, run)
  if (reason !== undefined) return keptText(volume, reason)
  requireLogOutPossible(volume, run)
  // A log-out removes every LUN of the session. Nobody uses them, but leftovers of an earlier tear-down, such as a multipath
  // map, would hang without their paths. So their disks are removed first.
  await removeDisks([...volume.disks, ...volume.otherDisks], run)
  for (const portal of disk.portals) {
    run.around.changed()
    await requireRelease({ disks: [], ended: await recordedVolume(disk, target, run) }, run)
    await logOutOf(portal, volume, run)
  }
  requireLoggedOut(volume, run)
  return disk.ownIface ? deleteIface(disk.iface, run) : undefined
}

/** Leaves a session of which another LUN is in use. */
async function keep(volume: IscsiVolume, disks: IscsiVolume['disks'], run: StepContext): Promise<string> {
  await requireRelease({ disks, kept: { ...volume, wantedBy: () => wantedBy(volume.disk, run) } }, run)
  return keptText(volume, volume.sharedWith)
}

/** Before the first disk is removed: without iscsiadm, a session without disks would be left that nobody can end. */
function requireLogOutPossible({ sessions }: IscsiVolume, { host }: StepContext): void {
  if (sessions.length > 0) host.requireCommand('iscsiadm')
}

/**
 * A pod that wants a LUN of this target, mounted or not, would have to log in again, and its own tear-down ends the session
 * later. If it is unknown which pods want what, the record is kept.
 *
 * @throws StepFailed AlivenessUnknown, MayBeInUse
 */
async function wantedBy({ iqn }: IscsiDisk, { context, waiting }: StepContext): Promise<string | undefined> {
  let wanted: ControllerWanted | undefined
  try {
    wanted = await context.wantedOf(unfinished(await waiting.spend((ms) => askWitness(context, ms))))
  } catch (error) {
    throw new StepFailed(said('AlivenessUnknown.sessionPods', { error: errorMessage(error) }), {
      cause: error,
      hint: 'Plan again when the API server and the container runtime answer.',
    })
  }
  const sources = wanted && wantedDevices(wanted, ISCSI_PLUGIN)
  if (sources === undefined) {
    throw new StepFailed(said('MayBeInUse.target', { iqn }))
  }
  const other = sources.map((source) => sharedSourcesOf(source).iscsi).find((source) => source?.iqn === iqn)
  return other == null ? undefined : `a pod of this node wants LUN ${other.lun} of the same target`
}

async function logOutOf(portal: string, { disk, sessions }: IscsiVolume, run: StepContext): Promise<void> {
  const node = ['-m', 'node', '-p', portal, '-T', disk.iqn, '-I', disk.iface]
  try {
    await iscsiadm([...node, '--logout'], run)
    await iscsiadm([...node, '-o', 'delete'], run)
  } catch (error) {
    // Without iscsiadm there is no record to delete, and without a session nothing to end.
    if (error instanceof CommandMissing && sessions.length === 0) return
    throw error
  }
}

async function iscsiadm(args: readonly string[], run: StepContext): Promise<void> {
  run.say(`iscsiadm ${args.join(' ')}`)
  const result = await command(run, 'iscsiadm', args)
  if (result.status !== undefined && DONE_ALREADY.has(result.status)) return
  throw new StepFailed(said('CommandFailed.iscsiadm', { arguments: args.join(' '), output: firstLineOf(result) }))
}

/** sysfs decides: iscsiadm also answers "no records" for a session whose record somebody deleted. */
function requireLoggedOut({ disk, sessions }: IscsiVolume, { host }: StepContext): void {
  const now = new Set(host.blockTree.iscsiSessions().map(({ name }) => name))
  const left = sessions.find((session) => now.has(session.name))
  if (left === undefined) return
  throw new StepFailed(said('IscsiFailed.loggedIn', { name: left.name, iqn: disk.iqn }), {
    hint: advice`End it by hand (${commandLine('iscsiadm', '-m', 'session', '-r', left.name.slice('session'.length), '-u')}); then plan again.`,
  })
}

/**
 * Deletes an interface that was cloned for this volume (P76), once no session uses it any more.
 *
 * @returns why it is kept; undefined: it was deleted
 */
async function deleteIface(iface: string, run: StepContext): Promise<string | undefined> {
  const user = run.host.blockTree.iscsiSessions().find((session) => session.iface === iface)
  if (user !== undefined) return `its iSCSI interface ${iface} is kept: ${user.name} uses it`
  try {
    await iscsiadm(['-m', 'iface', '-I', iface, '-o', 'delete'], run)
  } catch (error) {
    if (error instanceof CommandMissing) return undefined
    throw error
  }
  return undefined
}

/** The step iscsiLogin: brings an iSCSI LUN's device to this node (P74). */

import type { IscsiSession } from '../../block/block-tree.ts'
import { StepFailed } from '../../errors/operation-error.ts'
import type { Undo } from '../../errors/undo.ts'
import { type IscsiTarget, isIscsiLink } from '../../names/iscsi-target.ts'
import type { Step } from '../../plan/plan.ts'
import { deviceOf, mapOver } from '../disks/lun-device.ts'
import { scanHost } from '../disks/scan-host.ts'
import { firstLineOf } from '../operation/step-command.ts'
import type { StepContext } from '../operation/step-context.ts'
import { takeBack } from '../operation/take-back.ts'
import { waitUntil } from '../operation/wait-until.ts'
import { reachPortal, sessionsOf } from './iscsi-portal.ts'
import { wantedTarget } from './iscsi-record.ts'
import { deleteIface } from './iscsi-step.ts'
import { iscsiadm, SESSION_EXISTS } from './iscsiadm.ts'

/** If one portal answers, those that did not are tried once more. */
const ROUNDS = 2

/**
 * Logs in through every portal (one is enough), has the SCSI hosts scan for this LUN only, and waits for udev's links to its
 * disks. The multipath map over them, or the first disk, becomes `bringUp.device`.
 *
 * @throws StepFailed IscsiFailed, DeviceMissing; then what was made is undone
 */
export async function logInToIscsi({ target: directory }: Step, run: StepContext): Promise<readonly Undo[]> {
  const target = wantedTarget(directory, run)
  const undos: Undo[] = []
  try {
    undos.push(...(await prepareIface(target, run)))
    const disks = await findDisks(target, directory, undos, run)
    run.bringUp.device = await deviceOf(disks, new Set(target.portals).size > 1, run)
    return undos
  } catch (error) {
    throw await takeBack(undos, error, run)
  }
}

/** @param undos gets an undo for each new session */
async function findDisks(target: IscsiTarget, directory: string, undos: Undo[], run: StepContext): Promise<string[]> {
  const portals = [...new Set(target.portals)]
  const sessions = new Map<string, string>()
  const failures = new Map<string, string>()
  for (let round = 1; round <= ROUNDS; round++) {
    for (const portal of portals.filter((each) => !sessions.has(each))) {
      const reached = await reachPortal(portal, target, directory, run)
      if (reached.undo !== undefined) undos.push(reached.undo)
      if ('failure' in reached) failures.set(portal, reached.failure)
      else sessions.set(portal, reached.session)
    }
    const names = [...new Set(sessions.values())]
    await scanForLun(names, target, run)
    await waitUntil(() => (names.every((name) => diskOf(name, target, run)) ? true : undefined), run)
    const found = [...sessions.values()].filter((name) => diskOf(name, target, run))
    if (found.length === 0 || found.length === portals.length) break
  }
  const disks = [...new Set([...sessions.values()].flatMap((name) => diskOf(name, target, run) ?? []))]
  if (disks.length > 0) return disks
  throw sessions.size === 0
    ? new StepFailed('IscsiFailed', `${target.iqn}: ${[...failures.values()].join('; ')}`, {
        hint: 'Check that the portal answers this node and that the target lets this initiator in (iscsiadm -m discovery -t sendtargets -p PORTAL); then plan again.',
      })
    : missing(target, [...sessions.values()], run)
}

async function scanForLun(names: readonly string[], target: IscsiTarget, run: StepContext): Promise<void> {
  for (const session of sessionsOf(target, run)) {
    if (names.includes(session.name) && disksOf(session, target).length === 0)
      await scanHost(session.host, `0 0 ${target.lun}`, run)
  }
}

/**
 * The session's disk of the LUN by sysfs, once udev has a link with the LUN's exact name. Sessions through several interfaces
 * share one link, which leads to the disk of any of them.
 */
function diskOf(name: string, target: IscsiTarget, run: StepContext): string | undefined {
  const { blockTree } = run.host
  const ofTarget = blockTree.iscsiSessions().filter(({ iqn }) => iqn === target.iqn)
  const session = ofTarget.find((each) => each.name === name)
  const paths = ofTarget.flatMap((each) => disksOf(each, target))
  const portals = [...target.portals, ...(session?.portals ?? [])]
  const links = blockTree.links('by-path').filter(({ link }) => isIscsiLink(link, portals, target))
  const isLinked = links.some((link) => paths.includes(link.name) || link.name === mapOver(paths, run))
  return session === undefined || !isLinked ? undefined : disksOf(session, target)[0]
}

function disksOf({ luns }: IscsiSession, { lun }: IscsiTarget): readonly string[] {
  return luns.flatMap((each) => (each.lun === lun ? each.disks : []))
}

function missing(target: IscsiTarget, names: readonly string[], run: StepContext): StepFailed {
  const [unlinked] = sessionsOf(target, run)
    .filter(({ name }) => names.includes(name))
    .flatMap((session) => disksOf(session, target))
  const what = `LUN ${target.lun} of ${target.iqn} (${names.join(', ')})`
  return unlinked === undefined
    ? new StepFailed('DeviceMissing', `${what} did not appear`, {
        hint: 'Check that the target exports that LUN to this initiator (iscsiadm -m session -P 3); then plan again.',
      })
    : new StepFailed('DeviceMissing', `${what} is ${unlinked}, but udev has no link to it in /dev/disk/by-path`, {
        hint: 'Check that udev works (udevadm settle, udevadm info); then plan again.',
      })
}

/**
 * Checks that the interface exists. If the volume has its own initiator name, the interface is cloned for it.
 *
 * @throws StepFailed IscsiFailed
 */
async function prepareIface(target: IscsiTarget, run: StepContext): Promise<readonly Undo[]> {
  const { initIface, iface, initiatorName } = target
  const shown = await iscsiadm(['-m', 'iface', '-I', initIface, '-o', 'show'], run)
  if (shown.status !== 0) throw ifaceFailed(`iSCSI interface ${initIface} could not be read`, firstLineOf(shown))
  if (iface === initIface) return []
  const settings = new Map([...settingsOf(shown.stdout, initIface), ['iface.initiatorname', initiatorName]])
  const made = await iscsiadm(['-m', 'iface', '-I', iface, '-o', 'new'], run)
  if (made.status === SESSION_EXISTS) return []
  if (made.status !== 0) throw ifaceFailed(`iSCSI interface ${iface} could not be created`, firstLineOf(made))
  const undo: Undo = {
    what: `iSCSI interface ${iface}`,
    back: async () => {
      const kept = await deleteIface(iface, run)
      if (kept !== undefined) throw new Error(kept)
    },
  }
  try {
    for (const [name, value] of [...settings].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const set = await iscsiadm(['-m', 'iface', '-I', iface, '-o', 'update', '-n', name, '-v', value], run)
      if (set.status !== 0) throw ifaceFailed(`${name} of iSCSI interface ${iface} could not be set`, firstLineOf(set))
    }
    return [undo]
  } catch (error) {
    throw await takeBack([undo], error, run)
  }
}

/** The settings to copy to a clone: all but the interface's name. @throws StepFailed IscsiFailed */
function settingsOf(shown: string, iface: string): [string, string][] {
  return shown.split('\n').flatMap((line): [string, string][] => {
    if (!line.startsWith('iface.') || line.includes('<empty>')) return []
    const [name = '', equals, value = '', ...more] = line.trim().split(/\s+/)
    if (equals !== '=' || value === '' || value.startsWith('-') || more.length > 0)
      throw ifaceFailed(`iSCSI interface ${iface} has a setting that cannot be copied`, line.trim())
    return name === 'iface.iscsi_ifacename' ? [] : [[name, value]]
  })
}

function ifaceFailed(what: string, why: string): StepFailed {
  return new StepFailed('IscsiFailed', `${what}: ${why}`, {
    hint: 'See iscsiadm -m iface, and check that iscsid runs; then plan again.',
  })
}

/** A session of an iSCSI target through one portal (P74). */

import type { IscsiSession } from '../../block/block-tree.ts'
import type { Undo } from '../../errors/undo.ts'
import type { IscsiTarget } from '../../names/iscsi-target.ts'
import { firstLineOf } from '../operation/step-command.ts'
import type { StepContext } from '../operation/step-context.ts'
import { endSessions } from './iscsi-step.ts'
import { isThrough, lookAtIscsi, withPort } from './iscsi-volume.ts'
import { iscsiadm, SESSION_EXISTS } from './iscsiadm.ts'

export type Reached =
  | { readonly session: string; readonly undo?: Undo }
  | { readonly failure: string; readonly undo?: Undo }

/**
 * The existing session, by sysfs, or a new one. A session through another interface does not count.
 *
 * @param directory the volume's global directory
 * @returns with an undo for a session that was not there before
 */
export async function reachPortal(
  portal: string,
  target: IscsiTarget,
  directory: string,
  run: StepContext,
): Promise<Reached> {
  const there = sessionThrough(portal, target, run)
  if (there !== undefined) return { session: there.name }
  const before = sessionsOf(target, run)
  const failure = (await discover(portal, target, run)) ?? (await logIn(portal, target, run))
  // The portal is given by name, and sysfs has its address: the only session must be this one.
  if (failure === 'session exists' && before.length === 1 && before[0] !== undefined) return { session: before[0].name }
  if (failure !== undefined) return { failure: `${portal}: ${failure}` }
  const undo = logOutAgain(portal, target, directory, run)
  const came = sessionsOf(target, run).filter(({ name }) => !before.some((each) => each.name === name))
  const session = sessionThrough(portal, target, run) ?? (came.length === 1 ? came[0] : undefined)
  if (session === undefined) return { failure: `logged in through ${portal}, but sysfs shows no session of it`, undo }
  await iscsiadm(['-m', 'node', '-p', portal, '-T', target.iqn, ...update('node.startup', 'manual')], run)
  return { session: session.name, undo }
}

export function sessionsOf(target: IscsiTarget, { host }: StepContext): IscsiSession[] {
  return host.blockTree.iscsiSessions().filter((session) => isThrough(session, target))
}

function sessionThrough(portal: string, target: IscsiTarget, run: StepContext): IscsiSession | undefined {
  return sessionsOf(target, run).find(({ portals }) => portals.some((each) => withPort(each) === withPort(portal)))
}

/** @returns why the discovery failed; undefined: it succeeded */
async function discover(portal: string, { iface }: IscsiTarget, run: StepContext): Promise<string | undefined> {
  const record = ['-m', 'discoverydb', '-t', 'sendtargets', '-p', portal, '-I', iface]
  // The record may exist already; only the result of the discovery counts.
  await iscsiadm([...record, '-o', 'new'], run)
  const found = await iscsiadm([...record, '--discover'], run)
  if (found.status === 0) return undefined
  await iscsiadm([...record, '-o', 'delete'], run)
  return `discovery: ${firstLineOf(found)}`
}

/** @returns why the log-in failed; undefined: it succeeded */
async function logIn(portal: string, { iqn, iface }: IscsiTarget, run: StepContext): Promise<string | undefined> {
  const node = ['-m', 'node', '-p', portal, '-T', iqn, '-I', iface]
  // Otherwise every LUN of the target would appear, those of other nodes, too. Old versions do not know this setting.
  await iscsiadm([...node, ...update('node.session.scan', 'manual')], run)
  const result = await iscsiadm([...node, '--login'], run)
  if (result.status === 0) return undefined
  // The record of an existing session must not be deleted.
  if (result.status === SESSION_EXISTS) return 'session exists'
  await iscsiadm([...node, '-o', 'delete'], run)
  return `log-in: ${firstLineOf(result)}`
}

/** Ends the session again, unless somebody else uses anything of it (S25). */
function logOutAgain(portal: string, target: IscsiTarget, directory: string, run: StepContext): Undo {
  return {
    what: `the session of ${target.iqn} through ${portal}`,
    back: async () => {
      run.around.changed()
      const disk = { ...target, portals: [portal], ownIface: false, byNameOnly: false }
      const volume = await lookAtIscsi(disk, directory, run)
      if (volume.sharedWith !== undefined) throw new Error(volume.sharedWith)
      await endSessions(volume, directory, run)
    },
  }
}

function update(name: string, value: string): string[] {
  return ['-o', 'update', '-n', name, '-v', value]
}

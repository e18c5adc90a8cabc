/** Writes iscsi.json, the record from which a tear-down knows what to log out of (P72, P73, R837). */
import { posix } from 'node:path'
import { OperationRefused, StepFailed } from '../../errors/operation-error.ts'
import type { Undo } from '../../errors/undo.ts'
import { type IscsiTarget, iscsiDirectory, iscsiRecordOf, iscsiTargetOf } from '../../names/iscsi-target.ts'
import type { Step } from '../../plan/plan.ts'
import type { StepContext } from '../operation/step-context.ts'
import { writeRecord } from '../operation/write-record.ts'
import { isThrough } from './iscsi-volume.ts'

/**
 * The target as the pod wants it now.
 *
 * @param directory the volume's global directory, as it was planned
 * @throws OperationRefused Changed
 */
export function wantedTarget(directory: string, { bringUp: { wanted }, plan }: StepContext): IscsiTarget {
  const source = wanted?.persistentVolume?.spec.iscsi ?? wanted?.source?.iscsi
  const target = source == null ? undefined : iscsiTargetOf(wanted?.specName ?? '', source)
  const isTarget = target !== undefined && !('error' in target) && wanted !== undefined
  if (isTarget && directory === `${plan.rootDir}/${iscsiDirectory(target, wanted.mode)}`) return target
  throw new OperationRefused('Changed', `${directory} is no longer the directory of the volume that the pod wants`, {
    hint: 'Plan again.',
  })
}

/**
 * Written before the log-in, so that the next tear-down knows about the session even if volctl is killed in between. The file
 * is removed again only if there is no new session: a record that is still needed is kept.
 */
export function writeIscsiRecord({ target: path }: Step, run: StepContext): readonly Undo[] {
  const directory = posix.dirname(path)
  const target = wantedTarget(directory, run)
  // If the LUN is already mounted, this path would lead into its file system.
  if (run.around.table.top(directory) !== undefined) return []
  const text = iscsiRecordOf(target)
  const found = run.host.lstat(path)
  if (found !== undefined && found.type !== 'file') {
    throw new StepFailed('UnexpectedFile', `${path} is a ${found.type}, so the kubelet did not make it`, {
      hint: 'Look at it; move it away or delete it yourself, then plan again.',
    })
  }
  const before = found === undefined ? undefined : run.host.readSmallFile(path)
  if (before === text) return []
  // S14: the old record may name portals that the volume no longer has.
  writeRecord(path, text, before, run)
  if (before !== undefined) return []
  const known = sessionsOf(target, run)
  return [
    {
      what: path,
      back: () => {
        const added = sessionsOf(target, run).find((name) => !known.includes(name))
        if (added !== undefined) throw new Error(`${added} is logged in`)
        run.host.unlink(path)
      },
    },
  ]
}

/** Names of the target's sessions through the volume's interface. */
function sessionsOf(target: IscsiTarget, { host }: StepContext): string[] {
  return host.blockTree.iscsiSessions().flatMap((session) => (isThrough(session, target) ? session.name : []))
}

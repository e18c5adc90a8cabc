/** iscsi.json, which tells a tear-down what there is to log out of (P72, P73, R837). */
import { posix } from 'node:path'
import { OperationRefused, StepFailed } from '../../errors/operation-error.ts'
import type { Undo } from '../../errors/undo.ts'
import { diskFailure } from '../../files/disk-failure.ts'
import { type IscsiTarget, iscsiDirectory, iscsiRecordOf, iscsiTargetOf } from '../../names/iscsi-target.ts'
import type { Step } from '../../plan/plan.ts'
import type { StepContext } from '../operation/step-context.ts'
import { isThrough } from './iscsi-volume.ts'

/**
 * The target as the pod wants it by now.
 *
 * @param directory the volume's global one, as it was planned
 * @throws OperationRefused Changed
 */
export function wantedTarget(directory: string, { bringUp: { wanted }, plan }: StepContext): IscsiTarget {
  const source = wanted?.persistentVolume?.spec.iscsi ?? wanted?.source?.iscsi
  const target = source == null ? undefined : iscsiTargetOf(wanted?.specName ?? '', source)
  const isTarget = target !== undefined && !('error' in target) && wanted !== undefined
  if (isTarget && directory === `${plan.rootDir}/${iscsiDirectory(target, wanted.mode)}`) return target
  throw new OperationRefused('Changed', `${directory} is not of what the pod wants by now`, { hint: 'Plan again.' })
}

/**
 * Before the log-in, so that whatever ends volctl in between the next tear-down knows of the session. It is taken back
 * only if no session has come since: a record that is needed stays.
 */
export function writeIscsiRecord({ target: path }: Step, run: StepContext): readonly Undo[] {
  const directory = posix.dirname(path)
  const target = wantedTarget(directory, run)
  // Where the LUN is mounted already, this path is one in its file system.
  if (run.around.table.top(directory) !== undefined) return []
  const text = iscsiRecordOf(target)
  const found = run.host.lstat(path)
  if (found !== undefined && found.type !== 'file') {
    throw new StepFailed('UnexpectedFile', `${path} is a ${found.type}: the kubelet did not make it`, {
      hint: 'Look at it; move it away or delete it yourself, then plan again.',
    })
  }
  const before = found === undefined ? undefined : run.host.readSmallFile(path)
  if (before === text) return []
  // S14: it may tell of portals that the volume does not have any more.
  if (before !== undefined) run.journal.write({ type: 'stateFile', operation: run.operation.id, path, content: before })
  try {
    run.host.writeStateFile(path, text)
  } catch (error) {
    throw diskFailure('WriteFailed', `${path} could not be written`, error, 'Free the path; then plan again.')
  }
  if (before !== undefined) return []
  const known = sessionsOf(target, run)
  return [
    {
      what: path,
      back: () => {
        const left = sessionsOf(target, run).find((name) => !known.includes(name))
        if (left !== undefined) throw new Error(`${left} is logged in`)
        run.host.unlink(path)
      },
    },
  ]
}

/** Names of the target's sessions through the volume's interface. */
function sessionsOf(target: IscsiTarget, { host }: StepContext): string[] {
  return host.blockTree.iscsiSessions().flatMap((session) => (isThrough(session, target) ? session.name : []))
}

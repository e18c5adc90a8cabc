/** fsGroup: the volume and all that is in it is given to a group of the pod (P31, P32, P34). */
import type { FailureCode, OutcomeCode } from '../../codes/codes.ts'
import { errorMessage } from '../../errors/errors.ts'
import { StepFailed } from '../../errors/operation-error.ts'
import type { Undo } from '../../errors/undo.ts'
import type { OwnershipChange } from '../../files/change-ownership.ts'
import type { Ownership } from '../../files/ownership-bits.ts'
import { cannotHang } from '../../mountinfo/file-systems.ts'
import { placeOf } from '../../mountinfo/linked-mounts.ts'
import { containingMount } from '../../mountinfo/location.ts'
import type { Step } from '../../plan/plan.ts'
import { ownCommand } from '../../processes/own-child.ts'
import { progressReport } from '../operation/progress-report.ts'
import type { StepContext } from '../operation/step-context.ts'

/** Of --timeout; with the rest the mount is taken back. */
const WALK_SHARE = 0.9
/** Whoever ignores errors of the walk cannot ignore these (P34). */
const OVER: ReadonlySet<FailureCode> = new Set<OutcomeCode>(['Interrupted', 'TimedOut'])

/**
 * There is no way back: who had what before is not kept, and the kubelet does not keep it either. What is changed is
 * right for the next try.
 */
export async function setOwnership({ target, ownership }: Step, run: StepContext): Promise<readonly Undo[]> {
  if (ownership === undefined) throw new StepFailed('OwnershipFailed', `${target}: no group is given`)
  try {
    report(target, ownership, await change(target, ownership, run), run)
  } catch (error) {
    const isOver = error instanceof StepFailed && OVER.has(error.code)
    if (isOver || !ownership.ignoreErrors) throw error
    run.say(`${target} was not given to group ${ownership.gid} as a whole: ${errorMessage(error)}`)
  }
  return []
}

async function change(target: string, ownership: Ownership, run: StepContext): Promise<OwnershipChange> {
  const { around, context, host, signal, waiting } = run
  const mount = containingMount(around.table, target)
  if (mount === undefined) throw new StepFailed('OwnershipFailed', `${target} is in no mount`)
  const options = {
    mountId: mount.id,
    ownership,
    onEntry: progressReport((entries) => run.say(`${target} goes to group ${ownership.gid}: ${entries} files so far`)),
    ...(signal === undefined ? {} : { signal }),
  }
  const place = placeOf(around.table, target)
  // This process must never wait for a server. The root directory has been read all along.
  if (cannotHang(mount.fsType) || mount.id === containingMount(around.table, run.plan.rootDir)?.id)
    return host.changeOwnership(place, options)
  const command = context.walker ?? ownCommand('ownership-walker')
  return waiting.spend((ms) => host.changeOwnership(place, options, { command, deadlineMs: ms * WALK_SHARE }))
}

function report(target: string, { gid }: Ownership, { failed, mounts }: OwnershipChange, run: StepContext): void {
  if (failed > 0) run.say(`${target}: the file system did not give ${failed} files to group ${gid}`)
  const [first] = mounts
  if (first !== undefined) {
    const others = mounts.length === 1 ? '' : ` and ${mounts.length - 1} more`
    run.say(`${first}${others}: something else is mounted there, which was not given to group ${gid}`)
  }
}

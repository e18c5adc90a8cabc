/** Umounts of many operations in few calls of umount(8): two calls at a time, with kubelet and pods checked in between. */
import { VolctlError } from '../errors/errors.ts'
import { StepFailed } from '../errors/operation-error.ts'
import type { MountInfo } from '../mountinfo/mount-table.ts'
import type { Operation, Step } from '../plan/plan.ts'
import type { CommandResult } from '../trust/programs.ts'
import type { ApplyRun } from './apply-run.ts'
import { requireUnused } from './operation/preconditions.ts'
import type { StepContext } from './operation/step-context.ts'

/** Half of a batch, and some: all mounts of a pod are in one lane, and a call for a few mounts more would cost a process. */
const PATHS_PER_CALL = 3000
const LANES = 2
const RECHECK_MS = 2000

/** An operation of a batch, and how far it has come. */
export interface Member {
  readonly operation: Operation
  readonly run: StepContext
  cursor: number
}

export interface Umount {
  readonly step: Step
  readonly layer: MountInfo
  result?: CommandResult
  /** Why it was not attempted. */
  failure?: VolctlError
}

/**
 * Two calls at a time. All mounts of a pod are in one lane, in order.
 *
 * @param asked when kubelet and pods were asked for
 */
export async function umountAll(umounts: ReadonlyMap<Member, Umount[]>, apply: ApplyRun, asked: number): Promise<void> {
  const lanes: [Member, Umount][][] = Array.from({ length: LANES }, () => [])
  const laneOf = new Map<string, [Member, Umount][]>()
  for (const [member, mine] of umounts) {
    const pod = member.operation.pod?.uid ?? ''
    const lane = laneOf.get(pod) ?? lanes.reduce((least, each) => (each.length < least.length ? each : least))
    laneOf.set(pod, lane)
    for (const umount of mine) lane.push([member, umount])
  }
  await Promise.all(
    lanes.map(async (lane) => {
      for (let index = 0; index < lane.length; index += PATHS_PER_CALL) {
        const rest = lane.slice(index)
        const stop = await reasonToStop(rest, apply, asked)
        if (stop !== undefined) return giveUp(rest, stop)
        const part = rest.slice(0, PATHS_PER_CALL).map(([, umount]) => umount)
        const result = await umountPart(part, apply)
        // Only these fail: the other lane's call is at work.
        if (result instanceof VolctlError) return giveUp(rest, result)
        // A call that hangs would hang again.
        if (result.timedOut) return giveUp(rest.slice(PATHS_PER_CALL), HUNG)
      }
    }),
  )
}

const HUNG = new StepFailed('StillAtWork', 'not started: an earlier umount hangs')

/** @returns an error where the call could not be started */
async function umountPart(part: readonly Umount[], apply: ApplyRun): Promise<CommandResult | VolctlError> {
  const going = part.filter(({ failure }) => failure === undefined)
  const paths = going.map(({ step }) => step.target)
  const result =
    paths.length === 0 ? NOTHING : await apply.host.umount(paths, 'plain', apply.timeoutMs).catch(notStarted)
  if (result instanceof VolctlError) return result
  for (const umount of going) umount.result = result
  return result
}

function notStarted(error: unknown): VolctlError {
  if (error instanceof VolctlError) return error
  throw error
}

const NOTHING: CommandResult = { status: 0, stdout: '', stderr: '', timedOut: false }

/**
 * Called before each umount call. If kubelet and pods were asked for long ago (file systems flush when they are unmounted),
 * they are checked again (S26).
 */
async function reasonToStop(
  rest: readonly [Member, Umount][],
  apply: ApplyRun,
  asked: number,
): Promise<VolctlError | undefined> {
  if (apply.isStopping) return apply.whyStopping
  if (performance.now() - asked < RECHECK_MS) return undefined
  try {
    await apply.requireNoKubelet()
    const witness = await apply.witness(RECHECK_MS)
    for (const [{ operation, run }, umount] of rest) {
      await requireUnused(operation, witness, run.context).catch((error) => {
        umount.failure = error
      })
    }
    return undefined
  } catch (error) {
    return error instanceof VolctlError ? error : apply.whyStopping
  }
}

function giveUp(rest: readonly [Member, Umount][], failure: VolctlError): void {
  for (const [, umount] of rest) umount.failure ??= failure
}

/**
 * Many unmounts at once: one check before, one reading of the mount table afterwards (S26).
 *
 * umount(8) takes a thousand paths as fast as ten, and the kernel needs milliseconds for each reading of a large mount table;
 * so the operations of a batch go step by step together: all their umounts in a few calls, then one reading, then the
 * removals, which are single system calls.
 */

import type { MountInfo } from '../linux/mount-table.ts'
import { StepFailed, StepInterrupted, said, saidOfAny, VolctlError } from '../messages/findings.ts'
import type { Operation } from '../plan/plan.ts'
import { isExpected } from '../rules/expected-mounts.ts'
import { requireRules } from '../rules/rules.ts'
import type { CommandResult } from '../trust/programs.ts'
import type { Step } from '../volumes/steps.ts'
import type { ApplyRun } from './apply-run.ts'
import { removeStep, requireGone, umountLayer } from './mounts/umount-step.ts'
import type { StepContext } from './operation/step.ts'
import { judgedNow } from './run-operation.ts'

export const BATCH_OPERATIONS = 5000

/**
 * @param onUmount called whenever umounts were started, after which the batch only waits for them
 * @throws what is the end of all operations that have no outcome yet
 */
export async function runBatch(operations: readonly Operation[], apply: ApplyRun, onUmount: () => void): Promise<void> {
  const around = apply.surroundings()
  const begun = operations.map((operation) => apply.begin(operation, around))
  const { ready, asked } = await judgedNow(begun, apply, 0)
  let members: readonly Member[] = ready.map((run) => ({ ...run, cursor: 0, umounts: [] }))
  while (members.length > 0) {
    members = await apply.surviving(members, advance)
    const isOver = ({ operation, cursor, umounts }: Member): boolean =>
      cursor === operation.steps.length && umounts.length === 0
    for (const { operation } of members.filter(isOver)) apply.settle(operation, 'done', { message: operation.message })
    members = members.filter((member) => !isOver(member))
    const all = members.flatMap(({ umounts }) => umounts)
    const unmounting = umountAll(all, apply, asked)
    onUmount()
    await unmounting
    around.changed()
    members = await apply.surviving(members, verify)
  }
  apply.flushOutcomes()
}

/** Removes names until the next umounts, and takes those together, each with the mount that it removes: on every path the newest first. */
function advance(member: Member): void {
  const { operation, around } = member
  const { steps } = operation
  const taken = new Map<string, number>()
  const umounts: Umount[] = []
  for (let step = steps[member.cursor]; step !== undefined; step = steps[++member.cursor]) {
    if (step.op !== 'umount') {
      if (taken.size > 0) break
      removeStep(step, member)
      continue
    }
    const count = (taken.get(step.target) ?? 0) + 1
    taken.set(step.target, count)
    const layer = around.table.reached(step.target).at(-count)
    // Otherwise the mount is already gone, or is another one: then the removal of its directory is refused.
    if (layer !== undefined && isExpected(layer, operation)) umounts.push({ run: member, step, layer })
  }
  member.umounts = umounts
}

/**
 * Each mount must be gone. What is still there is unmounted once more, alone, which gives a clear reason; so is one that another mount
 * hides.
 */
async function verify({ cursor, umounts }: Member): Promise<void> {
  const isBegun = cursor > umounts.length || umounts.some(({ result }) => result !== undefined)
  for (const { run, step, layer, result, failure } of umounts) {
    if (failure !== undefined) throw isBegun ? notAll(failure) : failure
    if (result?.timedOut) await requireGone(layer, result, run)
    await umountLayer(step, run)
  }
}

/** An operation that is begun is neither refused nor not started. */
function notAll(error: VolctlError): StepFailed {
  const { code, message: why, hint } = error
  const finding = saidOfAny(code, 'rest', { why })
  if (error instanceof StepInterrupted) return new StepInterrupted(finding)
  return new StepFailed(finding, { cause: error, hint })
}

/** As long as the kernel takes the words of one call. The other batch's calls are made meanwhile. */
const PATHS_PER_CALL = 3000
const RECHECK_MS = 2000

/** An operation of a batch, and how far it has come. */
interface Member extends StepContext {
  cursor: number
  /** Those that are next, or have just been tried. */
  umounts: readonly Umount[]
}

interface Umount {
  readonly run: StepContext
  readonly step: Step
  readonly layer: MountInfo
  result?: CommandResult
  /** Why it was not attempted. */
  failure?: VolctlError
}

/**
 * One call of umount(8) after another, with kubelet and pods checked in between.
 *
 * @param asked when kubelet and pods were asked for
 */
async function umountAll(umounts: readonly Umount[], apply: ApplyRun, asked: number): Promise<void> {
  for (let index = 0; index < umounts.length; index += PATHS_PER_CALL) {
    const rest = umounts.slice(index)
    const stop = await reasonToStop(rest, apply, asked)
    if (stop !== undefined) return giveUp(rest, stop)
    const going = rest.slice(0, PATHS_PER_CALL).filter(({ failure }) => failure === undefined)
    if (going.length === 0) continue
    try {
      const paths = going.map(({ step }) => step.target)
      const result = await apply.host.umount(paths, 'plain', apply.timeoutMs)
      for (const umount of going) umount.result = result
      // A call that hangs would hang again.
      if (result.timedOut) return giveUp(rest.slice(PATHS_PER_CALL), HUNG)
    } catch (error) {
      if (error instanceof VolctlError) return giveUp(rest, error)
      throw error
    }
  }
}

const HUNG = new StepFailed(said('StillAtWork.umount'))

/**
 * Called before each umount call. If kubelet and pods were asked for long ago (file systems flush when they are unmounted),
 * they are checked again (S26).
 */
async function reasonToStop(rest: readonly Umount[], apply: ApplyRun, asked: number): Promise<VolctlError | undefined> {
  if (apply.isStopping) return apply.whyStopping
  if (performance.now() - asked < RECHECK_MS) return undefined
  try {
    await apply.requireNoKubelet()
    const witness = await apply.witness(RECHECK_MS)
    for (const umount of rest) {
      await requireRules({ ...umount.run, witness }, 'again').catch((error) => {
        umount.failure = error
      })
    }
    return undefined
  } catch (error) {
    return error instanceof VolctlError ? error : apply.whyStopping
  }
}

function giveUp(rest: readonly Umount[], failure: VolctlError): void {
  for (const umount of rest) umount.failure ??= failure
}

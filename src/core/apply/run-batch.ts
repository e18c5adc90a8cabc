/**
 * Many unmounts at once: one check before, one reading of the mount table afterwards (S26).
 *
 * umount(8) takes a thousand paths as fast as ten, and the kernel needs milliseconds for each reading of a large mount table;
 * so the operations of a batch go step by step together: all their umounts in a few calls, then one reading, then the
 * removals, which are single system calls.
 */
import { VolctlError } from '../base/errors.ts'
import { StepFailed, StepInterrupted } from '../base/operation-error.ts'
import type { MountInfo } from '../linux/mount-table.ts'
import type { Operation, Step } from '../plan/plan.ts'
import { expectedIds, isExpected } from '../rules/expected-mounts.ts'
import { requireRules } from '../rules/rules.ts'
import type { CommandResult } from '../trust/programs.ts'
import type { ApplyRun } from './apply-run.ts'
import { removeStep } from './mounts/remove.ts'
import { requireGone, umountLayer } from './mounts/umount-step.ts'
import type { StepContext } from './operation/ports.ts'
import { requireConditions } from './run-operation.ts'

export const BATCH_OPERATIONS = 5000
const BREATH = 200

/** @param onUmount called whenever umounts were started, after which the batch only waits for them */
export async function runBatch(operations: readonly Operation[], apply: ApplyRun, onUmount: () => void): Promise<void> {
  const around = apply.surroundings()
  let members: Member[] = operations.map((operation) => ({
    operation,
    run: apply.begin(operation, around),
    cursor: 0,
  }))
  const keep = async (work: (member: Member) => void | Promise<void>): Promise<void> => {
    const going: Member[] = []
    for (const [index, member] of members.entries()) {
      // Gives signals and progress a turn.
      if (index % BREATH === BREATH - 1) await new Promise((resolve) => setImmediate(resolve))
      if (await apply.survives(member.operation, () => work(member))) going.push(member)
    }
    members = going
  }
  let asked = performance.now()
  const checked = await apply.survivesAll(operations, async () => {
    await apply.requireNoKubelet()
    return apply.witness(0)
  })
  if (checked === undefined) return
  await keep(({ run }) => requireConditions(run, checked, 'apply'))
  const judged = members.map(({ operation }) => operation)
  if (judged.length === 0) return apply.flushOutcomes()
  const answer = await apply.survivesAll(judged, async () => ({ again: await apply.askAgain(asked) }))
  if (answer === undefined) return
  const { again } = answer
  if (again !== undefined) {
    asked = performance.now()
    around.changed()
    await keep(({ run }) => requireConditions(run, again, 'again'))
  }
  const going = members.map(({ operation }) => operation)
  if (going.length === 0) return apply.flushOutcomes()
  const written = await apply.survivesAll(going, async () => apply.intend(going))
  if (written !== true) return
  while (members.length > 0) {
    await keep(removeUntilUmount)
    const ended = members.filter(({ operation, cursor }) => cursor >= operation.steps.length)
    for (const { operation } of ended) apply.succeed(operation)
    const over = new Set(ended)
    members = members.filter((member) => !over.has(member))
    if (members.length === 0) break
    const umounts = new Map<Member, Umount[]>()
    await keep((member) => void umounts.set(member, nextUmounts(member)))
    const unmounting = umountAll(umounts, apply, asked)
    onUmount()
    await unmounting
    around.changed()
    await keep((member) => verify(member, umounts.get(member) ?? []))
  }
  apply.flushOutcomes()
}

function removeUntilUmount(member: Member): void {
  const { steps } = member.operation
  for (let step = steps[member.cursor]; step !== undefined && step.op !== 'umount'; step = steps[++member.cursor]) {
    removeStep(step, member.run)
  }
}

/** The next umounts of an operation, each with the mount that it removes: on every path the newest first. */
function nextUmounts(member: Member): Umount[] {
  const { operation, run } = member
  const expected = expectedIds(operation)
  const taken = new Map<string, number>()
  const found: Umount[] = []
  for (let step = operation.steps[member.cursor]; step?.op === 'umount'; step = operation.steps[++member.cursor]) {
    const count = (taken.get(step.target) ?? 0) + 1
    taken.set(step.target, count)
    const layer = run.around.table.reached(step.target).at(-count)
    // Otherwise the mount is already gone, or is another one: then the removal of its directory is refused.
    if (layer !== undefined && isExpected(layer, expected)) found.push({ step, layer })
  }
  return found
}

/**
 * Each mount must be gone by its id, so that a hidden one is noticed, too. A mount that is still there is unmounted once more
 * alone, which gives a clear reason.
 */
function verify({ operation, run, cursor }: Member, umounts: readonly Umount[]): void | Promise<void> {
  const isBegun = cursor > umounts.length || umounts.some(({ result }) => result !== undefined)
  const doubtful = umounts.filter(
    (each) => each.failure !== undefined || each.result?.timedOut || isThere(each, operation, run),
  )
  return doubtful.length === 0 ? undefined : unmountAgain(doubtful, isBegun, operation, run)
}

/** An operation that is begun is neither refused nor not started. */
function notAll(error: VolctlError): StepFailed {
  const { code, message, hint } = error
  const why = `some of it is done; the rest: ${message}`
  if (error instanceof StepInterrupted) return new StepInterrupted(why)
  return new StepFailed(code, why, { cause: error, hint })
}

function isThere({ layer }: Umount, operation: Operation, { around }: StepContext): boolean {
  const there = around.table.at(layer.mountPoint)
  if (there.length > 0 && there.some((mount) => isExpected(mount, expectedIds(operation)))) return true
  return around.table.byId(layer.id)?.mountPoint === layer.mountPoint
}

async function unmountAgain(
  umounts: readonly Umount[],
  isBegun: boolean,
  operation: Operation,
  run: StepContext,
): Promise<void> {
  for (const umount of umounts) {
    const { step, layer, result, failure } = umount
    if (failure !== undefined) throw isBegun ? notAll(failure) : failure
    if (result?.timedOut) await requireGone(layer, result, run)
    if (isThere(umount, operation, run)) await umountLayer(step, run)
  }
}

/** Half of a batch, and some: all mounts of a pod are in one lane, and a call for a few mounts more would cost a process. */
const PATHS_PER_CALL = 3000
const LANES = 2
const RECHECK_MS = 2000

/** An operation of a batch, and how far it has come. */
interface Member {
  readonly operation: Operation
  readonly run: StepContext
  cursor: number
}

interface Umount {
  readonly step: Step
  readonly layer: MountInfo
  result?: CommandResult
  /** Why it was not attempted. */
  failure?: VolctlError
}

/**
 * Two calls of umount(8) at a time, with kubelet and pods checked in between. All mounts of a pod are in one lane, in order.
 *
 * @param asked when kubelet and pods were asked for
 */
async function umountAll(umounts: ReadonlyMap<Member, Umount[]>, apply: ApplyRun, asked: number): Promise<void> {
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
    for (const [{ run }, umount] of rest) {
      await requireRules(run, witness, 'again').catch((error) => {
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

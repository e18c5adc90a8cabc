/**
 * Many unmounts at once: one check before, one reading of the mount table afterwards (S26).
 *
 * umount(8) takes a thousand paths as fast as ten, and the kernel needs milliseconds for each reading of a large mount table;
 * so the operations of a batch go step by step together: all their umounts in a few calls, then one reading, then the
 * removals, which are single system calls.
 */
import type { VolctlError } from '../errors/errors.ts'
import { StepFailed, StepInterrupted } from '../errors/operation-error.ts'
import { defined } from '../lang/defined.ts'
import type { Operation } from '../plan/plan.ts'
import type { ApplyRun } from './apply-run.ts'
import { removeStep } from './mounts/remove.ts'
import { requireGone, umountLayer } from './mounts/umount-step.ts'
import { expectedIds, isExpected } from './operation/expected-mounts.ts'
import type { StepContext } from './operation/step-context.ts'
import { requireConditions, requireStillSo } from './run-operation.ts'
import { type Member, type Umount, umountAll } from './umount-together.ts'

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
      // Most work is synchronous, and awaiting thousands of promises takes long.
      const survives = apply.survives(member.operation, () => work(member))
      if (survives === true || (await survives)) going.push(member)
    }
    members = going
  }
  let asked = performance.now()
  const checked = await apply.survivesAll(operations, async () => {
    await apply.requireNoKubelet()
    return apply.witness(0)
  })
  if (checked === undefined) return
  await keep(({ operation, run }) => requireConditions(operation, run, checked))
  const judged = members.map(({ operation }) => operation)
  if (judged.length === 0) return apply.flushOutcomes()
  const answer = await apply.survivesAll(judged, async () => ({ again: await apply.askAgain(asked) }))
  if (answer === undefined) return
  const { again } = answer
  if (again !== undefined) {
    asked = performance.now()
    around.changed()
    await keep(({ operation, run }) => requireStillSo(operation, run, again))
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
  return new StepFailed(code, why, { cause: error, ...defined({ hint }) })
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

/**
 * Many unmounts at once: one check before, one reading of the mount table after (S26).
 *
 * umount(8) takes a thousand paths as fast as ten, and the kernel needs milliseconds for each reading of a large mount
 * table; so the operations of a batch go step by step together: all their umounts in a few calls, then one reading,
 * then the removals, which are single system calls.
 */
import { VolctlError } from '../errors.ts'
import type { MountInfo } from '../mountinfo/mount-table.ts'
import type { Operation, Step } from '../plan/plan.ts'
import type { ApplyRun } from './apply-run.ts'
import { expectedIds, isExpected } from './expected-mounts.ts'
import { cannotHang } from './file-systems.ts'
import type { CommandResult } from './host.ts'
import { StepFailed } from './operation-error.ts'
import { requireUnused } from './preconditions.ts'
import { removeStep } from './remove.ts'
import { requireConditions } from './run-operation.ts'
import type { StepContext } from './step-context.ts'
import { requireGone, umountLayer } from './umount-step.ts'

export const BATCH_OPERATIONS = 5000
const PATHS_PER_CALL = 500
const LANES = 2
const RECHECK_MS = 2000
const BATCH_STEPS = new Set(['umount', 'unlink', 'rmdir'])

/** Only steps that nothing can hold up: single removals, and umounts of file systems that cannot hang. */
export function isBatchable({ pod, steps, expects }: Operation): boolean {
  return (
    pod !== undefined &&
    steps.every(({ op, detail }) => BATCH_STEPS.has(op) && detail === undefined) &&
    (expects ?? []).every(({ layers }) => layers.every(({ fsType }) => cannotHang(fsType)))
  )
}

interface Member {
  readonly operation: Operation
  readonly steps: StepContext
  cursor: number
}

interface Umount {
  readonly step: Step
  readonly layer: MountInfo
  result?: CommandResult
  /** Why it was not tried. */
  failure?: VolctlError
}

export async function runBatch(operations: readonly Operation[], apply: ApplyRun): Promise<void> {
  const around = apply.surroundings()
  let members: Member[] = operations.map((operation) => ({
    operation,
    steps: apply.begin(operation, around),
    cursor: 0,
  }))
  const keep = async (work: (member: Member) => void | Promise<void>): Promise<void> => {
    const going: Member[] = []
    for (const member of members) if (await apply.survives(member.operation, () => work(member))) going.push(member)
    members = going
  }
  const checked = await apply.survivesAll(operations, async () => {
    await apply.requireNoKubelet()
    return apply.witness(0)
  })
  if (checked === undefined) return
  await keep(({ operation, steps }) => requireConditions(operation, steps, checked))
  if (members.length > 0) apply.intend(members.map(({ operation }) => operation))
  while (members.length > 0) {
    await keep(removeUntilUmount)
    const ended = members.filter(({ operation, cursor }) => cursor >= operation.steps.length)
    for (const { operation } of ended) apply.succeed(operation)
    const over = new Set(ended)
    members = members.filter((member) => !over.has(member))
    if (members.length === 0) break
    const umounts = new Map<Member, Umount[]>()
    await keep((member) => void umounts.set(member, nextUmounts(member)))
    await umountAll(umounts, apply)
    around.changed()
    await keep((member) => verify(member, umounts.get(member) ?? []))
  }
  apply.flushOutcomes()
}

function removeUntilUmount(member: Member): void {
  const { steps } = member.operation
  for (let step = steps[member.cursor]; step !== undefined && step.op !== 'umount'; step = steps[++member.cursor]) {
    removeStep(step, member.steps)
  }
}

/** The umounts that come next in an operation, each with the layer that it is to take: newest first on every path. */
function nextUmounts(member: Member): Umount[] {
  const { operation, steps } = member
  const expected = expectedIds(operation)
  const taken = new Map<string, number>()
  const found: Umount[] = []
  for (let step = operation.steps[member.cursor]; step?.op === 'umount'; step = operation.steps[++member.cursor]) {
    const count = (taken.get(step.target) ?? 0) + 1
    taken.set(step.target, count)
    const layer = steps.around.table.at(step.target).at(-count)
    // Gone already, or not ours: the single umount that verifies will say which.
    if (layer !== undefined && isExpected(layer, expected)) found.push({ step, layer })
  }
  return found
}

/** Two calls at a time; what is of one pod is in one lane, in order. */
async function umountAll(umounts: ReadonlyMap<Member, Umount[]>, apply: ApplyRun): Promise<void> {
  const lanes: [Member, Umount][][] = Array.from({ length: LANES }, () => [])
  const laneOf = new Map<string, [Member, Umount][]>()
  for (const [member, mine] of umounts) {
    const pod = member.operation.pod?.uid ?? ''
    const lane = laneOf.get(pod) ?? lanes.reduce((least, each) => (each.length < least.length ? each : least))
    laneOf.set(pod, lane)
    for (const umount of mine) lane.push([member, umount])
  }
  const started = performance.now()
  await Promise.all(
    lanes.map(async (lane) => {
      for (let index = 0; index < lane.length; index += PATHS_PER_CALL) {
        const rest = lane.slice(index)
        const stop = await reasonToStop(rest, apply, started)
        if (stop !== undefined) return giveUp(rest, stop)
        const part = rest.slice(0, PATHS_PER_CALL).map(([, umount]) => umount)
        const result = await umountPart(part, apply)
        // A call that hangs would hang again.
        if (result.timedOut) return giveUp(rest.slice(PATHS_PER_CALL), HUNG)
      }
    }),
  )
}

const HUNG = new StepFailed('StillAtWork', 'not begun: an umount before it hangs')

async function umountPart(part: readonly Umount[], apply: ApplyRun): Promise<CommandResult> {
  const going = part.filter(({ failure }) => failure === undefined)
  const paths = going.map(({ step }) => step.target)
  const result = paths.length === 0 ? NOTHING : await apply.host.umount(paths, 'plain', apply.timeoutMs)
  for (const umount of going) umount.result = result
  return result
}

const NOTHING: CommandResult = { status: 0, stdout: '', stderr: '', timedOut: false }

/**
 * Between two calls; one that took long (file systems flush when they are unmounted) makes the check before it old:
 * kubelet and pods are looked at again (S26).
 */
async function reasonToStop(
  rest: readonly [Member, Umount][],
  apply: ApplyRun,
  started: number,
): Promise<VolctlError | undefined> {
  if (apply.isStopping) return apply.whyStopping
  if (performance.now() - started < RECHECK_MS) return undefined
  try {
    await apply.requireNoKubelet()
    const witness = await apply.witness(RECHECK_MS)
    for (const [{ operation, steps }, umount] of rest) {
      await requireUnused(operation, witness, steps.context).catch((error) => {
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

/** By mount id; a failure is tried once more by itself, for a clean reason. */
async function verify({ steps }: Member, umounts: readonly Umount[]): Promise<void> {
  for (const { step, layer, result, failure } of umounts) {
    if (failure !== undefined) throw failure
    if (result?.timedOut) requireGone(layer, result, steps)
    const still = steps.around.table.byId(layer.id)
    if (still !== undefined && still.mountPoint === layer.mountPoint) await umountLayer(step, steps)
  }
}

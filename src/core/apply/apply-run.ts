/** The state of one apply of a node: who lives and whether a kubelet is there, and what one operation needs to be carried out. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { present } from '../base/text.ts'
import { cannotHang } from '../linux/location.ts'
import { CameBack, OperationRefused, StepInterrupted, said, type VolctlError } from '../messages/findings.ts'
import type { ApplyEvent } from '../plan/events.ts'
import { TAKING_AWAY } from '../plan/kinds.ts'
import type { Operation, Plan } from '../plan/plan.ts'
import { unfinished } from '../rules/api-now.ts'
import { pathsOf } from '../rules/expected-mounts.ts'
import { type Host, linuxHost } from '../rules/host.ts'
import { NOT_ASKED, WaitingBudget, type Witness } from '../rules/machine-facts.ts'
import { VolumeRecords } from '../rules/node-stack.ts'
import { Surroundings } from '../rules/surroundings.ts'
import type { ContentLook } from '../users/content-look.ts'
import { fileSystemsAt } from '../users/find-holders.ts'
import { hostPathsOf } from '../users/mount-uses.ts'
import type { StepOp } from '../volumes/steps.ts'
import type { Journal } from './journal/write-journal.ts'
import { askLease, askWitness, kubeletCameBack, kubeletIsBack, plannedWithKubelet } from './operation/ask-kubelet.ts'
import { Run } from './operation/run.ts'
import type { ApplyContext, StepContext } from './operation/step.ts'
import { Schedule } from './schedule.ts'

const BREATH = 200

/** Operations that start within this time may share one answer about pods; an older one is asked for again. */
export const WITNESS_AGE_MS = 1000

export class ApplyRun extends Run<Operation> {
  readonly host: Host
  readonly timeoutMs: number
  readonly schedule: Schedule
  readonly #plan: Plan
  readonly #context: ApplyContext
  /** Who is listed and who lives, and whether a kubelet was in charge when that was known: by this machine, or by the node's lease. */
  readonly #witness: (since?: number) => Promise<{ readonly witness: Witness; readonly cameBack?: CameBack }>
  /** One for all operations: a batch begins thousands. */
  readonly #users: (since?: number) => Promise<ContentLook>
  readonly #records: VolumeRecords
  /** For steps that can end early: interrupted, or out of time. */
  readonly #signal: AbortSignal

  constructor(
    plan: Plan,
    operations: readonly Operation[],
    context: ApplyContext,
    journal: Journal,
    emit: (event: ApplyEvent) => void,
  ) {
    super(journal, emit, context.signal)
    this.#plan = plan
    this.#context = context
    this.host = context.host ?? linuxHost
    this.timeoutMs = context.timeoutMs
    this.#signal = AbortSignal.any(present(context.signal, context.kubeletStop?.over))
    this.schedule = new Schedule(operations, this.outcomes, isBatchable)
    this.#records = new VolumeRecords(plan, this.host)
    this.#witness = shared(async () => {
      const asked = Promise.all([askWitness(context, this.timeoutMs), askLease(context, this.timeoutMs)])
      const [witness, renewed] = await asked
      if (plannedWithKubelet(plan)) return { witness, cameBack: undefined }
      // Last, since it asks this machine alone: the API server may have been slow, and a kubelet started meanwhile.
      const isBack = await kubeletIsBack(context)
      return { witness, cameBack: renewed !== undefined || isBack ? kubeletCameBack(renewed) : undefined }
    })
    this.#users = shared(() => this.#lookAtUsers(), lookLastsMs)
  }

  protected settled(operation: Operation, stuck: boolean): void {
    this.schedule.settle(operation, stuck)
  }

  override get isInterrupted(): boolean {
    return super.isInterrupted || this.#context.abandon?.aborted === true
  }

  /** A kubelet that was stopped for it is a change. */
  override get changedSomething(): boolean {
    return super.changedSomething || this.#context.kubeletStop !== undefined
  }

  /** Also where not even a short operation could end before the kubelet has to run again (S35). */
  override get stop(): VolctlError | undefined {
    return super.stop ?? (this.#hasTimeFor(this.timeoutMs) ? undefined : noTimeLeft())
  }

  #hasTimeFor(ms: number): boolean {
    const { kubeletStop } = this.#context
    return kubeletStop === undefined || kubeletStop.leftMs() >= ms
  }

  /** @throws OperationRefused NoTimeLeft: one of them could not end before the kubelet has to run again (S35) */
  override intend(operations: readonly Operation[]): void {
    // What sets up a volume may need as long again to take it back.
    const longest = operations.some(({ kind }) => !TAKING_AWAY.has(kind)) ? 2 * this.timeoutMs : this.timeoutMs
    if (!this.#hasTimeFor(longest)) throw noTimeLeft()
    super.intend(operations)
  }

  /** The error of an operation that is not started for that reason. */
  get whyStopping(): VolctlError {
    return this.stop ?? new StepInterrupted(said('Interrupted.notStarted'))
  }

  surroundings(): Surroundings {
    return new Surroundings(this.#context, this.host, this.#plan.rootDir)
  }

  /** @throws OperationRefused KubeletRunning, if a kubelet is there, or the node's lease shows that one is alive (S11) */
  async witness(maxAgeMs: number): Promise<Witness> {
    const { witness, cameBack } = await this.#witness(performance.now() - maxAgeMs)
    if (cameBack !== undefined) throw this.stopFor(cameBack)
    return witness
  }

  /** @throws OperationRefused KubeletRunning, and starts nothing from then on (S11) */
  async requireNoKubelet(): Promise<void> {
    if (super.stop !== undefined) throw super.stop
    if (plannedWithKubelet(this.#plan) || !(await kubeletIsBack(this.#context))) return
    throw this.stopFor(kubeletCameBack())
  }

  begin(operation: Operation, around = this.surroundings()): StepContext {
    this.started(operation)
    return {
      operation,
      around,
      plan: this.#plan,
      context: this.#context,
      host: this.host,
      witness: NOT_ASKED,
      journal: this.journal,
      waiting: new WaitingBudget(this.timeoutMs),
      signal: this.#signal,
      record: this.#records.of(operation, () => around.table),
      bringUp: {},
      made: [],
      deleted: { files: 0, bytes: 0 },
      users: this.#users,
      say: (message) => this.say(operation, message),
    }
  }

  /** Of what the plan's steps are about. */
  async #lookAtUsers(): Promise<ContentLook> {
    const around = this.surroundings()
    const fileSystems = fileSystemsAt(around.table, this.#plan.operations.flatMap(pathsOf))
    // Every operation has asked for the pods before it asks for users.
    const { witness } = await this.#witness()
    return around.contentLook(fileSystems, hostPathsOf(unfinished(witness)))
  }

  /** Runs the work for each; where it fails, the operation is settled as failed. @returns the others */
  async surviving<T extends { readonly operation: Operation }>(
    all: readonly T[],
    work: (each: T) => void | Promise<void>,
  ): Promise<readonly T[]> {
    const going: T[] = []
    for (const [index, each] of all.entries()) {
      // Gives signals and progress a turn.
      if (index % BREATH === BREATH - 1) await nextTurn()
      try {
        await work(each)
        going.push(each)
      } catch (error) {
        this.#fail(each.operation, error)
      }
    }
    return going
  }

  /** Settles as failed those operations that have no outcome yet. */
  fail(operations: readonly Operation[], error: unknown): void {
    for (const operation of operations) this.#fail(operation, error)
    this.flushOutcomes()
  }

  #fail(operation: Operation, error: unknown): void {
    // A detach asks everything itself, in the second of the deletion, which is all that it changes.
    if (error instanceof OperationRefused && operation.kind === 'DetachVolume') {
      this.changedNothing(operation)
      if (error instanceof CameBack) this.stopFor(error)
    }
    this.settleFailed(operation, error)
  }
}

const BATCH_STEPS: ReadonlySet<StepOp> = new Set(['umount', 'unlink', 'rmdir'])

/**
 * True if the operation may share a batch: it has only steps that cannot hang, removals of single names and umounts of local
 * file systems.
 */
export function isBatchable({ pod, steps, expects }: Operation): boolean {
  return (
    pod !== undefined &&
    steps.every(({ op, detail }) => BATCH_STEPS.has(op) && detail === undefined) &&
    (expects ?? []).every(({ layers }) => layers.every(({ fsType }) => cannotHang(fsType)))
  )
}

function noTimeLeft(): OperationRefused {
  return new OperationRefused(said('NoTimeLeft'))
}

/**
 * An answer that several operations may share for a short time.
 *
 * @param lastsMs how long an answer holds once it is there
 * @returns gives it; one that was asked for before `since` is of no use; default: the last one, as long as it holds
 */
function shared<T>(
  ask: () => Promise<T>,
  lastsMs: (answer: T, tookMs: number) => number = () => Number.POSITIVE_INFINITY,
): (since?: number) => Promise<T> {
  let asked = Number.NEGATIVE_INFINITY
  let until = Number.POSITIVE_INFINITY
  let last: Promise<T> | undefined
  return (since = asked) => {
    const now = performance.now()
    if (last !== undefined && asked >= since && now < until) return last
    const answer = ask()
    last = answer
    asked = now
    // Who asks meanwhile waits for this answer.
    until = Number.POSITIVE_INFINITY
    answer.then(
      (said) => {
        const ended = performance.now()
        until = ended + lastsMs(said, ended - now)
      },
      () => {
        last = undefined
      },
    )
    return answer
  }
}

/** A look for users holds for this long; if it took longer (a node with thousands of processes), for as long as it took. */
const AGE_MS = 200
const MOST_AGE_MS = 1000
/** If something cannot be seen, every deletion is refused. A process that hangs takes the whole limit of a look: it is not repeated soon. */
const REFUSING_AGE_MS = 30_000

/** Deletions that begin within a short time share a look for users: an apply may have thousands (S12, S26). */
function lookLastsMs({ unseen }: ContentLook, tookMs: number): number {
  return unseen.length > 0 ? REFUSING_AGE_MS : Math.min(Math.max(AGE_MS, tookMs), MOST_AGE_MS)
}

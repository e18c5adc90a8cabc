/** The state of one apply: outcomes, events, and whether new operations may still start. */

import type { FailureCode } from '../codes/codes.ts'
import { errnoOf, VolctlError } from '../errors/errors.ts'
import { CameBack, OperationRefused, StepFailed, StepInterrupted } from '../errors/operation-error.ts'
import { diskTrouble } from '../files/disk-trouble.ts'
import type { ContentLook } from '../holders/content-look.ts'
import type { Host } from '../host/host.ts'
import { linuxHost } from '../host/linux-host.ts'
import type { Journal } from '../journal/write-journal.ts'
import { defined } from '../lang/defined.ts'
import { type ApplyEvent, type Outcome, type OutcomeState, operationEvent } from '../plan/events.ts'
import type { Operation, OperationKind, Plan, Step } from '../plan/plan.ts'
import { VolumeRecords } from './disks/volume-records.ts'
import { isBatchable } from './operation/batchable.ts'
import type { ApplyContext, Witness } from './operation/ports.ts'
import {
  askKubelet,
  askLease,
  askWitness,
  kubeletCameBack,
  ownsNode,
  plannedWithKubelet,
  unfinished,
} from './operation/preconditions.ts'
import { Shared, SharedLook } from './operation/shared-look.ts'
import type { StepContext } from './operation/step-context.ts'
import { Surroundings } from './operation/surroundings.ts'
import { WaitingBudget } from './operation/waiting-budget.ts'
import type { StepsDone } from './run-steps.ts'
import { Schedule } from './schedule.ts'

const DEFAULT_TIMEOUT_MS = 120_000

/** Operations that start within this time may share one answer about pods; an older one is asked for again. */
export const WITNESS_AGE_MS = 1000

/** These operations take a device away: the mount namespace of every thread is read before them (S21). */
const TAKING_DEVICES = new Set<OperationKind>(['UnmapVolume', 'UnmountDevice', 'UnmapDevice', 'DetachVolume'])

/** Who is listed and who lives, and whether a kubelet was in charge when that was known. */
interface Answer {
  readonly witness: Witness
  /** Why the node's lease shows that a kubelet is alive. */
  readonly renewed: string | undefined
  readonly owned: boolean
}

export class ApplyRun {
  readonly outcomes = new Map<string, Outcome>()
  readonly host: Host
  readonly timeoutMs: number
  readonly schedule: Schedule
  readonly #plan: Plan
  readonly #context: ApplyContext
  readonly #journal: Journal
  readonly #emit: (event: ApplyEvent) => void
  readonly #witness: Shared<Answer>
  readonly #users: SharedLook
  readonly #records: VolumeRecords
  readonly #begun = new Map<string, number>()
  #unwritten: object[] = []
  #stop: VolctlError | undefined
  /** Operations that may have changed something. */
  readonly #changing = new Set<string>()

  constructor(
    plan: Plan,
    operations: readonly Operation[],
    context: ApplyContext,
    journal: Journal,
    emit: (event: ApplyEvent) => void,
  ) {
    this.#plan = plan
    this.#context = context
    this.#journal = journal
    this.#emit = emit
    this.host = context.host ?? linuxHost
    this.timeoutMs = context.timeoutMs ?? DEFAULT_TIMEOUT_MS
    this.schedule = new Schedule(operations, isBatchable)
    this.#records = new VolumeRecords(plan, this.host)
    this.#witness = new Shared(async () => {
      const asked = Promise.all([askWitness(context, this.timeoutMs), askLease(context, this.timeoutMs)])
      const [witness, renewed] = await asked
      // Last, since it asks this machine alone: the API server may have been slow, and a kubelet started meanwhile.
      return { witness, renewed, owned: !plannedWithKubelet(plan) && ownsNode(await askKubelet(context)) }
    })
    // Every operation has asked for the pods before it asks for users.
    const lastHeard = async (): Promise<Witness> => (await this.#witness.get(Number.POSITIVE_INFINITY)).witness
    this.#users = new SharedLook(plan, context, this.host, async () => unfinished(await lastHeard()))
  }

  /** Why no more operations are started, unless the reason is an interruption. */
  get stop(): VolctlError | undefined {
    return this.#stop
  }

  /** At least one operation got past its preconditions. */
  get changedSomething(): boolean {
    return this.#changing.size > 0
  }

  get isStopping(): boolean {
    return this.#stop !== undefined || this.#context.signal?.aborted === true
  }

  /** The error of an operation that is not started for that reason. */
  get whyStopping(): VolctlError {
    return this.#stop ?? new StepInterrupted('not started: the apply was interrupted')
  }

  /** @param everyThread read the namespaces of every thread: before a device is taken away */
  surroundings(everyThread = false): Surroundings {
    return new Surroundings(this.#context, this.host, this.#plan.rootDir, everyThread)
  }

  /** @throws OperationRefused KubeletCameBack, if a kubelet is there, or the node's lease shows that one is alive (S11) */
  async witness(maxAgeMs: number): Promise<Witness> {
    const { witness, renewed, owned } = await this.#witness.get(maxAgeMs)
    if (renewed !== undefined && !plannedWithKubelet(this.#plan)) throw this.#stopForKubelet(renewed)
    if (owned) throw this.#stopForKubelet()
    return witness
  }

  /** @throws OperationRefused KubeletCameBack, and starts nothing from then on (S11) */
  async requireNoKubelet(): Promise<void> {
    if (this.#stop !== undefined) throw this.#stop
    if (plannedWithKubelet(this.#plan) || !ownsNode(await askKubelet(this.#context))) return
    throw this.#stopForKubelet()
  }

  /**
   * Asked once the conditions of an operation have been judged. That may have taken long, because of a slow API server, a dead
   * mount, a stopped terminal or a suspended process, and a kubelet may have started meanwhile (S11, S26).
   *
   * @param asked when kubelet and pods were asked for
   * @returns the pods as they are now, if that is too long ago
   * @throws OperationRefused KubeletCameBack
   */
  async askAgain(asked: number): Promise<Witness | undefined> {
    return performance.now() - asked <= WITNESS_AGE_MS ? undefined : await this.witness(WITNESS_AGE_MS)
  }

  #stopForKubelet(why?: string): VolctlError {
    this.#stop ??= kubeletCameBack(why)
    return this.#stop
  }

  begin(operation: Operation, around = this.surroundings(TAKING_DEVICES.has(operation.kind))): StepContext {
    this.#begun.set(operation.id, performance.now())
    this.#emit(operationEvent('start', operation, operation.message))
    return {
      operation,
      around,
      plan: this.#plan,
      context: this.#context,
      host: this.host,
      journal: this.#journal,
      waiting: new WaitingBudget(this.timeoutMs),
      signal: this.#context.signal,
      record: this.#records.of(operation, () => around.table),
      bringUp: {},
      users: this.#lookForUsers,
      say: this.#sayerOf(operation),
    }
  }

  /** One for all operations: a batch begins thousands. */
  readonly #lookForUsers = (): Promise<ContentLook> => this.#users.get()

  #sayerOf(operation: Operation): (message: string) => void {
    return (message) => this.#emit(operationEvent('step', operation, message))
  }

  sayStep(operation: Operation, step: Step): void {
    this.#emit(operationEvent('step', operation, `${step.op} ${step.target}`, { step }))
  }

  /** Writes the intent to the journal, and waits until it is on the disk, before anything is changed. */
  intend(operations: readonly Operation[]): true {
    try {
      this.#journal.write({ type: 'intent', operations: operations.map(intentOf) })
    } catch (error) {
      if (error instanceof VolctlError) this.#stop ??= error
      throw error
    }
    for (const { id } of operations) this.#changing.add(id)
    return true
  }

  /** Runs the work of one operation and records its outcome. */
  async attempt(operation: Operation, work: () => Promise<StepsDone & { message: string }>): Promise<void> {
    await this.survives(operation, async () => {
      const { deleted, message } = await work()
      this.succeed(operation, message, deleted.files > 0 ? { deleted } : {})
    })
    this.flushOutcomes()
  }

  /**
   * Runs the work; if it fails, the operation is settled as failed.
   *
   * @returns whether it succeeded; a plain value, not a promise, if the work is synchronous
   */
  survives(operation: Operation, work: () => void | Promise<void>): boolean | Promise<boolean> {
    // A batch calls this ten thousands of times, nearly always for work that is done at once.
    try {
      const going = work()
      return going === undefined || this.#survived(operation, going)
    } catch (error) {
      this.#fail(operation, error)
      return false
    }
  }

  async #survived(operation: Operation, going: Promise<void>): Promise<boolean> {
    try {
      await going
      return true
    } catch (error) {
      this.#fail(operation, error)
      return false
    }
  }

  async survivesAll<T>(operations: readonly Operation[], work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      this.fail(operations, error)
      return undefined
    }
  }

  /** Settles as failed those operations that have no outcome yet. */
  fail(operations: readonly Operation[], error: unknown): void {
    for (const operation of operations) this.#fail(operation, error)
    this.flushOutcomes()
  }

  succeed(operation: Operation, message = operation.message, more: Pick<Outcome, 'deleted'> = {}): void {
    this.settle(operation, 'done', { message, ...more })
  }

  settle(
    operation: Operation,
    state: OutcomeState,
    more: Pick<Outcome, 'message' | 'code' | 'hint' | 'deleted' | 'because' | 'differences'>,
    stuck = false,
  ): void {
    if (this.outcomes.has(operation.id)) return
    const begun = this.#begun.get(operation.id)
    const elapsedMs = begun === undefined ? 0 : Math.round(performance.now() - begun)
    const outcome: Outcome = { id: operation.id, kind: operation.kind, state, elapsedMs, ...more }
    this.outcomes.set(operation.id, outcome)
    // A blocked operation was never going to run; every other one was asked for, and gets its line in the journal.
    if (state !== 'blocked') this.#unwritten.push({ ...outcome, ...subjectOf(operation) })
    this.schedule.settle(operation, outcome, stuck)
    const { message, code, hint, differences } = outcome
    this.#emit(
      operationEvent(state, operation, message, {
        elapsedMs,
        ...defined({ code, hint, differences }),
      }),
    )
  }

  /** Writes outcomes to the journal. If that fails, the apply starts nothing more. */
  flushOutcomes(): void {
    if (this.#unwritten.length === 0) return
    const outcomes = this.#unwritten
    this.#unwritten = []
    try {
      this.#journal.write({ type: 'outcome', outcomes })
    } catch (error) {
      if (error instanceof VolctlError) this.#stop ??= error
    }
  }

  #fail(operation: Operation, error: unknown): void {
    const { code, message, hint } = explain(error)
    // A detach asks everything itself, in the second of the deletion, which is all that it changes.
    if (error instanceof OperationRefused && operation.kind === 'DetachVolume') {
      this.#changing.delete(operation.id)
      if (error instanceof CameBack) this.#stop ??= error
    }
    const stuck = error instanceof StepFailed && error.stuck
    const state =
      error instanceof StepInterrupted ? 'interrupted' : error instanceof OperationRefused ? 'refused' : 'failed'
    this.settle(operation, state, { code, message, ...defined({ hint }) }, stuck)
  }
}

function intentOf({ id, kind, reason, message, pod, volume, steps, expects, basis, attachment }: Operation): object {
  return { id, kind, reason, message, pod, volume, steps, expects, basis, attachment }
}

/** Pod and volume go into every outcome: a refused operation has no intent in the journal that names them. */
function subjectOf({ pod, volume }: Operation): object {
  return { pod, volume: volume?.name }
}

function explain(error: unknown): { code: FailureCode; message: string; hint: string | undefined } {
  if (error instanceof VolctlError) return { code: error.code, message: error.message, hint: error.hint }
  const { message } = error as { message?: unknown }
  return { code: errnoOf(error) ?? 'Failed', message: String(message ?? error), hint: diskTrouble(error)?.hint }
}

/** The state of one apply, of a node or of a cluster: what each operation came to, said and written down, and why nothing more is started. */

import type { FailureCode } from '../../messages/codes.ts'
import { diskTrouble } from '../../messages/disk-trouble.ts'
import {
  errnoOf,
  OperationRefused,
  StepDetached,
  StepFailed,
  StepInterrupted,
  said,
  saidOfAny,
  VolctlError,
} from '../../messages/findings.ts'
import type { AnyOperation } from '../../plan/cluster-plan.ts'
import {
  type ApplyEvent,
  type EventSubject,
  type Outcome,
  type OutcomeState,
  operationEvent,
  saidOf,
} from '../../plan/events.ts'
import type { Operation } from '../../plan/plan.ts'
import type { Journal } from '../journal/write-journal.ts'

export interface AnyPlan<Op extends AnyOperation> {
  readonly operations: readonly Op[]
}

/** What an outcome says beside its state. */
type Said = Pick<Outcome, 'message' | 'code' | 'args' | 'hint' | 'deleted' | 'because' | 'differences'>

export abstract class Run<Op extends AnyOperation> {
  readonly outcomes = new Map<string, Outcome>()
  readonly journal: Journal
  readonly #emit: (event: ApplyEvent) => void
  readonly #signal: AbortSignal | undefined
  readonly #begun = new Map<string, number>()
  /** Operations that may have changed something. */
  readonly #changing = new Set<string>()
  /** Of what is settled, what it is of. */
  readonly #names = new Map<string, string>()
  #unwritten: object[] = []
  #stop: VolctlError | undefined

  /** @param signal aborted: start no more operations */
  constructor(journal: Journal, emit: (event: ApplyEvent) => void, signal: AbortSignal | undefined) {
    this.journal = journal
    this.#emit = emit
    this.#signal = signal
  }

  /** Called once an outcome is among `outcomes`, before the message. */
  protected abstract settled(operation: Op, stuck: boolean): void

  /** Why no more operations are started, unless the reason is an interruption. */
  get stop(): VolctlError | undefined {
    return this.#stop
  }

  /** At least one operation got past its preconditions. */
  get changedSomething(): boolean {
    return this.#changing.size > 0
  }

  get isInterrupted(): boolean {
    return this.#signal?.aborted === true
  }

  get isStopping(): boolean {
    return this.stop !== undefined || this.isInterrupted
  }

  /** Nothing more is started, for the first reason that there was. @returns that reason */
  stopFor(error: VolctlError): VolctlError {
    this.#stop ??= error
    return this.#stop
  }

  started(operation: Op): void {
    this.#begun.set(operation.id, performance.now())
    this.#emit(operationEvent('start', subjectOf(operation), operation.message))
  }

  say(operation: Op, message: string, more: Pick<ApplyEvent, 'code' | 'hint' | 'step'> = {}): void {
    this.#emit(operationEvent('step', subjectOf(operation), message, more))
  }

  /** Writes the intent to the journal, and waits until it is on the disk, before anything is changed (S14). */
  intend(operations: readonly Op[]): void {
    this.#write({ type: 'intent', operations: operations.map(intentOf) })
    for (const { id } of operations) this.#changing.add(id)
  }

  /** For an operation that failed before the one thing that it changes. */
  protected changedNothing({ id }: Op): void {
    this.#changing.delete(id)
  }

  settle(operation: Op, state: OutcomeState, said: Said, stuck = false): void {
    const { id, kind } = operation
    if (this.outcomes.has(id)) return
    const begun = this.#begun.get(id)
    const elapsedMs = begun === undefined ? 0 : Math.round(performance.now() - begun)
    const outcome: Outcome = { id, kind, state, elapsedMs, ...said }
    this.outcomes.set(id, outcome)
    const subject = subjectOf(operation)
    this.#names.set(id, subject.volume?.name ?? subject.pod?.uid ?? id)
    // A blocked operation was never going to run; every other one was asked for, and gets its line in the journal. Pod and
    // volume are in each: a refused operation has no intent there that names them.
    if (state !== 'blocked') this.#unwritten.push({ ...outcome, pod: subject.pod, volume: subject.volume?.name })
    this.settled(operation, stuck)
    const { message, code, args, hint, differences } = outcome
    this.#emit(operationEvent(state, subject, message, { elapsedMs, code, args, hint, differences }))
  }

  /** Settles as failed, or as what the error says, an operation that has no outcome yet. */
  settleFailed(operation: Op, error: unknown): void {
    this.settle(operation, stateAfter(error), explain(error), error instanceof StepFailed && error.stuck)
  }

  /** S26: what must come first did not succeed, or is not part of this apply. */
  settleSkipped(operation: Op, because: string, code: FailureCode = 'Predecessor'): void {
    const before = this.outcomes.get(because)
    const why =
      before === undefined
        ? saidOfAny(code, 'notPart', { because })
        : saidOfAny(code, 'after', { kind: before.kind, name: this.#names.get(because), state: before.state })
    this.settle(operation, 'skipped', { ...saidOf(why), because })
  }

  settleInterrupted(operation: Op): void {
    this.settle(operation, 'interrupted', said('Interrupted.notStarted'))
  }

  /** Writes outcomes to the journal. If that fails, the apply starts nothing more. */
  flushOutcomes(): void {
    if (this.#unwritten.length === 0) return
    const outcomes = this.#unwritten
    this.#unwritten = []
    try {
      this.#write({ type: 'outcome', outcomes })
    } catch {
      // What was done is done, and the message is out.
    }
  }

  /** @throws VolctlError JournalFailed, which stops the apply */
  #write(entry: Parameters<Journal['write']>[0]): void {
    try {
      this.journal.write(entry)
    } catch (error) {
      if (error instanceof VolctlError) this.stopFor(error)
      throw error
    }
  }
}

/** What an event, and the journal, say of an operation: of a cluster's pods the first. */
export function subjectOf(operation: AnyOperation): EventSubject {
  return 'pods' in operation ? { ...operation, pod: operation.pods[0] } : operation
}

function intentOf(operation: AnyOperation): object {
  const { pod, node } = subjectOf(operation)
  const { id, kind, reason, message, volume, steps, basis, attachment } = operation
  const { expects } = operation as Partial<Operation>
  return { id, kind, reason, message, pod, node, volume, steps, expects, basis, attachment }
}

function stateAfter(error: unknown): OutcomeState {
  if (error instanceof StepInterrupted) return 'interrupted'
  if (error instanceof StepDetached) return 'done'
  return error instanceof OperationRefused ? 'refused' : 'failed'
}

function explain(error: unknown): Said {
  if (error instanceof VolctlError) return saidOf(error)
  const { message } = error as { message?: unknown }
  const code: FailureCode = errnoOf(error) ?? 'Unexpected'
  return saidOf({ code, message: String(message ?? error), hint: diskTrouble(error)?.hint })
}

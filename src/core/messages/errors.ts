/** What goes wrong: errors of a command, errors of an operation, the exit status; and what is closed at the end whatever happens. */

import { closeSync } from 'node:fs'
import { isOutsideCode, type OutsideCode } from './code-entry.ts'
import { type FailureCode, type RefusalCode, remedyOf } from './codes.ts'
import { type Finding, type SaidArgs, type Sentence, said } from './said.ts'

/** A process that uses what an operation would take away. */
export interface UsingProcess {
  readonly pid: number
  readonly process: string
}

export interface VolctlErrorOptions {
  readonly cause?: unknown
  /** A next step for the person, where the code's own says too little; what takes long to find out is found out when somebody reads it. */
  readonly hint?: string | (() => string)
  readonly exit?: ExitStatus
  /** Those that the message names: for whoever counts or joins them. */
  readonly users?: readonly UsingProcess[]
}

/**
 * A failure volctl can explain: what happened on which object, and what the person can do next.
 * `code` is stable and CamelCase; views print `code`, `message` and `hint`, never a stack.
 */
export class VolctlError extends Error {
  readonly code: FailureCode
  readonly args: Finding['args']
  readonly exit: ExitStatus
  readonly users: readonly UsingProcess[]
  #hint: VolctlErrorOptions['hint']

  constructor({ code, message, args }: Finding<FailureCode>, options: VolctlErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.args = args
    this.users = options.users ?? []
    this.#hint = options.hint
    this.exit = options.exit ?? ExitStatus.Failed
  }

  get hint(): string | undefined {
    if (typeof this.#hint === 'function') this.#hint = this.#hint()
    return this.#hint ?? remedyOf(this.code)
  }
}

/** Of what was typed. */
export function usageError<const Of extends Sentence & `Usage.${string}`>(
  sentence: Of,
  hint: string,
  ...args: SaidArgs<Of>
): VolctlError {
  return new VolctlError(said(sentence, ...args), { hint })
}

/** A refusal by a safety rule: exit status 4, nothing was changed. `rule` is the S-rule, e.g. "S1". */
export class SafetyRefusal extends VolctlError {
  readonly rule: string

  constructor(rule: string, finding: Finding<RefusalCode>, options: Omit<VolctlErrorOptions, 'exit'> = {}) {
    super(finding, { ...options, exit: ExitStatus.Refused })
    this.rule = rule
  }
}

/** A person, or a signal, ended it. */
export class Interrupted extends VolctlError {
  constructor(finding: Finding<'Interrupted'> = said('Interrupted.nothing')) {
    super(finding, { exit: ExitStatus.Interrupted })
  }
}

/** The message of anything thrown, for a line of output. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Node's errno code (ENOENT, EBUSY …) of anything thrown, if it has one. */
export function errnoOf(error: unknown): OutsideCode | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && isOutsideCode(code) ? code : undefined
}

/** The code of anything thrown: ours, or an errno. */
export function codeOf(error: unknown): FailureCode | undefined {
  return error instanceof VolctlError ? error.code : errnoOf(error)
}

/** Thrown where there is nothing of that name. */
export const MISSING = ['ENOENT', 'ENOTDIR']

export function isMissing(error: unknown): boolean {
  return MISSING.includes(errnoOf(error) ?? '')
}

/** @param absent what stands for it where it fails with one of these codes @throws any other failure */
export function allowing<T, A>(codes: readonly string[], absent: A, work: () => T): T | A {
  try {
    return work()
  } catch (error) {
    if (codes.includes(errnoOf(error) ?? '')) return absent
    throw error
  }
}

interface StepOptions extends Omit<VolctlErrorOptions, 'exit'> {
  readonly stuck?: boolean
}

/** Why an operation was not begun: what it was decided on does not hold any more (S26). */
export class OperationRefused extends VolctlError {}

/** The kubelet or the controller runs again, and the rest is its work: nothing more is started, and the apply is refused (S11). */
export class CameBack extends OperationRefused {
  declare readonly code: 'KubeletRunning' | 'ControllerRunning'

  constructor(finding: Finding<CameBack['code']>) {
    super(finding)
  }
}

/** Why a step failed. `stuck`: an abandoned call may still be running; the volume is left alone from then on. */
export class StepFailed extends VolctlError {
  readonly stuck: boolean

  constructor(finding: Finding<FailureCode>, options: StepOptions = {}) {
    super(finding, options)
    this.stuck = options.stuck ?? false
  }
}

/** The mount is gone, as was asked; what stays unknown holds the volume's other operations (S20). */
export class StepDetached extends StepFailed {}

/** The person ended the apply before the step did. */
export class StepInterrupted extends StepFailed {}

/** The step's time is over (--timeout). */
export class StepTimedOut extends StepFailed {}

/** What uses a mount or a device could not be seen: it counts as in use (S25). */
export class UsersUnknown extends StepFailed {}

/** Every exit status of volctl, once, with its meaning (contract, "Exit status"). */
export const ExitStatus = {
  Ok: 0,
  /** It could not do its work; nothing was changed. Usage errors too. */
  Failed: 1,
  /** plan --detailed-exitcode: there are operations. */
  Changes: 2,
  /** apply: some operations failed, were blocked, refused or abandoned. */
  Partial: 3,
  /** Refused for safety. */
  Refused: 4,
  /** plan --detailed-exitcode: nothing to do here, and something waits for someone else. wait: not reached. */
  Waiting: 5,
  Interrupted: 130,
} as const

export type ExitStatus = (typeof ExitStatus)[keyof typeof ExitStatus]

/** What is made of an open file or directory, which is closed whatever becomes of that. */
export function closing<T>(opened: number, work: (fd: number) => T): T {
  try {
    return work(opened)
  } finally {
    closeSync(opened)
  }
}

/** The same of one that is handed on: it stays open, unless that fails. */
export function closingOnError<T>(opened: number, work: (fd: number) => T): T {
  try {
    return work(opened)
  } catch (error) {
    closeSync(opened)
    throw error
  }
}

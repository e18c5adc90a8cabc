import { isOutsideCode, type OutsideCode } from '../messages/code-entry.ts'
import { type FailureCode, type RefusalCode, remedyOf } from '../messages/codes.ts'
import { ExitStatus } from './exit-status.ts'

/** A process that uses what an operation would take away. */
export interface UsingProcess {
  readonly pid: number
  readonly process: string
}

export interface VolctlErrorOptions {
  readonly cause?: unknown
  /** A next step for the person, where the code's own says too little; what takes long to find out is found out when somebody reads it. */
  readonly hint?: string | (() => string) | undefined
  readonly exit?: ExitStatus
  /** Those that the message names: for whoever counts or joins them. */
  readonly users?: readonly UsingProcess[]
}

/**
 * A failure volctl can explain: what happened on which object, and what the person can do next.
 * `code` is stable and CamelCase; views print `code`, `message` and `hint`, never a stack.
 */
export class VolctlError extends Error {
  override readonly name: string = 'VolctlError'
  readonly code: FailureCode
  readonly exit: ExitStatus
  readonly users: readonly UsingProcess[]
  #hint: VolctlErrorOptions['hint']

  constructor(code: FailureCode, message: string, options: VolctlErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
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
export function usageError(message: string, hint: string): VolctlError {
  return new VolctlError('Usage', message, { hint })
}

/** Nothing has the name that was asked for. */
export class NotFound extends VolctlError {
  constructor(message: string, options: Omit<VolctlErrorOptions, 'exit'> = {}) {
    super('NotFound', message, options)
  }
}

/** A refusal by a safety rule: exit status 4, nothing was changed. `rule` is the S-rule, e.g. "S1". */
export class SafetyRefusal extends VolctlError {
  override readonly name = 'SafetyRefusal'
  readonly rule: string

  constructor(rule: string, code: RefusalCode, message: string, options: Omit<VolctlErrorOptions, 'exit'> = {}) {
    super(code, message, { ...options, exit: ExitStatus.Refused })
    this.rule = rule
  }
}

/** A person, or a signal, ended it. */
export class Interrupted extends VolctlError {
  constructor(message = 'interrupted: nothing was changed', options: Pick<VolctlErrorOptions, 'hint'> = {}) {
    super('Interrupted', message, { ...options, exit: ExitStatus.Interrupted })
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

/**
 * Findings: a code of the catalogue with what is said of it. What goes wrong: errors of a command and of an operation, which carry one; the
 * exit status; and what is closed at the end whatever happens.
 */

import { closeSync } from 'node:fs'
import { type CodeEntry, isOutsideCode, type OutsideCode } from './code-entry.ts'
import { CODES, type Code, type FailureCode, type RefusalCode, remedyOf } from './codes.ts'
import { Advice, advice, type Hint, marked } from './command.ts'

type Says<Of extends Code> = (typeof CODES)[Of] extends { readonly says: infer Texts } ? Texts : never

/** A code, or of one that has several sentences the code and the name of one: `Swapped.link`. */
export type Sentence = {
  [Each in Code]: Says<Each> extends string ? Each : `${Each}.${keyof Says<Each> & string}`
}[Code]

type CodeOf<Of extends Sentence> = Of extends `${infer Each extends Code}.${string}` ? Each : Of & Code
type TextOf<Of extends Sentence> = Of extends `${infer Each extends Code}.${infer Name}`
  ? Says<Each>[Name & keyof Says<Each>]
  : Says<Of & Code>
type Slots<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Slots<Rest> : never

type Values<Text> = Readonly<Record<Slots<Text>, string | number | undefined>>

/** By the names in the sentence. */
export type Args<Of extends Sentence> = Values<TextOf<Of>>

/** Nothing, where the sentence has no names in it. */
export type SaidArgs<Of extends Sentence> = keyof Args<Of> extends never ? [] : [args: Args<Of>]

/** What is wrong, or what is waited for. */
export interface Finding<Of extends string = string> {
  readonly code: Of
  readonly message: string
  /** What the message is made of; absent: it is of no sentence of the catalogue. */
  readonly args?: Readonly<Record<string, string | number | undefined>>
}

/**
 * @param sentence a code, or `Code.name` where a code has several sentences
 * @param args what the sentence is about, by the names in it
 * @returns the finding, with the message that is made of both
 */
export function said<const Of extends Sentence>(sentence: Of, ...[args]: SaidArgs<Of>): Finding<CodeOf<Of>> {
  const [code = '', name = ''] = sentence.split('.')
  const { says }: CodeEntry = CODES[code as Code]
  const text = (typeof says === 'string' ? says : says?.[name]) ?? ''
  return filled(code as CodeOf<Of>, text, args)
}

/** Callers that choose among sentences give what any of them names: a finding has what its own does. */
function filled<Of extends string>(code: Of, text: string, given: Finding['args']): Finding<Of> {
  const args: Record<string, string | number | undefined> = {}
  const message = text.replace(/\{(\w+)\}/g, (_, slot: string) => {
    args[slot] = given?.[slot]
    return `${args[slot]}`
  })
  return { code, message, args: given && args }
}

/** Said with any code: of what a driver, the kernel or the API server refuses, of what failed first, of what was not read. */
export const OF_ANY_CODE = {
  why: '{why}',
  answered: '{server}: {why}',
  notDone: '{what} could not be {done}{why}',
  unread: '{object} could not be read: {why}',
  unplaced: 'the mount table does not show where {target} is',
  call: '{driver}: {call} failed: {why}',
  openCall: '{driver}: {call} failed: {why}; the driver may still complete it',
  heldCall: '{driver}: {call} failed: {why}; held by {who}',
  remains: '{why}; left as it is: {remains}',
  rest: 'some of it is done; the rest: {why}',
  now: 'blocked now: {why}',
  content: 'volume {specName}: {why}',
  noPods: '{path} does not exist, though every kubelet creates it: which volumes the pods have is not known',
  kept: '{path} ({size} bytes) {what}; volctl does not delete it',
  stray: '{path} {why}',
  lost: '{message}; a kubelet that starts deletes {what}',
  notPart: 'not started: operation {because} must come first and is not part of this apply',
  after: 'not started: {kind} of {name} must come first, and ended as {state}',
} as const

/** @param name of a sentence in OF_ANY_CODE */
export function saidOfAny<const Of extends string, const Name extends keyof typeof OF_ANY_CODE>(
  code: Of,
  name: Name,
  args: Values<(typeof OF_ANY_CODE)[Name]>,
): Finding<Of> {
  return filled(code, OF_ANY_CODE[name], args)
}

// What a person does about it, said with it.
export { Advice, advice, type Hint, marked }

// Errors.

/** A process that uses what an operation would take away. */
export interface UsingProcess {
  readonly pid: number
  readonly process: string
}

export interface VolctlErrorOptions {
  readonly cause?: unknown
  /** A next step for the person, where the code's own says too little; what takes long to find out is found out when somebody reads it. */
  readonly hint?: Hint | (() => Hint)
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

  get hint(): Hint | undefined {
    if (typeof this.#hint === 'function') this.#hint = this.#hint()
    return this.#hint ?? remedyOf(this.code)
  }
}

/** Of what was typed. */
export function usageError<const Of extends Sentence & `Usage.${string}`>(
  sentence: Of,
  hint: Hint,
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

/** Short enough for a table: the errno, otherwise the message. */
export function errorWord(error: unknown): string {
  return errnoOf(error) ?? errorMessage(error)
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

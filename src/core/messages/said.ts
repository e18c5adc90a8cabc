/** What is said with a code: its sentence stands in the catalogue, and whoever finds something gives what the sentence is about. */
import type { CodeEntry } from './code-entry.ts'
import { CODES, type Code } from './codes.ts'

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
  const args = given && Object.fromEntries(Object.entries(given).filter(([slot]) => text.includes(`{${slot}}`)))
  return { code, message: text.replace(/\{(\w+)\}/g, (_, slot: string) => `${args?.[slot]}`), args }
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

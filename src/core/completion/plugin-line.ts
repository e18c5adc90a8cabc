/**
 * `volctl __complete_plugin WORD… CURRENT`, which kubectl_complete-volctl asks: kubectl's protocol for plugins. A value a line, and after
 * a tab what it is; the last line is ":" and a number that says what the shell may add. The scripts for volctl itself take the line apart
 * in the shell; here the same is done once, for every shell that kubectl knows.
 */
import { answerText, inTime, valuesFor } from './answer-completion.ts'
import { type CommandSpec, commandSpecs, type FlagSpec, spellings, type Values } from './spec.ts'

/** Bits of kubectl's directive. */
const NO_SPACE = 2
const NO_FILES = 4
const DIRECTORIES = 16

/** @param commands as the manifest has them @param root volctl's own directory @param write takes the answer, once */
export async function answerPlugin(
  words: readonly string[],
  commands: Parameters<typeof commandSpecs>[0],
  root: string,
  write: (text: string) => Promise<void>,
): Promise<void> {
  await inTime((signal) => pluginText(words, commandSpecs(commands), root, signal), write)
}

/** The values that begin as it has been typed, and the directive. */
export async function pluginText(
  words: readonly string[],
  specs: readonly CommandSpec[],
  root: string,
  signal: AbortSignal,
): Promise<string> {
  const { values, current, lead } = placeOf(words, specs)
  if (values.kind === 'file' || (isThing(values) && current.startsWith('/'))) return ':0\n'
  if (values.kind === 'directory') return `:${DIRECTORIES}\n`
  if (values.kind === 'free') return `:${NO_FILES}\n`
  const found =
    values.kind === 'live'
      ? await valuesFor([values.of, current, ...words.slice(0, -1)], root, signal)
      : values.words.map((value) => ({ value: `${lead}${value}` }))
  const text = answerText(found, current)
  const isOpen = text.split('\n').some((line) => line.split('\t', 1)[0]?.endsWith('/'))
  return `${text}:${NO_FILES | (isOpen ? NO_SPACE : 0)}\n`
}

function isThing(values: Values): boolean {
  return values.kind === 'live' && values.of === 'thing'
}

export interface TypedPlace {
  readonly values: Values
  /** What of the value has been typed: without `--flag=`. */
  readonly current: string
  /** Of a list the part up to its last comma, which each value repeats. */
  readonly lead: string
}

const FREE: Values = { kind: 'free' }

/** What may stand in the place of the last word. */
export function placeOf(typed: readonly string[], specs: readonly CommandSpec[]): TypedPlace {
  const [words, last] = [typed.slice(0, -1), typed.at(-1) ?? '']
  const at = words.findIndex((word) => !word.startsWith('-'))
  const command = specs.find(({ name }) => name === words[at])
  if (at === -1)
    return inPlace({ kind: 'words', words: [...specs.map(({ name }) => name), '--help', '--version'] }, last)
  if (command === undefined) return inPlace(FREE, last)
  const { flag, place, isOver } = walk(command, words.slice(at + 1))
  if (flag?.values !== undefined) return inPlace(flag.values, last)
  const [, name = '', value] = isOver ? [] : (/^(--[a-z-]+)=(.*)$/s.exec(last) ?? [])
  if (value !== undefined) return inPlace(flagOf(command, name)?.values ?? FREE, value)
  if (!isOver && last.startsWith('-')) return inPlace({ kind: 'words', words: command.flags.flatMap(spellings) }, last)
  const argument = command.args[place] ?? command.args.findLast(({ repeatable }) => repeatable)
  return inPlace(argument?.values ?? FREE, last)
}

function inPlace(values: Values, current: string): TypedPlace {
  return { values, current, lead: values.kind === 'list' ? (/^.*,/s.exec(current)?.[0] ?? '') : '' }
}

/** The flag whose value is to come, and how many arguments stand before. */
function walk(command: CommandSpec, words: readonly string[]) {
  let place = 0
  let flag: FlagSpec | undefined
  for (const [index, word] of words.entries()) {
    const isValue = flag !== undefined
    flag = undefined
    if (isValue) continue
    if (word === '--') return { flag, place: place + words.length - index - 1, isOver: true }
    if (!word.startsWith('-')) place++
    else if (!word.includes('=')) {
      const found = flagOf(command, word)
      if (found?.values !== undefined) flag = found
    }
  }
  return { flag, place, isOver: false }
}

function flagOf({ flags }: CommandSpec, word: string): FlagSpec | undefined {
  return flags.find((flag) => spellings(flag).includes(word))
}

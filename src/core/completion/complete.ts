/**
 * `volctl __complete WORD… CURRENT`, which every completion script asks while a person types, by kubectl's protocol for plugins: a
 * value a line, and after a tab what it is; the last line is ":" and a number that says what the shell may add. Quick, and silent
 * whatever goes wrong: nothing is changed, no program is started, nobody is asked for anything.
 */

import { join } from 'node:path'
import { ADMIN_FILES } from '../api/kubeconfig/kube-config.ts'
import { mergeKubeConfigs, type RawKubeConfig, readKubeConfigFile } from '../api/kubeconfig/kube-config-file.ts'
import { shippedRules } from '../explain/rule-book.ts'
import { callerPath } from '../trust/caller.ts'
import { environment } from '../trust/environment.ts'
import { isTerminalSafe } from '../views/terminal-safe.ts'
import { clusterNames } from './cluster-names.ts'
import { nodeNames } from './node-names.ts'
import { type CommandSpec, commandSpecs, type FlagSpec, type LiveKind, spellings, type Values } from './spec.ts'
import { typedFlags } from './typed-flags.ts'
import { type Value, valuesOf, wordValues } from './values.ts'

/** From the start of the process: longer, and a person takes the terminal for stuck. */
const DEADLINE_MS = 1000
const MOST_VALUES = 2000
const ABOUT_LENGTH = 60

/** Bits of the number in the last line. */
const NO_SPACE = 2
const NO_FILES = 4
const DIRECTORIES = 16

/**
 * What has been made by the deadline, or nothing.
 *
 * @param words what follows `__complete`
 * @param commands as the manifest has them
 * @param root volctl's own directory
 * @param write takes the answer, once
 */
export async function answerCompletion(
  words: readonly string[],
  commands: Parameters<typeof commandSpecs>[0],
  root: string,
  write: (text: string) => Promise<void>,
): Promise<void> {
  const remaining = Math.max(0, Math.floor(DEADLINE_MS - performance.now()))
  // What hangs is left where it is: the process ends.
  const late = setTimeout(() => process.exit(0), remaining)
  try {
    await write(await completionText(words, commandSpecs(commands), root, AbortSignal.timeout(remaining)))
  } catch {
    // No answer is one, too.
  } finally {
    clearTimeout(late)
  }
}

/** The values that begin as it has been typed, and the number. */
export async function completionText(
  words: readonly string[],
  specs: readonly CommandSpec[],
  root: string,
  signal: AbortSignal,
): Promise<string> {
  const { values, current, lead } = placeOf(words, specs)
  const isThing = values.kind === 'live' && values.of === 'thing'
  if (values.kind === 'file' || (isThing && current.startsWith('/'))) return ':0\n'
  if (values.kind === 'directory') return `:${DIRECTORIES}\n`
  if (values.kind === 'free') return `:${NO_FILES}\n`
  const found =
    values.kind === 'live'
      ? await liveValues(values.of, current, words.slice(0, -1), root, signal)
      : values.words.map((word) => ({ value: `${lead}${word}`, about: values.abouts?.get(word) }))
  const text = answerText(found, current)
  const isOpen = text.split('\n').some((line) => line.split('\t', 1)[0]?.endsWith('/'))
  return `${text}:${NO_FILES | (isOpen ? NO_SPACE : 0)}\n`
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
    return inPlace(explained([...specs.map(({ name, summary }) => [name, summary] as const), ...OWN]), last)
  if (command === undefined) return inPlace(FREE, last)
  const { flag, place, isOver } = walk(command, words.slice(at + 1))
  if (flag?.values !== undefined) return inPlace(flag.values, last)
  const [, name = '', value] = isOver ? [] : (/^(--[a-z-]+)=(.*)$/s.exec(last) ?? [])
  if (value !== undefined) return inPlace(flagOf(command, name)?.values ?? FREE, value)
  if (!isOver && last.startsWith('-')) return inPlace(explained(flagWords(command, words)), last)
  const argument = command.args[place] ?? command.args.findLast(({ repeatable }) => repeatable)
  return inPlace(argument?.values ?? FREE, last)
}

const OWN = [
  ['--help', 'Show the help'],
  ['--version', 'Show the version'],
] as const

function explained(words: readonly (readonly [word: string, about: string])[]): Values {
  return { kind: 'words', words: words.map(([word]) => word), abouts: new Map(words) }
}

/** Without those that stand there already, and can be given once. */
function flagWords({ flags }: CommandSpec, words: readonly string[]): (readonly [string, string])[] {
  const given = new Set(words.map((word) => word.split('=', 1)[0]))
  const open = flags.filter((flag) => flag.repeatable || !spellings(flag).some((each) => given.has(each)))
  return open.flatMap((flag) => spellings(flag).map((each) => [each, flag.summary] as const))
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

/** Of a large cluster what has come in time is offered: there has to be time to write it. */
const SHARE = 0.8

async function liveValues(
  kind: LiveKind,
  current: string,
  words: readonly string[],
  root: string,
  signal: AbortSignal,
): Promise<readonly Value[]> {
  const flags = typedFlags(words)
  if (kind === 'context') return contextNames(flags.kubeconfig).map((value) => ({ value }))
  if (kind === 'thing' && /^[A-Z]/.test(current)) return wordValues(shippedRules(root))
  if (!flags.cluster) return valuesOf(kind, current, await nodeNames(flags, signal))
  const remaining = Math.max(0, Math.floor((DEADLINE_MS - performance.now()) * SHARE))
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(remaining)])
  return valuesOf(kind, current, await clusterNames(flags, inTime))
}

/**
 * Those that begin as it has been typed, each once. What would not be one line on a terminal is left out: no shell could
 * take it.
 */
export function answerText(values: readonly Value[], current: string): string {
  const found = new Map<string, string>()
  for (const { value, about = '' } of values) {
    if (value === '' || !value.startsWith(current) || !isOneLine(value) || found.has(value)) continue
    const short = shortened(about)
    found.set(value, short === '' ? value : `${value}\t${short}`)
    if (found.size === MOST_VALUES) break
  }
  return [...found.values()].map((line) => `${line}\n`).join('')
}

function isOneLine(text: string): boolean {
  return isTerminalSafe(text) && !text.includes('\n')
}

function shortened(about: string): string {
  const text = isOneLine(about) ? about : ''
  return text.length > ABOUT_LENGTH ? `${text.slice(0, ABOUT_LENGTH - 3)}...` : text
}

/** @param kubeconfig --kubeconfig, if given; else KUBECONFIG counts, then the first of the usual places */
function contextNames(kubeconfig: string | undefined): string[] {
  const { KUBECONFIG = '', HOME = '' } = environment()
  if (kubeconfig !== undefined) return namesIn([kubeconfig])
  const listed = KUBECONFIG.split(':').filter((path) => path !== '')
  if (listed.length > 0) return namesIn(listed)
  const usual = [join(HOME, '.kube', 'config'), ...ADMIN_FILES]
  return usual.map((path) => namesIn([path])).find((names) => names.length > 0) ?? []
}

function namesIn(paths: readonly string[]): string[] {
  return mergeKubeConfigs(paths.flatMap(readable)).contexts.map(({ name }) => name)
}

function readable(path: string): RawKubeConfig[] {
  try {
    return [readKubeConfigFile(callerPath(path))]
  } catch {
    return []
  }
}

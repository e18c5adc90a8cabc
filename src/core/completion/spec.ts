/** What can be typed after `volctl`, from the manifest of the commands: a new command or flag needs no edit here. */
import type { Command } from '@oclif/core'
import { OPERATION_GROUPS, OPERATION_KINDS } from '../plan/plan.ts'

/** `thing`: whatever `explain` takes. */
export type LiveKind = 'pod' | 'namespace' | 'volume' | 'driver' | 'context' | 'node' | 'thing'

/** What may stand in one place of the command line. */
export type Values =
  | { readonly kind: 'words'; readonly words: readonly string[]; readonly abouts?: ReadonlyMap<string, string> }
  /** Several of them, separated by commas. */
  | { readonly kind: 'list'; readonly words: readonly string[]; readonly abouts?: undefined }
  | { readonly kind: 'file' }
  | { readonly kind: 'directory' }
  /** Asked of the node or its API at that moment. */
  | { readonly kind: 'live'; readonly of: LiveKind }
  /** A number, a duration, a new name: nothing to offer. */
  | { readonly kind: 'free' }

export interface FlagSpec {
  readonly name: string
  readonly char?: string
  readonly summary: string
  /** Absent: a switch. */
  readonly values?: Values
  readonly repeatable: boolean
}

export function spellings({ name, char }: FlagSpec): string[] {
  return char === undefined ? [`--${name}`] : [`-${char}`, `--${name}`]
}

export interface ArgumentSpec {
  readonly name: string
  readonly values: Values
  /** It and all that follow. */
  readonly repeatable: boolean
}

export interface CommandSpec {
  readonly name: string
  readonly summary: string
  readonly flags: readonly FlagSpec[]
  readonly args: readonly ArgumentSpec[]
}

type Described = Pick<Command.Cached, 'id' | 'summary' | 'hidden' | 'flags' | 'args' | 'strict'>

/** Every command that the help names, and `help`, in the order of their names. */
export function commandSpecs(commands: readonly Described[]): CommandSpec[] {
  const shown = commands.filter(({ hidden }) => hidden !== true).map(commandSpec)
  const topic: ArgumentSpec = {
    name: 'command',
    values: { kind: 'words', words: shown.map(({ name }) => name).toSorted() },
    repeatable: false,
  }
  const help = { name: 'help', summary: 'Show the help of a command', flags: [], args: [topic] }
  return [...shown, help].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

const HELP: FlagSpec = { name: 'help', char: 'h', summary: 'Show the help of this command', repeatable: false }

const HELP_ALL: FlagSpec = { name: 'help-all', summary: 'Show all flags of this command', repeatable: false }

function commandSpec({ id, summary = '', flags, args, strict }: Described): CommandSpec {
  const names = Object.values(args)
  return {
    name: id,
    summary: firstSentence(summary),
    flags: [...Object.values(flags).flatMap(flagSpec), HELP, HELP_ALL].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    args: names.map((each, index) => ({
      name: each.name,
      values: argumentValues(each.name, each.options),
      repeatable: each.multiple === true || (strict === false && index === names.length - 1),
    })),
  }
}

function flagSpec(flag: Command.Flag.Cached): FlagSpec[] {
  if (flag.hidden === true) return []
  const { name, char, summary = '' } = flag
  const about = { name, ...(char !== undefined && { char }), summary: firstSentence(summary) }
  if (flag.type === 'boolean') return [{ ...about, repeatable: false }]
  const helpValue = [flag.helpValue ?? ''].flat().join(' ')
  return [{ ...about, values: flagValues(name, helpValue, flag.options), repeatable: flag.multiple === true }]
}

const KINDS: Values = { kind: 'list', words: [...Object.keys(OPERATION_GROUPS), ...OPERATION_KINDS] }

/** Flags that mean one thing in every command. */
const OF_FLAGS: Readonly<Record<string, Values>> = {
  only: KINDS,
  skip: KINDS,
  pod: { kind: 'live', of: 'pod' },
  namespace: { kind: 'live', of: 'namespace' },
  volume: { kind: 'live', of: 'volume' },
  'driver-gone': { kind: 'live', of: 'driver' },
  context: { kind: 'live', of: 'context' },
  node: { kind: 'live', of: 'node' },
  'node-gone': { kind: 'live', of: 'node' },
  'root-dir': { kind: 'directory' },
  'host-root': { kind: 'directory' },
}

/** What a placeholder in the help says of the value. */
const OF_PLACEHOLDERS: Readonly<Record<string, Values>> = {
  FILE: { kind: 'file' },
  PATH: { kind: 'file' },
  DIR: { kind: 'directory' },
}

function flagValues(name: string, helpValue: string, options: readonly string[] | undefined): Values {
  if (options !== undefined) return { kind: 'words', words: options }
  const known = Object.hasOwn(OF_FLAGS, name) ? OF_FLAGS[name] : undefined
  return known ?? OF_PLACEHOLDERS[helpValue] ?? choices(helpValue) ?? { kind: 'free' }
}

/** `mounted|unmounted|detached`: words to choose from. */
function choices(helpValue: string): Values | undefined {
  return /^[a-z-]+(\|[a-z-]+)+$/.test(helpValue) ? { kind: 'words', words: helpValue.split('|') } : undefined
}

const OF_ARGUMENTS: Readonly<Record<string, Values>> = {
  what: { kind: 'live', of: 'thing' },
  name: { kind: 'live', of: 'thing' },
  names: { kind: 'live', of: 'thing' },
  pod: { kind: 'live', of: 'pod' },
  pods: { kind: 'live', of: 'pod' },
  'name-or-planfile': { kind: 'file' },
  file: { kind: 'file' },
}

function argumentValues(name: string, options: readonly string[] | undefined): Values {
  if (options !== undefined) return { kind: 'words', words: options }
  return OF_ARGUMENTS[name.toLowerCase()] ?? { kind: 'free' }
}

/** What a list of choices has room for. */
function firstSentence(text: string): string {
  return text.split(/[.;:](?:\s|$)/)[0] ?? ''
}

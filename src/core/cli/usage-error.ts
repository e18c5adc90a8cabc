import { stripVTControlCharacters } from 'node:util'
import type { Interfaces } from '@oclif/core'
import { errorMessage, VolctlError } from '../base/errors.ts'
import { nearNames } from '../base/near-names.ts'
import { programName } from '../trust/own-program.ts'

/** What an error for an unknown flag of oclif's names, and the flags that there are. */
interface UnknownFlag {
  readonly flags?: readonly string[]
  readonly parse?: { readonly input?: { readonly flags: Interfaces.FlagInput } }
}

/**
 * What a person reads of anything thrown: one of our own errors as it is, a usage error of oclif's parser in one
 * line, anything else as a defect of volctl's. Never a stack, never the parser's state.
 *
 * @param command that was typed; absent: it is no command
 */
export function explainError(error: unknown, command?: string): VolctlError {
  if (error instanceof VolctlError) return error
  const message = oneLine(errorMessage(error))
  if (isUsageError(error)) return usageError(error, message, command)
  return new VolctlError('Unexpected', `unexpected failure: ${message}`, { cause: error })
}

/** oclif's parse errors carry `parse`, its other complaints about the command line `oclif.exit`. */
function isUsageError(error: unknown): error is Error {
  return error instanceof Error && ('parse' in error || 'oclif' in error)
}

function usageError(error: Error & UnknownFlag, message: string, command?: string): VolctlError {
  const { flags: [typed] = [], parse } = error
  const isLine = command === 'explain' && message.startsWith('Unexpected argument')
  const habit = isLine ? A_LINE : FLAG_HABITS.get(typed?.replace(/=.*/s, '') ?? '')
  const meant = typed === undefined ? meantValue(message) : meantFlag(typed, parse?.input?.flags ?? {})
  return new VolctlError('Usage', message, { hint: habit ?? meantHint(meant, `${command ?? ''} `) })
}

const A_LINE = "Put a line of a log in quotes (see volctl explain --help): volctl explain 'LINE'"

function meantHint(meant: string | undefined, command = ''): string {
  return `${meant === undefined ? '' : `Did you mean ${meant}? `}See ${programName()} ${command}--help`
}

/** What stands where the command belongs is none. */
export function unknownCommand(id: string, commands: readonly string[]): VolctlError {
  if (id.startsWith('-')) {
    const hint = `Give the command first, as in ${programName()} plan ${id}. See ${programName()} --help`
    return new VolctlError('Usage', `${id} stands where the command belongs`, { hint })
  }
  return new VolctlError('Usage', `command ${id} not found`, {
    hint: HABITS.get(id) ?? meantHint(nearNames(id, commands, 1)[0]),
  })
}

const LOOK = 'Each volume of this node, and what is wrong with it: volctl status'
const ONE = 'One pod, claim or volume, its state and why: volctl explain NAME'
const MEND = 'First see what would be done: volctl plan; then do it: volctl apply'

/** What fingers type that know other tools, and what does that here. */
const HABITS: ReadonlyMap<string, string> = new Map([
  ...['get', 'ls', 'list'].map((word) => [word, LOOK] as const),
  ...['describe', 'why', 'show'].map((word) => [word, ONE] as const),
  ...['fix', 'repair', 'cleanup', 'clean', 'reconcile'].map((word) => [word, MEND] as const),
])

const FLAG_HABITS: ReadonlyMap<string, string> = new Map([
  ...['-A', '--all-namespaces'].map(
    (flag) => [flag, 'volctl reads the pods of all namespaces anyway; -n NS narrows the answer to one.'] as const,
  ),
  ['--dry-run', 'What an apply would do, without doing it: volctl plan'],
])

/** A value that is not one of a flag's, by oclif's message. */
function meantValue(message: string): string | undefined {
  const [, flag, value = '', options = ''] = /^Expected (--\S+)=(.*) to be one of: (.*)$/s.exec(message) ?? []
  const [near] = flag === undefined ? [] : nearNames(value, options.split(', '), 1)
  return near && `${flag} ${near}`
}

function meantFlag(typed: string, flags: Interfaces.FlagInput): string | undefined {
  const name = typed.replace(/^-+/, '').replace(/=.*/s, '')
  // kubectl has no --json either, other tools do.
  if (flags.output?.type === 'option' && flags.output.options?.includes(name)) return `-o ${name}`
  // A letter alone is near to nothing.
  const [near] = name.length < 2 ? [] : nearNames(name, Object.keys(flags), 1)
  return near && `--${near}`
}

function oneLine(text: string): string {
  return (
    stripVTControlCharacters(text)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('See more help'))
      .join(' ')
      .replace('The following error occurred: ', '')
      .replace('The following errors occurred: ', '')
      .replace('Nonexistent flag', 'unknown flag')
      .replace(/Missing required flag (?=\w)/, 'missing flag: --')
      // As oclif's help says it, where `--help` stands behind the name.
      .replace(/^Command (.+) not found\.$/, 'command $1 not found')
  )
}

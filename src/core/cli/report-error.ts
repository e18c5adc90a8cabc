import { stripVTControlCharacters } from 'node:util'
import type { Interfaces } from '@oclif/core'
import { nearNames } from '../base/text.ts'
import { errorMessage, type Hint, SafetyRefusal, said, usageError, VolctlError } from '../messages/findings.ts'
import { programName } from '../trust/own-program.ts'
import { io } from '../trust/run.ts'
import { type Palette, type Width, wrapped } from '../views/screen.ts'
import { toJsonLine } from '../views/structured.ts'
import { messages, paintOf } from './output.ts'

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
export function explainError(error: unknown, command = ''): VolctlError {
  if (error instanceof VolctlError) return error
  const message = oneLine(errorMessage(error))
  // oclif's parse errors carry `parse`, its other complaints about the command line `oclif.exit`.
  if (!(error instanceof Error && ('parse' in error || 'oclif' in error)))
    return new VolctlError(said('Unexpected', { message }), { cause: error })
  const { flags: [typed] = [], parse } = error as UnknownFlag
  const meant = typed === undefined ? undefined : meantFlag(typed, parse?.input?.flags ?? {})
  const isLine = command === 'explain' && message.startsWith('Unexpected argument')
  return new VolctlError({ code: 'Usage', message }, { hint: isLine ? A_LINE : meantHint(meant, `${command} `) })
}

const A_LINE = "Put a line of a log in quotes (see volctl explain --help): volctl explain 'LINE'"

function meantHint(meant: string | undefined, command = ''): string {
  return `${meant === undefined ? '' : `Did you mean ${meant}? `}See ${programName()} ${command}--help`
}

/** What stands where the command belongs is none. */
export function unknownCommand(id: string, commands: readonly string[]): VolctlError {
  if (id.startsWith('-')) {
    const hint = `Give the command first, as in ${programName()} plan ${id}. See ${programName()} --help`
    return usageError('Usage.place', hint, { flag: id })
  }
  return usageError('Usage.noCommand', meantHint(nearNames(id, commands, 1)[0]), { name: id })
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
      .replace(/(--[\w-]+)(?:=\S*)? cannot also be provided when using (--[\w-]+)/g, '$2 does not go with $1')
      .replace(/All of the following must be provided when using (--[\w-]+): (--[\w-]+)/g, '$1 needs $2')
      // As oclif's help says it, where `--help` stands behind the name.
      .replace(/^Command (.+) not found\.$/, 'command $1 not found')
  )
}

/** One line on standard error where `-o` is json, yaml or ndjson (scripts/schema.ts). */
export interface ErrorDocument {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'Error'
  readonly code: string
  readonly message: string
  readonly args?: VolctlError['args']
  readonly hint?: Hint
  readonly rule?: string
}

/**
 * An error as a person reads it on standard error: one line that says what, one that says what to do; on a terminal they are broken
 * between words. For `-o json` (and yaml, ndjson) the same as one JSON object, still on standard error, with the rule of a refusal.
 */
export function errorText(error: VolctlError, structured: boolean, paint: Palette, width?: Width): string {
  const { code, args, hint } = error
  const rule = error instanceof SafetyRefusal ? error.rule : undefined
  const message = `${rule === undefined ? '' : 'refused: '}${error.message}`
  const document: ErrorDocument = { apiVersion: 'volctl.io/v1', kind: 'Error', code, message, args, hint, rule }
  if (structured) return toJsonLine(document)
  const line = wrapped(`${paint.bad('volctl:')} `, message, width)
  return hint === undefined ? line : `${line}${wrapped(' '.repeat('volctl: '.length), hint, width)}`
}

/** Says it on standard error. @param argv the command line, as a usage error leaves nothing parsed */
export async function sayError(error: VolctlError, argv: readonly string[]): Promise<void> {
  const structured = typedFormats(argv).some((format) => ['json', 'yaml', 'ndjson'].includes(format))
  messages.write(errorText(error, structured, await paintOf(argv, io().stderr), messages.columns))
}

/** The values of `-o` among raw arguments: a usage error leaves nothing parsed. */
export function typedFormats(argv: readonly string[]): readonly string[] {
  return argv.flatMap((arg, index) =>
    arg === '-o' || arg === '--output' ? (argv[index + 1] ?? []) : (/^(?:-o=?|--output=)(.+)$/.exec(arg)?.[1] ?? []),
  )
}

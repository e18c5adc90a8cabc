import { stripVTControlCharacters } from 'node:util'
import { errorMessage, VolctlError } from '../errors/errors.ts'

/**
 * What a person reads of anything thrown: one of our own errors as it is, a usage error of oclif's parser in one
 * line, anything else as a defect of volctl's. Never a stack, never the parser's state.
 */
export function explainError(error: unknown, command: string | undefined): VolctlError {
  if (error instanceof VolctlError) return error
  const message = oneLine(errorMessage(error))
  if (isUsageError(error)) {
    const help = command === undefined ? 'volctl --help' : `volctl ${command} --help`
    return new VolctlError('Usage', message, { hint: `See ${help}` })
  }
  return new VolctlError('Unexpected', `unexpected failure: ${message}`, {
    cause: error,
    hint: 'This is a bug in volctl: run the command again with --verbose and report the output.',
  })
}

/** oclif's parse errors carry `parse`, its other complaints about the command line `oclif.exit`. */
function isUsageError(error: unknown): boolean {
  return error instanceof Error && ('parse' in error || 'oclif' in error)
}

function oneLine(text: string): string {
  return stripVTControlCharacters(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('See more help'))
    .join(' ')
    .replace('The following error occurred: ', '')
    .replace('The following errors occurred: ', '')
    .replace('Nonexistent flag', 'unknown flag')
}

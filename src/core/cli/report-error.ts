import { SafetyRefusal, type VolctlError } from '../base/errors.ts'
import { io } from '../trust/run.ts'
import type { Palette } from '../views/screen.ts'
import { toJsonLine } from '../views/structured.ts'
import { type Width, wrapped } from '../views/wrap.ts'
import { messages, paintOf } from './output.ts'

/** One line on standard error where `-o` is json, yaml or ndjson (scripts/schema.ts). */
export interface ErrorDocument {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'Error'
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly rule?: string
}

/**
 * An error as a person reads it on standard error: one line that says what, one that says what to do; on a terminal they are broken
 * between words. For `-o json` (and yaml, ndjson) the same as one JSON object, still on standard error, with the rule of a refusal.
 */
export function errorText(error: VolctlError, structured: boolean, paint: Palette, width?: Width): string {
  const { code, hint } = error
  const rule = error instanceof SafetyRefusal ? error.rule : undefined
  const message = `${rule === undefined ? '' : 'refused: '}${error.message}`
  if (structured) {
    const document: ErrorDocument = {
      apiVersion: 'volctl.io/v1',
      kind: 'Error',
      ...{ code, message },
      hint,
      rule,
    }
    return toJsonLine(document)
  }
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

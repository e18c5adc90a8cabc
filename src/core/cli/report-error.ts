import { SafetyRefusal, type VolctlError } from '../errors/errors.ts'
import type { Palette } from '../views/palette.ts'
import { toJsonLine } from '../views/structured.ts'
import { terminalSafe } from '../views/terminal-safe.ts'

/**
 * An error as a person reads it on standard error: one line that says what, one that says what to do. A refusal names its rule.
 * For `-o json` (and yaml, ndjson) the same as one JSON object, still on standard error.
 */
export function errorText(error: VolctlError, structured: boolean, paint: Palette): string {
  const { code, hint } = error
  const message = error instanceof SafetyRefusal ? `refused by ${error.rule}: ${error.message}` : error.message
  if (structured) return toJsonLine({ code, message, ...(hint === undefined ? {} : { hint }) })
  const line = `${paint.bad('volctl:')} ${terminalSafe(message)}\n`
  return hint === undefined ? line : `${line}        ${terminalSafe(hint)}\n`
}

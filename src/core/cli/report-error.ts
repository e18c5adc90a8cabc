import type { VolctlError } from '../errors.ts'
import type { Palette } from '../views/palette.ts'
import { terminalSafe } from '../views/terminal-safe.ts'

/**
 * An error as a person reads it on standard error: one line that says what, one that says what to do.
 * For `-o json` (and yaml, ndjson) the same as one JSON object, still on standard error.
 */
export function errorText(error: VolctlError, structured: boolean, paint: Palette): string {
  const { code, message, hint } = error
  if (structured) return `${JSON.stringify({ code, message, ...(hint === undefined ? {} : { hint }) })}\n`
  const line = `${paint.bad('volctl:')} ${terminalSafe(message)}\n`
  return hint === undefined ? line : `${line}        ${terminalSafe(hint)}\n`
}

import type { ErrorDocument } from '../documents/error-document.ts'
import { SafetyRefusal, type VolctlError } from '../errors/errors.ts'
import { defined } from '../lang/defined.ts'
import type { Palette } from '../views/palette.ts'
import { toJsonLine } from '../views/structured.ts'
import { type Width, wrapped } from '../views/wrap.ts'

/**
 * An error as a person reads it on standard error: one line that says what, one that says what to do; on a terminal both are
 * broken between words. For
 * `-o json` (and yaml, ndjson) the same as one JSON object, still on standard error, with the rule of a refusal.
 */
export function errorText(error: VolctlError, structured: boolean, paint: Palette, width?: Width): string {
  const { code, hint } = error
  const refusal = error instanceof SafetyRefusal ? error : undefined
  const message = refusal === undefined ? error.message : `refused: ${error.message}`
  const rule = refusal === undefined ? {} : { rule: refusal.rule }
  if (structured) return toJsonLine({ code, message, ...defined({ hint }), ...rule } satisfies ErrorDocument)
  const line = wrapped(`${paint.bad('volctl:')} `, message, width)
  return hint === undefined ? line : `${line}${wrapped(' '.repeat('volctl: '.length), hint, width)}`
}

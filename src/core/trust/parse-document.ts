/** A JSON document that a person gives to volctl: its content, or what is wrong with it. */
import { errorMessage } from '../base/errors.ts'
import { JsonLimitError, type JsonLimits, parseJson } from './parse-json.ts'

type Parsed =
  | { readonly document: Readonly<Record<string, unknown>> }
  | { readonly defect: string; readonly cause?: unknown }

/** @param bytes UTF-8 @param part what messages call them */
export function parseDocument(bytes: Buffer, limits: Partial<JsonLimits> = {}, part = 'the file'): Parsed {
  if (bytes.length === 0) return { defect: `${part} is empty` }
  let document: unknown
  try {
    document = parseJson(bytes, limits)
  } catch (cause) {
    if (cause instanceof JsonLimitError) return { defect: `${part} ${cause.message}`, cause }
    // A document that begins as JSON and lacks its end was cut off on the way.
    const [head, tail] = [bytes.toString('latin1', 0, 100), bytes.toString('latin1', Math.max(0, bytes.length - 100))]
    if (/^\s*\{/.test(head) && !/\}\s*$/.test(tail)) return { defect: `${part} is cut off`, cause }
    return { defect: `${part} is not JSON: ${errorMessage(cause).slice(0, 120)}`, cause }
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    return { defect: `${part} is not a JSON object` }
  }
  return { document: document as Readonly<Record<string, unknown>> }
}

/** A field of the document, for a message. */
export function shownField(value: unknown): string {
  if (value === undefined) return 'missing'
  return typeof value === 'object' ? 'not a string' : JSON.stringify(value).slice(0, 60)
}

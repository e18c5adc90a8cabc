/** A JSON document that a person gives to volctl: what it holds, or what is wrong with it. */
import { errorMessage } from './errors.ts'

export type Parsed =
  | { readonly document: Readonly<Record<string, unknown>> }
  | { readonly defect: 'CutOff' | 'NotJson'; readonly why: string; readonly cause?: unknown }

/** @param bytes UTF-8 */
export function parseDocument(bytes: Buffer): Parsed {
  if (bytes.length === 0) return { defect: 'CutOff', why: 'it is empty' }
  const text = bytes.toString('utf8')
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch (cause) {
    // A document that begins like one and lacks its end was cut off on the way.
    const cutOff = /^\s*\{/.test(text.slice(0, 100)) && !/\}\s*$/.test(text.slice(-100))
    if (cutOff) return { defect: 'CutOff', why: 'it is cut off', cause }
    return { defect: 'NotJson', why: `it is not JSON: ${errorMessage(cause).slice(0, 120)}`, cause }
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    return { defect: 'NotJson', why: 'it holds no JSON object' }
  }
  return { document: document as Readonly<Record<string, unknown>> }
}

/** A field of it, for a message. */
export function shownField(value: unknown): string {
  if (value === undefined) return 'missing'
  return typeof value === 'object' ? 'no text' : JSON.stringify(value).slice(0, 60)
}

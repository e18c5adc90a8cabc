import { isAscii } from 'node:buffer'
import { JsonLimitError, scanJson } from './json-scan.ts'

export { JsonLimitError } from './json-scan.ts'

/** Limits of a document. One that exceeds them is refused before it is parsed. */
export interface JsonLimits {
  /** Of UTF-8. */
  readonly maxBytes: number
  readonly maxDepth: number
  /** As `parseJson` counts them. */
  readonly maxValues: number
  /** Bytes that the document, its text and its values may take together, at the worst. */
  readonly maxMemory: number
}

export const JSON_LIMITS: JsonLimits = {
  maxBytes: 100 * 1024 * 1024,
  maxDepth: 100,
  maxValues: 3_000_000,
  maxMemory: 380_000_000,
}

/**
 * JSON.parse with bounds (S34), whoever wrote the document.
 *
 * @throws JsonLimitError
 * @throws SyntaxError of JSON.parse
 */
export function parseJson(document: Buffer | string, limits: Partial<JsonLimits> = {}): unknown {
  if (typeof document !== 'string') {
    requireBoundedJson(document, limits)
    return JSON.parse(document.toString('utf8'))
  }
  // A text has at least as many bytes as characters, so one that is too long need not be copied first.
  const { maxBytes } = { ...JSON_LIMITS, ...limits }
  if (document.length > maxBytes) throw tooLarge(maxBytes)
  requireBoundedJson(Buffer.from(document), limits)
  return JSON.parse(document)
}

/**
 * Refuses what would take too much memory, or is nested too deep (json-scan.ts).
 *
 * Growth of VmHWM, measured with documents of 3 million values (Node 26): numbers, short texts, `[]` and `{}` take 12 to 72
 * bytes each beside the text; `{"9":0}` and the like up to 200 for each value; objects of a hundred new names each 700 for
 * each name, which makes 2.2 GB and 18 s of 28 MB. So bytes and depth alone are no bound: within 10 MB of text `{}` make a
 * process of 440 MB and new names one of 740; within 60 MB, as many as a large node's snapshot has, 2.1 and 3.5 GB. By the count
 * of the scan nothing takes more than 72. Meanwhile, all of the text exists three times: as bytes, as text, in its strings; the
 * latter two take twice as much where one character needs it. A document within the default limits keeps a process of 80 MB below
 * 470 MB.
 *
 * @throws JsonLimitError
 */
export function requireBoundedJson(bytes: Buffer, limits: Partial<JsonLimits> = {}): void {
  const { maxBytes, maxDepth, maxValues, maxMemory } = { ...JSON_LIMITS, ...limits }
  const copies = isAscii(bytes) ? COPIES : WIDE_COPIES
  const most = Math.min(maxBytes, Math.floor(maxMemory / copies))
  if (bytes.length > most) throw tooLarge(most)
  const forValues = maxMemory - bytes.length * copies
  scanJson(bytes, maxDepth, Math.min(maxValues, Math.floor(forValues / BYTES_PER_VALUE)))
}

const BYTES_PER_VALUE = 72
/** Bytes, text, strings. */
const COPIES = 3
/** V8 has one byte for each character of a text, or two for each. */
const WIDE_COPIES = 5

function tooLarge(most: number): JsonLimitError {
  return new JsonLimitError('TooLarge', `is larger than ${most} bytes`)
}

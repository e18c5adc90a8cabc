import { isAscii } from 'node:buffer'

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
  requireBoundedJson(typeof document === 'string' ? Buffer.from(document) : document, limits)
  return JSON.parse(document.toString())
}

/**
 * Refuses what would take too much memory, or is nested too deep (scanJson).
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
  if (bytes.length > most) throw new JsonLimitError(`is larger than ${most} bytes`)
  const forValues = maxMemory - bytes.length * copies
  scanJson(bytes, maxDepth, Math.min(maxValues, Math.floor(forValues / BYTES_PER_VALUE)))
}

const BYTES_PER_VALUE = 72
/** Bytes, text, strings. */
const COPIES = 3
/** V8 has one byte for each character of a text, or two for each. */
const WIDE_COPIES = 5

// Looks over JSON before it is parsed: how deep it is nested, and what its values cost. JSON.parse itself has no bounds: it copes with
// any depth, but code that then walks the value ends in a RangeError, and two bytes of text can become a hundred of memory. The scan
// counts commas and brackets, which makes one for each value or a little more, and two things that cost V8 much more than a value:
//
// - a name that follows the names before it in its object in a new order counts ten: V8 keeps a shape for each such order.
//   Real documents have few, a snapshot some 400, whether of 15,000 values or of a million;
// - a name that begins with a digit counts three: V8 keeps one table for each object with an index.
//
// It takes 115 to 145 ms for a snapshot of 60 MB with 1.2 million values (410 to 510 MB/s), JSON.parse 160 to 210. It goes
// through texts byte by byte: finding their ends with indexOf is no faster for short texts, which JSON mostly has, and slows
// down to 40 MB/s for texts full of escaped quotes.

/** Its message continues a sentence that begins with the document's name. */
export class JsonLimitError extends Error {
  override readonly name = 'JsonLimitError'
}

/** How many values each of these counts as. */
const NEW_NAME = 10
const INDEX_NAME = 3

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** The hash of no names (FNV-1a). Zero stands for a list. */
const NO_NAMES = 0x2545f491
const FNV_PRIME = 0x01000193
/** Almost all orders of names were met a moment ago, and are found without a look into the set. */
const RECENT = 4096

/**
 * Checks bytes as far as they are JSON; JSON.parse reports the rest.
 *
 * @throws JsonLimitError
 */
function scanJson(bytes: Uint8Array, maxDepth: number, maxValues: number): void {
  const { length } = bytes
  const orders = new Set<number>()
  const recent = new Int32Array(RECENT)
  /** For each open object, the hash of its names so far. */
  const names = new Int32Array(maxDepth + 1)
  let depth = 0
  let values = 1
  let isName = false
  for (let at = 0; at < length; ) {
    const byte = bytes[at++]
    if (byte === QUOTE) {
      if (isName && mayBeIndex(bytes[at])) values += INDEX_NAME
      let hash = names[depth] as number
      while (at < length) {
        const inText = bytes[at++] as number
        hash = Math.imul(hash ^ inText, FNV_PRIME)
        if (inText === QUOTE) break
        if (inText === BACKSLASH) at++
      }
      if (!isName) continue
      isName = false
      hash ||= NO_NAMES
      names[depth] = hash
      const slot = hash & (RECENT - 1)
      if (recent[slot] !== hash) {
        recent[slot] = hash
        if (!orders.has(hash)) values += NEW_NAME
        orders.add(hash)
      }
    } else if (byte === COMMA) {
      values++
      isName = names[depth] !== 0
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (depth === maxDepth) throw new JsonLimitError(`is nested more than ${maxDepth} deep`)
      values++
      isName = byte === OPEN_OBJECT
      names[++depth] = isName ? NO_NAMES : 0
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      isName = false
      if (depth > 0) depth--
    }
    if (values > maxValues) throw new JsonLimitError(`has more than ${maxValues} values`)
  }
}

/** True if the first byte is a digit, or begins an escape that may be one. */
function mayBeIndex(byte = 0): boolean {
  return (byte >= 0x30 && byte <= 0x39) || byte === BACKSLASH
}

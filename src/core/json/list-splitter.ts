/**
 * A List of the API, taken apart while it comes in: each object of `items` is handed on once its last byte is there, so that an
 * answer of any size takes the memory of one object.
 *
 * What is left, with `{}` in the place of each object, is a document that JSON.parse reads at the end. So what is no JSON is found
 * as in one piece, wherever it stands, and a member that comes twice counts as JSON.parse counts it.
 */
import { isAscii } from 'node:buffer'
import { Gathered } from '../trust/bytes.ts'
import { JsonLimitError, JsonScan } from '../trust/json-scan.ts'
import { parseJson } from '../trust/parse-json.ts'

/** Takes the objects of a list. */
export interface ListObjects {
  /** `items` begins; where it begins again, what was taken before is void. */
  begin(): void
  take(object: unknown): void
}

/** With the two levels of the list, as deep as any document may be (JSON_LIMITS). */
const MAX_DEPTH = 98
/** Of one object; together with its bytes, some 250 MB of memory at the worst (parse-json.ts). */
const MAX_VALUES = 2_000_000

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const SPACE = 0x20
/** Most objects are smaller. */
const FIRST_HELD = 32 * 1024
const EMPTY_OBJECT = Buffer.from('{}')

/**
 * Where the next byte stands. `members`: of the list; `items`: between its objects; `object`: in one of them; `other`: in brackets
 * elsewhere; `beyond`: after the list, or in what is no list.
 */
type Place = 'before' | 'members' | 'items' | 'object' | 'other' | 'beyond'

/** Fed with the bytes of one document as they come. */
export class ListSplitter {
  readonly #objects: ListObjects
  readonly #objectBytes: number
  readonly #scan = new JsonScan(MAX_DEPTH, MAX_VALUES)
  readonly #rest = new Gathered()
  #place: Place = 'before'
  /** What `other` stands in. */
  #around: 'members' | 'items' = 'members'
  /** In a text beside the brackets that the scan looks into. */
  #inText = false
  #isEscaped = false
  #expectsName = false
  /** The name of the member, with its quotes. */
  #name: number[] = []
  /** Holds the beginning of an object that has not ended. */
  #object = Buffer.alloc(0)
  #held = 0

  /** @param objectBytes limit of one object, and of everything beside the objects */
  constructor(objects: ListObjects, objectBytes: number) {
    this.#objects = objects
    this.#objectBytes = objectBytes
  }

  /** How many bytes are kept. */
  get held(): number {
    return this.#object.length + this.#rest.length
  }

  /** True once objects come: what stands before them is in `rest`. */
  get isInItems(): boolean {
    return this.#place === 'items' || this.#place === 'object'
  }

  /** Everything so far, with `{}` in the place of each object. */
  rest(): Buffer {
    return this.#rest.all()
  }

  /** @throws JsonLimitError; SyntaxError of an object that is no JSON; whatever taking an object throws */
  add(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#place === 'object') at = this.#inObject(chunk, at)
      else {
        const to = this.#place === 'other' ? this.#inOther(chunk, at) : this.#between(chunk, at)
        this.#rest.add(chunk.subarray(at, to))
        this.#requireBounded(this.#rest.length)
        at = to
      }
    }
  }

  /**
   * The document has ended.
   *
   * @returns its value, with `{}` in the place of each object of `items`
   * @throws SyntaxError if it is no JSON, JsonLimitError
   */
  end(): unknown {
    if (this.#place === 'object') throw new SyntaxError('the last object is cut off')
    return parseJson(this.#rest.all())
  }

  #inObject(chunk: Buffer, from: number): number {
    const to = this.#scan.look(chunk, from, false)
    const part = chunk.subarray(from, to)
    this.#requireBounded(this.#held + part.length)
    if (this.#held > 0 || !this.#scan.isClosed) this.#hold(part)
    if (!this.#scan.isClosed) return to
    const whole = this.#held > 0 ? this.#object.subarray(0, this.#held) : part
    this.#held = 0
    this.#place = 'items'
    this.#rest.add(EMPTY_OBJECT)
    // Most objects are ASCII, which is made a text without a look at each byte.
    this.#objects.take(JSON.parse(whole.toString(isAscii(whole) ? 'latin1' : 'utf8')))
    return to
  }

  /** The chunk itself may be part of a larger buffer, which would be kept. */
  #hold(part: Buffer): void {
    const needed = this.#held + part.length
    if (needed > this.#object.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_HELD, 2 * needed))
      this.#object.copy(larger, 0, 0, this.#held)
      this.#object = larger
    }
    part.copy(this.#object, this.#held)
    this.#held = needed
  }

  #inOther(chunk: Buffer, from: number): number {
    const to = this.#scan.look(chunk, from, false)
    if (this.#scan.isClosed) this.#place = this.#around
    return to
  }

  /** @returns where a bracket opens that the scan looks into, or the end of the chunk */
  #between(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] as number
      if (this.#inText) this.#inTextByte(byte)
      else if (this.#place === 'members') this.#memberByte(byte)
      else if (this.#place === 'items') this.#itemsByte(byte)
      else if (this.#place === 'before' && byte > SPACE) {
        this.#place = byte === OPEN_OBJECT ? 'members' : 'beyond'
        this.#expectsName = true
      }
      if (this.#place === 'object' || this.#place === 'other') return at
    }
    return chunk.length
  }

  #inTextByte(byte: number): void {
    if (this.#expectsName) this.#name.push(byte)
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === BACKSLASH) this.#isEscaped = true
    else if (byte === QUOTE) this.#inText = false
  }

  #memberByte(byte: number): void {
    if (byte === QUOTE) {
      this.#inText = true
      if (this.#expectsName) this.#name = [QUOTE]
    } else if (byte === COMMA) this.#expectsName = true
    else if (byte === COLON) this.#expectsName = false
    else if (byte === CLOSE_OBJECT) this.#place = 'beyond'
    else if (byte === OPEN_LIST && !this.#expectsName && isNameItems(this.#name)) {
      this.#place = 'items'
      this.#objects.begin()
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) this.#open('other')
  }

  #itemsByte(byte: number): void {
    if (byte === OPEN_OBJECT) this.#open('object')
    else if (byte === OPEN_LIST) this.#open('other')
    else if (byte === QUOTE) this.#inText = true
    else if (byte === CLOSE_LIST) this.#place = 'members'
  }

  /** The bracket itself is the first byte that the scan sees. */
  #open(place: 'object' | 'other'): void {
    this.#around = this.#place === 'items' ? 'items' : 'members'
    this.#place = place
    this.#scan.restart()
  }

  #requireBounded(bytes: number): void {
    if (bytes > this.#objectBytes)
      throw new JsonLimitError('TooLarge', `has an object of more than ${this.#objectBytes} bytes`)
  }
}

/** A name may be written with escapes. @param name with its quotes, as far as there is one */
function isNameItems(name: readonly number[]): boolean {
  try {
    return JSON.parse(String.fromCharCode(...name)) === 'items'
  } catch {
    return false
  }
}

/**
 * Reading foreign JSON by shape: what comes out has the fields that the shape names, with the types that it names.
 *
 * `object` and `list` make a copy and leave out what the shape does not name, so that files of later versions can
 * be read. `kept`, `keptList` and `keptRecord` only look: what comes out is the value itself, whatever else is in it. They are
 * for what is large, or is handed on as it is.
 *
 * The types of documents are made of their shapes: `interface Pod extends ShapeOf<typeof podShape> {}`. Each field stands once, and
 * what is read is what TypeScript promises.
 */

import type { Hint } from '../messages/command.ts'

/** Takes a value and its place in the document; throws ShapeError. */
export interface Shape<T> {
  (value: unknown, at: string): T
  /** The shape as JSON Schema; not every shape has one. */
  readonly schema?: SchemaOf
}

type JsonSchema = Readonly<Record<string, unknown>>

/** @param defs collects the parts that have a name */
type SchemaOf = (defs: Map<string, JsonSchema>) => JsonSchema

/** @param check a new function, which becomes the shape */
export function withSchema<T>(check: (value: unknown, at: string) => T, schema: SchemaOf): Shape<T> {
  return Object.assign(check, { schema })
}

/** @throws Error where a part of the shape has no schema */
export function schemaOf(shape: Shape<unknown>, defs: Map<string, JsonSchema>): JsonSchema {
  if (shape.schema === undefined) throw new Error('a shape without a JSON Schema')
  return shape.schema(defs)
}

/** What is wrong and where, in one line. */
export class ShapeError extends Error {
  override readonly name = 'ShapeError'
}

/** The type of what a shape lets through. */
export type ShapeOf<S extends Shape<unknown>> = ReturnType<S>

/** A field that is marked; what one without a mark is, `object` and `kept` say. */
interface Marked<T, IsSure extends boolean> {
  readonly shape: Shape<T>
  /** It may not be missing. */
  readonly isNeeded: boolean
  /** The type has it without a question mark. */
  readonly isSure: IsSure
}

export type Fields = Readonly<Record<string, Shape<unknown> | Marked<unknown, boolean>>>

type IsSure<Field, Unmarked> = Field extends Marked<unknown, infer Sure> ? Sure : Unmarked

type ValueOf<Field> = Field extends Marked<infer T, boolean> ? T : Field extends Shape<infer T> ? T : never

/** The type of what has these fields. */
type TypeOf<F extends Fields, Unmarked> = {
  readonly [Key in keyof F as IsSure<F[Key], Unmarked> extends true ? Key : never]: ValueOf<F[Key]>
} & {
  readonly [Key in keyof F as IsSure<F[Key], Unmarked> extends true ? never : Key]?: ValueOf<F[Key]>
} extends infer Both
  ? { readonly [Key in keyof Both]: Both[Key] }
  : never

/** The type of what `kept` lets through. */
export type KeptOf<F extends Fields> = TypeOf<F, false>

/** The type of what `object` makes of these fields. */
export type ObjectOf<F extends Fields> = TypeOf<F, true>

export function optional<T>(shape: Shape<T>): Marked<T, false> {
  return { shape, isNeeded: false, isSure: false }
}

export function needed<T>(shape: Shape<T>): Marked<T, true> {
  return { shape, isNeeded: true, isSure: true }
}

/** The type requires the field, but nothing relies on that: it may be missing. */
export function unneeded<T>(shape: Shape<T>): Marked<T, true> {
  return { shape, isNeeded: false, isSure: true }
}

/** @param words what is expected, for the message */
export function scalar<T>(is: (value: unknown) => boolean, words: string, schema: JsonSchema): Shape<T> {
  return withSchema(
    (value, at) => (is(value) ? (value as T) : fail(at, words, value)),
    () => schema,
  )
}

export const text = scalar<string>((value) => typeof value === 'string', 'text', { type: 'string' })

/** In a document it is a text. */
export const hint = scalar<Hint>((value) => typeof value === 'string', 'text', { type: 'string' })

/** A time as RFC 3339 writes it, or anything else that Date understands. */
export const time = scalar<string>((value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)), 'a time', {
  type: 'string',
  minLength: 1,
})

export const flag = scalar<boolean>((value) => typeof value === 'boolean', 'true or false', { type: 'boolean' })

/** A whole number, zero or more. */
export const count = scalar<number>((value) => Number.isSafeInteger(value) && Number(value) >= 0, 'a count', {
  type: 'integer',
  minimum: 0,
})

export const integer = scalar<number>(Number.isSafeInteger, 'a whole number', { type: 'integer' })

/** @param words what is expected, for the message */
export function matching(pattern: RegExp, words: string): Shape<string> {
  const isMatch = (value: unknown): boolean => typeof value === 'string' && pattern.test(value)
  return scalar(isMatch, words, { type: 'string', pattern: pattern.source.replaceAll('\\/', '/') })
}

/** One of the known codes; the schema allows any, since later versions add some. */
export function code<Code extends string>(known: readonly Code[]): Shape<Code> {
  return scalar(isAmong(known), 'a code', { type: 'string', pattern: '^[A-Z][A-Za-z0-9]*$' })
}

export const path: Shape<string> = matching(/^\//, 'an absolute path')

/** Any number that JSON can express; 1e999 is not one. */
export const number = scalar<number>(Number.isFinite, 'a number', { type: 'number' })

/** Any value, where nothing relies on its type. */
export const anything = scalar<unknown>(() => true, 'anything', {})

/** A value that Go writes as null when there is none. */
export function nullable<T>(of: Shape<T>): Shape<T | null> {
  return withSchema(
    (value, at) => (value === null ? null : of(value, at)),
    (defs) => ({ anyOf: [{ type: 'null' }, schemaOf(of, defs)] }),
  )
}

export function oneOf<const T>(...known: readonly T[]): Shape<T> {
  const schema = known.length === 1 ? { const: known[0] } : { enum: known }
  return scalar(isAmong(known), `one of ${known.join(', ')}`, schema)
}

function isAmong(known: readonly unknown[]): (value: unknown) => boolean {
  return (value) => known.includes(value)
}

/** One of the keys of a table, in its order. */
export function keyOf<T extends object>(table: T): Shape<keyof T & string> {
  return oneOf(...(Object.keys(table) as (keyof T & string)[]))
}

export function list<T>(of: Shape<T>, isCopied = true): Shape<readonly T[]> {
  return withSchema(
    (value, at) => {
      if (!Array.isArray(value)) return fail(at, 'a list', value)
      const made = value.map((entry, index) => of(entry, `${at}[${index}]`))
      return isCopied ? made : value
    },
    (defs) => ({ type: 'array', items: schemaOf(of, defs) }),
  )
}

export function keptList<T>(of: Shape<T>): Shape<readonly T[]> {
  return list(of, false)
}

/** A field without a mark may not be missing. */
export function object<F extends Fields>(fields: F): Shape<ObjectOf<F>> {
  return withFields(fields, true)
}

/** A field without a mark may be missing. */
export function kept<F extends Fields>(fields: F): Shape<KeptOf<F>> {
  return withFields(fields, false)
}

export function neededObject<F extends Fields>(fields: F): Marked<KeptOf<F>, true> {
  return needed(kept(fields))
}

export function keptObjects<F extends Fields>(fields: F): Shape<readonly KeptOf<F>[]> {
  return keptList(kept(fields))
}

/** @param isCopied what comes out has these fields and no others, and one without a mark may not be missing */
function withFields<T>(fields: Fields, isCopied: boolean): Shape<T> {
  const rules = Object.entries(fields).map(([key, field]) =>
    typeof field === 'function' ? { key, shape: field, isNeeded: isCopied } : { key, ...field },
  )
  return withSchema(
    (value, at) => {
      const given = objectAt(value, at)
      const made: Record<string, unknown> | undefined = isCopied ? {} : undefined
      for (const { key, shape, isNeeded } of rules) {
        const field = Object.hasOwn(given, key) ? given[key] : undefined
        if (!isNeeded && field === undefined) continue
        const read = shape(field, placeOf(at, key))
        if (made !== undefined) made[key] = read
      }
      return (made ?? value) as T
    },
    (defs) => {
      const required = rules.filter(({ isNeeded }) => isNeeded).map(({ key }) => key)
      return {
        type: 'object',
        ...(required.length > 0 && { required }),
        properties: Object.fromEntries(rules.map(({ key, shape }) => [key, schemaOf(shape, defs)])),
      }
    },
  )
}

/** @param key one of those that are known, which may be missing; absent: any */
export function keptRecord<T, Key extends string = string>(of: Shape<T>, key?: Shape<Key>) {
  type Read = Readonly<string extends Key ? Record<Key, T> : Partial<Record<Key, T>>>
  return withSchema<Read>(
    (value, at) => {
      const given = objectAt(value, at)
      for (const name of Object.keys(given)) {
        key?.(name, at)
        of(given[name], placeOf(at, name))
      }
      return value as Read
    },
    (defs) => ({ type: 'object', propertyNames: key && schemaOf(key, defs), additionalProperties: schemaOf(of, defs) }),
  )
}

function placeOf(at: string, key: string): string {
  return at === '' ? key : `${at}.${key}`
}

function objectAt(value: unknown, at: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return fail(at || 'it', 'an object', value)
  return value as Readonly<Record<string, unknown>>
}

export function fail(at: string, wanted: string, value: unknown): never {
  throw new ShapeError(value === undefined ? `${at} is missing` : `${at} is not ${wanted}`)
}

/** A word from a list that later versions may extend: any text. */
export function word<Word extends string>(): Shape<Word> {
  return text as Shape<never>
}

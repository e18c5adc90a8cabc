/**
 * Reading foreign JSON by shape: what comes out has the fields that the shape names, with the types that it names.
 *
 * `object`, `list` and `record` make a copy and leave out what the shape does not name, so that files of later versions can
 * be read. `kept`, `keptList` and `keptRecord` only look: what comes out is the value itself, whatever else is in it. They are
 * for what is large, or is handed on as it is.
 */

/** Takes a value and where it stands; throws ShapeError. */
export type Shape<T> = (value: unknown, at: string) => T

/** What is wrong, in one line, with the place of it. */
export class ShapeError extends Error {
  override readonly name = 'ShapeError'
}

/** A field that may be missing has to say so, and no other may. */
type Fields<T> = {
  readonly [Key in keyof T]-?: undefined extends T[Key] ? Optional<Exclude<T[Key], undefined>> : Shape<T[Key]>
}

interface Optional<T> {
  readonly optional: Shape<T>
}

export function optional<T>(shape: Shape<T>): Optional<T> {
  return { optional: shape }
}

export const text: Shape<string> = (value, at) => (typeof value === 'string' ? value : fail(at, 'text', value))

export const flag: Shape<boolean> = (value, at) =>
  typeof value === 'boolean' ? value : fail(at, 'true or false', value)

/** A whole number, zero or more. */
export const count: Shape<number> = (value, at) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : fail(at, 'a count', value)

export const integer: Shape<number> = (value, at) =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : fail(at, 'a whole number', value)

/** One of the codes that may stand there. */
export function code<Code extends string>(known: readonly Code[]): Shape<Code> {
  return (value, at) => known.find((each) => each === value) ?? fail(at, 'a code', value)
}

export const path: Shape<string> = (value, at) =>
  typeof value === 'string' && value.startsWith('/') ? value : fail(at, 'an absolute path', value)

/** Any that JSON can say; 1e999 is none. */
export const number: Shape<number> = (value, at) =>
  typeof value === 'number' && Number.isFinite(value) ? value : fail(at, 'a number', value)

/** Where nobody relies on what it is. */
export const anything: Shape<unknown> = (value) => value

/** What Go writes as null where it means none. */
export function nullable<T>(of: Shape<T>): Shape<T | null> {
  return (value, at) => (value === null ? null : of(value, at))
}

export function oneOf<T>(...known: readonly T[]): Shape<T> {
  return (value, at) => known.find((each) => each === value) ?? fail(at, `one of ${known.join(', ')}`, value)
}

export function list<T>(of: Shape<T>): Shape<readonly T[]> {
  return (value, at) =>
    Array.isArray(value) ? value.map((entry, index) => of(entry, `${at}[${index}]`)) : fail(at, 'a list', value)
}

export function record<T>(of: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return (value, at) =>
    Object.fromEntries(Object.entries(objectAt(value, at)).map(([key, entry]) => [key, of(entry, `${at}.${key}`)]))
}

export function object<T>(fields: Fields<T>): Shape<T> {
  const shapes = Object.entries(fields) as [string, Shape<unknown> | Optional<unknown>][]
  return (value, at) => {
    const given = objectAt(value, at)
    const made: Record<string, unknown> = {}
    for (const [key, shape] of shapes) {
      const field = Object.hasOwn(given, key) ? given[key] : undefined
      if (typeof shape === 'function') made[key] = shape(field, placeOf(at, key))
      else if (field !== undefined) made[key] = shape.optional(field, placeOf(at, key))
    }
    return made as T
  }
}

/**
 * Every field has to be named. One that others may lack may be missing, unless it is said to be needed; of one that they
 * always have it has to be said.
 */
export type KeptFields<T> = {
  readonly [Key in keyof T]-?: undefined extends T[Key]
    ? Shape<Exclude<T[Key], undefined>> | Needed<Exclude<T[Key], undefined>>
    : Needed<T[Key]> | Unneeded<T[Key]>
}

interface Needed<T> {
  readonly needed: Shape<T>
}

interface Unneeded<T> {
  readonly unneeded: Shape<T>
}

export function needed<T>(shape: Shape<T>): Needed<T> {
  return { needed: shape }
}

/** Others always have it, and nobody relies on that. */
export function unneeded<T>(shape: Shape<T>): Unneeded<T> {
  return { unneeded: shape }
}

/** What T is, the place says where it stands in. */
export function kept<T>(fields: KeptFields<NoInfer<T>>): Shape<T> {
  const rules = Object.entries(fields) as [string, Shape<unknown> | Needed<unknown> | Unneeded<unknown>][]
  const shapes = rules.map(([key, rule]) => {
    if (typeof rule === 'function') return { key, shape: rule, isNeeded: false }
    return 'needed' in rule
      ? { key, shape: rule.needed, isNeeded: true }
      : { key, shape: rule.unneeded, isNeeded: false }
  })
  return (value, at) => {
    const given = objectAt(value, at)
    for (const { key, shape, isNeeded } of shapes) {
      const field = given[key]
      if (isNeeded || field !== undefined) shape(field, placeOf(at, key))
    }
    return value as T
  }
}

export function keptList<T>(of: Shape<T>): Shape<readonly T[]> {
  return (value, at) => {
    if (!Array.isArray(value)) return fail(at, 'a list', value)
    for (let index = 0; index < value.length; index++) of(value[index], `${at}[${index}]`)
    return value
  }
}

export function keptRecord<T>(of: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return (value, at) => {
    const given = objectAt(value, at)
    for (const key of Object.keys(given)) of(given[key], placeOf(at, key))
    return value as Readonly<Record<string, T>>
  }
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

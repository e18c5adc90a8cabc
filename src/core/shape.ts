/**
 * Reading foreign JSON by shape: what comes out has the fields that the shape names, with the types that it names, and
 * nothing else. Unknown fields are left out, so that files of later versions can be read.
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

/** A CamelCase code of the catalogue. */
export const code: Shape<string> = (value, at) =>
  typeof value === 'string' && /^[A-Z][A-Za-z0-9]*$/.test(value) ? value : fail(at, 'a code', value)

export const path: Shape<string> = (value, at) =>
  typeof value === 'string' && value.startsWith('/') ? value : fail(at, 'an absolute path', value)

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
      const place = at === '' ? key : `${at}.${key}`
      if (typeof shape === 'function') made[key] = shape(field, place)
      else if (field !== undefined) made[key] = shape.optional(field, place)
    }
    return made as T
  }
}

function objectAt(value: unknown, at: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return fail(at || 'it', 'an object', value)
  return value as Readonly<Record<string, unknown>>
}

function fail(at: string, wanted: string, value: unknown): never {
  throw new ShapeError(value === undefined ? `${at} is missing` : `${at} is not ${wanted}`)
}

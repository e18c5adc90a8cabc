/** The JSON Schema of a shape: descriptions of its parts, names for parts that occur more than once. */
import { optional, type Shape, schemaOf, withSchema } from './shape.ts'

/** @param words the description */
export function about<T>(words: string, shape: Shape<T>): Shape<T> {
  return withSchema(shape.bind(undefined), (defs) => {
    const { type, ...rest } = schemaOf(shape, defs)
    return { type, description: words, ...rest }
  })
}

/** A field that may be missing. @param words the description */
export function maybe<T>(words: string, shape: Shape<T>) {
  return optional(about(words, shape))
}

/** A part that the schema defines once, under this name, however often it is used. */
export function named<T>(name: string, shape: Shape<T>): Shape<T> {
  return withSchema(shape.bind(undefined), (defs) => {
    if (!defs.has(name)) {
      // It is listed before its own parts.
      defs.set(name, {})
      defs.set(name, schemaOf(shape, defs))
    }
    return { $ref: `#/$defs/${name}` }
  })
}

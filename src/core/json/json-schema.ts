/** What a shape is to others: words for its parts, names for those that come more than once, the whole document. */
import { type JsonSchema, type SchemaOf, type Shape, schemaOf, withSchema } from './shape.ts'

/** @param words what it is */
export function about<T>(words: string, shape: Shape<T>): Shape<T> {
  return told(shape, (defs) => {
    const { type, ...rest } = schemaOf(shape, defs)
    return { ...(type === undefined ? {} : { type }), description: words, ...rest }
  })
}

/** A part that a document has once, under this name, however often it refers to it. */
export function named<T>(name: string, shape: Shape<T>): Shape<T> {
  return told(shape, (defs) => {
    if (!defs.has(name)) {
      // Its place is before that of its own parts.
      defs.set(name, {})
      defs.set(name, schemaOf(shape, defs))
    }
    return { $ref: `#/$defs/${name}` }
  })
}

/** The same shape, and something else to others. */
function told<T>(shape: Shape<T>, schema: SchemaOf): Shape<T> {
  return withSchema((value, at) => shape(value, at), schema)
}

/** The text of a JSON Schema. */
export function schemaText(head: { readonly $id: string; readonly title: string }, shape: Shape<unknown>): string {
  const defs = new Map<string, JsonSchema>()
  const schema = schemaOf(shape, defs)
  const document = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...head,
    ...schema,
    $defs: Object.fromEntries(defs),
  }
  return `${JSON.stringify(document, undefined, 2)}\n`
}

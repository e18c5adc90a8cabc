/** The fields that a JSON Schema promises to whoever reads such documents. */

interface Schema {
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

export interface Field {
  /** JSON's types, and constants. */
  readonly types: readonly string[]
  readonly always: boolean
}

/**
 * @param text of the schema
 * @returns by path: `operations[].pod.uid`; `*` is any name. A definition that contains itself is entered once.
 */
export function fieldsOf(text: string): ReadonlyMap<string, Field> {
  const whole = JSON.parse(text) as Schema
  const fields = new Map<string, Field>()
  const add = (path: string, schema: Schema, always: boolean, within: readonly string[]): void => {
    if (schema.$ref !== undefined) {
      const name = schema.$ref.split('/').at(-1) ?? ''
      const definition = whole.$defs?.[name]
      if (definition !== undefined && !within.includes(name)) add(path, definition, always, [...within, name])
      return
    }
    note(path, schema, always)
    for (const each of schema.anyOf ?? []) add(path, each, always, within)
    for (const [name, field] of Object.entries(schema.properties ?? {}))
      add(path === '' ? name : `${path}.${name}`, field, schema.required?.includes(name) ?? false, within)
    if (schema.items !== undefined) add(`${path}[]`, schema.items, true, within)
    if (typeof schema.additionalProperties === 'object') add(`${path}.*`, schema.additionalProperties, true, within)
  }
  const note = (path: string, schema: Schema, always: boolean): void => {
    const before = fields.get(path)
    const types = new Set([...(before?.types ?? []), ...typesOf(schema)])
    fields.set(path, { types: [...types].toSorted(), always: always && (before?.always ?? true) })
  }
  add('', whole, true, [])
  return fields
}

function typesOf({ type = [], const: constant, enum: values = [] }: Schema): readonly string[] {
  const constants = [...(constant === undefined ? [] : [constant]), ...values]
  return [...(typeof type === 'string' ? [type] : type), ...constants.map((each) => JSON.stringify(each))]
}

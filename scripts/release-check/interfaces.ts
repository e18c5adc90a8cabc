/** What was promised with the last tag and is not kept: each has to be named in CHANGELOG.md. */
import { codesOf, flagsOf, statusesOf } from './manual.ts'
import { type Field, fieldsOf } from './schema-fields.ts'

/** The texts of generated files, by path: `man/volctl-plan.8`, `schema/plan.schema.json`. */
export type Files = ReadonlyMap<string, string>

export interface Broken {
  /** Such as "volctl-plan(8): the flag --orphans is gone". */
  readonly what: string
  /** What CHANGELOG.md has to contain: a flag, a code, a field, "status 3". */
  readonly word: string
}

export function brokenPromises(before: Files, now: Files): readonly Broken[] {
  return [...before].flatMap(([path, text]) => {
    const same = now.get(path)
    const name = path.replace(/^.*\//, '')
    if (same === undefined) return [{ what: `${path} is gone`, word: name.replace(/\.(schema\.json|[78])$/, '') }]
    if (path.endsWith('.schema.json')) return fields(path, fieldsOf(text), fieldsOf(same))
    if (name === 'volctl-codes.7') return gone(codesOf(text), codesOf(same), (code) => `the code ${code} is gone`)
    return [
      ...gone(flagsOf(text), flagsOf(same), (flag) => `${name}: the flag ${flag} is gone`),
      ...statuses(name, statusesOf(text), statusesOf(same)),
    ]
  })
}

function gone(before: readonly string[], now: readonly string[], say: (word: string) => string): readonly Broken[] {
  const kept = new Set(now)
  return before.filter((word) => !kept.has(word)).map((word) => ({ what: say(word), word }))
}

function statuses(page: string, before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>) {
  return [...before]
    .filter(([number, meaning]) => now.get(number) !== meaning)
    .map(([number]) => ({
      what: `${page}: exit status ${number} ${now.has(number) ? 'says something else' : 'is gone'}`,
      word: `status ${number}`,
    }))
}

function fields(path: string, before: ReadonlyMap<string, Field>, now: ReadonlyMap<string, Field>): readonly Broken[] {
  return [...before].flatMap(([field, was]) => {
    const how = broken(was, now.get(field))
    // Of a field that is gone, what was in it is, too.
    if (how === undefined || (how === 'is gone' && !now.has(parent(field)))) return []
    return [{ what: `${path}: ${field} ${how}`, word: lastName(field) }]
  })
}

/** Readers accept a type less, not one more; and a new constant among several, which are open by contract. */
function broken(was: Field, is: Field | undefined): string | undefined {
  if (is === undefined) return 'is gone'
  const isType = (each: string): boolean => /^[a-z]/.test(each) && !['true', 'false'].includes(each)
  const added = is.types.filter((each) => isType(each) && !was.types.includes(each))
  if (added.length > 0) return `may be ${added.join(' or ')} now, and was ${was.types.join(' or ')}`
  const removed = was.types.filter((each) => !isType(each) && !is.types.includes(each))
  if (removed.length > 0) return `is never ${removed.join(' or ')} any more`
  return was.always && !is.always ? 'may be missing now' : undefined
}

function parent(field: string): string {
  return field.endsWith('[]') ? field.slice(0, -2) : field.slice(0, Math.max(0, field.lastIndexOf('.')))
}

function lastName(field: string): string {
  return (
    field
      .replaceAll(/\[\]|\.\*/g, '')
      .split('.')
      .at(-1) ?? field
  )
}

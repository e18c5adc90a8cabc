/** A value as JSON or YAML: the stable forms. js-yaml is loaded only when it is needed. */
import type { ScalarLayout } from 'js-yaml'
import { isTerminalSafe, terminalSafeJson, terminalSafeYaml } from '../messages/terminal-safe.ts'

const PIECE = 1 << 20
/** A document, a list in it, one of that, its list, one of that: an apply's operation in a journal. */
const DEEPEST = 5

/** JSON for people and programs, in pieces of about a mebibyte, so that the text is never held as a whole. */
export function* jsonPieces(value: unknown): Generator<string> {
  let piece = ''
  for (const part of jsonParts(value, '', DEEPEST)) {
    piece += part
    if (piece.length < PIECE) continue
    yield terminalSafeJson(piece)
    piece = ''
  }
  yield terminalSafeJson(`${piece}\n`)
}

function* jsonParts(value: unknown, indent: string, depth: number): Generator<string> {
  const isList = Array.isArray(value)
  if (depth === 0 || !(isList || isPlainObject(value))) {
    // What JSON cannot say is nothing in an object, and null in a list. No text has a newline inside.
    yield (JSON.stringify(value, null, 2) ?? 'null').replaceAll('\n', `\n${indent}`)
    return
  }
  const inner = `${indent}  `
  let before = isList ? '[' : '{'
  for (const [key, each] of Object.entries(value as object)) {
    if (!isList && (each === undefined || typeof each === 'function')) continue
    yield `${before}\n${inner}${isList ? '' : `${JSON.stringify(key)}: `}`
    yield* jsonParts(each, inner, depth - 1)
    before = ','
  }
  yield before === ',' ? `\n${indent}${isList ? ']' : '}'}` : isList ? '[]' : '{}'
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !('toJSON' in value)
}

/** One line of JSON, for `-o ndjson`. */
export function toJsonLine(value: unknown): string {
  return `${terminalSafeJson(JSON.stringify(value))}\n`
}

/** js-yaml writes some unsafe texts unchanged: they are put in double quotes, in which a parser reads an escape as the same text. */
export async function toYaml(value: unknown): Promise<string> {
  const { DEFAULT_SCALAR_STYLE_RULES, dump, SCALAR_STYLE } = await import('js-yaml')
  const quoteUnsafe = (scalar: ScalarLayout): void => {
    if (!isTerminalSafe(scalar.node.value)) scalar.style = SCALAR_STYLE.DOUBLE_QUOTED
  }
  // Through JSON first: what JSON leaves out (undefined), YAML leaves out too.
  const plain = JSON.parse(JSON.stringify(value))
  const scalarStyleRules = [quoteUnsafe, ...Object.values(DEFAULT_SCALAR_STYLE_RULES)]
  return terminalSafeYaml(dump(plain, { lineWidth: -1, noRefs: true, scalarStyleRules }))
}

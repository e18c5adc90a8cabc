/** A value as JSON or YAML: the stable forms. js-yaml is loaded only when it is needed. */
import type { ScalarLayout } from 'js-yaml'
import { isTerminalSafe, terminalSafeJson, terminalSafeYaml } from './terminal-safe.ts'

export function toJson(value: unknown): string {
  return `${terminalSafeJson(JSON.stringify(value, null, 2))}\n`
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

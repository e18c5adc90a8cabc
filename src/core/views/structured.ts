/** A value as JSON or YAML: the stable forms. js-yaml is loaded only when it is needed. */
import { terminalSafeJson } from './terminal-safe.ts'

export function toJson(value: unknown): string {
  return `${terminalSafeJson(JSON.stringify(value, null, 2))}\n`
}

/** One line of JSON, for `-o ndjson`. */
export function toJsonLine(value: unknown): string {
  return `${terminalSafeJson(JSON.stringify(value))}\n`
}

/**
 * js-yaml writes C0 and C1 as escapes and direction marks as they are. Where there are any, every text stands in double
 * quotes, in which an escape is the same to a parser.
 */
export async function toYaml(value: unknown): Promise<string> {
  const { dump } = await import('js-yaml')
  // Through JSON first: what JSON leaves out (undefined), YAML leaves out too.
  const plain = JSON.parse(JSON.stringify(value))
  const yaml = dump(plain, LAYOUT)
  const safe = terminalSafeJson(yaml)
  return safe === yaml ? yaml : terminalSafeJson(dump(plain, { ...LAYOUT, forceQuotes: true, quoteStyle: 'double' }))
}

const LAYOUT = { lineWidth: -1, noRefs: true }

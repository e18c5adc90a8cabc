/** A value as JSON or YAML: the stable forms. js-yaml is loaded only when it is needed. */
import { terminalSafeJson } from './terminal-safe.ts'

export function toJson(value: unknown): string {
  return `${terminalSafeJson(JSON.stringify(value, null, 2))}\n`
}

/** One line of JSON, for `-o ndjson`. */
export function toJsonLine(value: unknown): string {
  return `${terminalSafeJson(JSON.stringify(value))}\n`
}

export async function toYaml(value: unknown): Promise<string> {
  const { dump } = await import('js-yaml')
  // Through JSON first: what JSON leaves out (undefined), YAML leaves out too.
  return dump(JSON.parse(JSON.stringify(value)), { lineWidth: -1, noRefs: true })
}

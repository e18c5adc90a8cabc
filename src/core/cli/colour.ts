import { type Environment, environment } from '../trust/environment.ts'
import type { OutputStream } from '../trust/run.ts'
import { type Palette, palette } from '../views/screen.ts'

/** The colours of one stream. @param argv the command line, as a usage error leaves nothing parsed */
export async function paintOf(argv: readonly string[], { isTTY }: OutputStream): Promise<Palette> {
  return await palette(isColourful(argv, environment(), isTTY === true))
}

/**
 * Whether one stream gets colour. The command line comes before the environment, and of that NO_COLOR before FORCE_COLOR
 * (no-color.org, and what Node.js itself reads).
 */
export function isColourful(
  argv: readonly string[],
  { NO_COLOR, FORCE_COLOR, TERM }: Environment,
  isTerminal: boolean,
): boolean {
  if (argv.includes('--no-color') || NO_COLOR) return false
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return isTerminal && TERM !== 'dumb'
}

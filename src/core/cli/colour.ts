import type { Environment } from '../trust/environment.ts'

/**
 * Whether one stream gets colour. The command line comes before the environment, and of that NO_COLOR before FORCE_COLOR
 * (no-color.org, and what Node.js itself reads). Read from the raw arguments, as a usage error leaves nothing parsed.
 */
export function isColourful(
  argv: readonly string[],
  { NO_COLOR, FORCE_COLOR, TERM }: Pick<Environment, 'NO_COLOR' | 'FORCE_COLOR' | 'TERM'>,
  isTerminal: boolean,
): boolean {
  if (argv.includes('--no-color') || NO_COLOR) return false
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return isTerminal && TERM !== 'dumb'
}

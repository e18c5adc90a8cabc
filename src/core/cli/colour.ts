import type { Environment } from '../trust/environment.ts'

export const COLOR_WHEN = ['auto', 'always', 'never'] as const

/**
 * Whether one stream gets colour. The command line comes before the environment, and of that NO_COLOR before FORCE_COLOR
 * (no-color.org, and what Node.js itself reads). Read from the raw arguments, as a usage error leaves nothing parsed.
 */
export function isColourful(
  argv: readonly string[],
  { NO_COLOR, FORCE_COLOR, TERM }: Pick<Environment, 'NO_COLOR' | 'FORCE_COLOR' | 'TERM'>,
  isTerminal: boolean,
): boolean {
  const when = wanted(argv)
  if (when !== 'auto') return when === 'always'
  if (NO_COLOR) return false
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return isTerminal && TERM !== 'dumb'
}

/** The last one counts, as with every option. */
function wanted(argv: readonly string[]): (typeof COLOR_WHEN)[number] {
  const given = argv.flatMap((arg, index) => {
    if (arg === '--no-color') return 'never'
    return arg === '--color' ? (argv[index + 1] ?? []) : (/^--color=(.*)$/.exec(arg)?.[1] ?? [])
  })
  return COLOR_WHEN.find((when) => when === given.at(-1)) ?? 'auto'
}

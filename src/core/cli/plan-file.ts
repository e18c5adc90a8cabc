/** The FILE of `plan --out` and `apply`. */
import { VolctlError } from '../errors/errors.ts'
import { planFlags } from './plan-flags.ts'

/**
 * Beside a file, what was reviewed is what is planned: no flag may change it.
 *
 * @param given names of the flags on the command line
 * @throws VolctlError Usage, naming them
 */
export function requireNoPlanFlags(given: readonly string[]): void {
  const changing = given.filter((name) => Object.hasOwn(planFlags, name)).map((name) => `--${name}`)
  if (changing.length === 0) return
  const [they, them] = changing.length === 1 ? ['It was', 'it'] : ['They were', 'them']
  throw new VolctlError('Usage', `${changing.join(', ')} cannot be given beside a plan file`, {
    hint: `${they} decided on when the plan was made: give ${them} to volctl plan --out.`,
  })
}

/** Names of the flags that stand on the command line. */
export function givenFlags(tokens: readonly { readonly type: string; readonly flag?: string }[]): string[] {
  return [...new Set(tokens.flatMap(({ type, flag }) => (type === 'flag' && flag !== undefined ? flag : [])))]
}

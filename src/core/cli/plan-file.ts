/** The FILE of `plan --out` and `apply`. */
import { VolctlError } from '../errors/errors.ts'
import { CHANGES_CLUSTER_PLAN } from './cluster-flags.ts'
import { planFlags } from './plan-flags.ts'

/**
 * Beside a file, what was reviewed is what is planned: no flag may change it.
 *
 * @param given names of the flags on the command line
 * @throws VolctlError Usage, naming them
 */
export function requireNoPlanFlags(given: readonly string[]): void {
  const changes = (name: string): boolean => Object.hasOwn(planFlags, name) || CHANGES_CLUSTER_PLAN.has(name)
  const changing = given.filter(changes).map((name) => `--${name}`)
  if (changing.length === 0) return
  const flags = changing.join(', ')
  throw new VolctlError('Usage', `${flags} cannot be combined with a plan file`, {
    hint: `A plan file keeps the flags that it was made with: give ${flags} to volctl plan --out.`,
  })
}

/** Names of the flags that stand on the command line. */
export function givenFlags(tokens: readonly { readonly type: string; readonly flag?: string }[]): string[] {
  return [...new Set(tokens.flatMap(({ type, flag }) => (type === 'flag' && flag !== undefined ? flag : [])))]
}

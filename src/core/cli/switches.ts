/** Flags without a value, written as with kubectl: `--yes=true` is `--yes`, and `--yes=false` is no flag. */
import { VolctlError } from '../errors/errors.ts'

/**
 * The command line with every switch in its plain form: `--name` where it is on, nothing where it is off.
 *
 * @param switches names of the command's flags that take no value
 * @throws VolctlError Usage for any other value
 */
export function plainSwitches(argv: readonly string[], switches: readonly string[]): string[] {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  return argv.flatMap((arg, index) => {
    const [, name, value] = /^--([^=]+)=(.*)$/s.exec(arg) ?? []
    if (index > end || name === undefined || !switches.includes(name)) return arg
    if (value === 'true') return `--${name}`
    if (value === 'false') return []
    throw new VolctlError('Usage', `--${name}: "${value}" is neither true nor false`, {
      hint: `Give --${name} without a value, or omit it.`,
    })
  })
}

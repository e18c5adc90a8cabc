/**
 * The kubelet's command line, in pflag's syntax (N15): `--name=value` or `--name value`, a bare `--name` is true, the
 * last occurrence wins, `_` in names equals `-`, `--` ends the flags.
 *
 * The kubelet rejects arguments that are not flags. So in the command line of a running kubelet, a word after `--name` is
 * always that flag's value, and no list of boolean flags is needed.
 */
export type KubeletFlags = ReadonlyMap<string, string>

/** Flags whose value may begin with a dash: pflag takes any next word as the value. */
const TEXT_FLAGS = new Set([
  'root-dir',
  'config',
  'config-dir',
  'kubeconfig',
  'bootstrap-kubeconfig',
  'hostname-override',
  'container-runtime-endpoint',
  'pod-manifest-path',
  'manifest-url',
  'cert-dir',
  'lock-file',
])

/** @param args without the program's own name */
export function parseKubeletFlags(args: readonly string[]): KubeletFlags {
  const flags = new Map<string, string>()
  for (let i = 0; i < args.length; i++) {
    const word = args[i] ?? ''
    if (word === '--') break
    if (!word.startsWith('--')) continue
    const equals = word.indexOf('=')
    const name = (equals === -1 ? word.slice(2) : word.slice(2, equals)).replaceAll('_', '-')
    const next = args[i + 1]
    if (equals !== -1) flags.set(name, word.slice(equals + 1))
    else if (next !== undefined && (TEXT_FLAGS.has(name) || !next.startsWith('-'))) {
      flags.set(name, next)
      i++
    } else flags.set(name, 'true')
  }
  return flags
}

/** Flags that may carry a credential; they never reach a snapshot. */
const SECRET_FLAGS = /^--(manifest[-_]url[-_]header|static[-_]pod[-_]url[-_]header)(=.*)?$/s

/** The command line with the values of headers taken out. */
export function withoutSecrets(args: readonly string[]): readonly string[] {
  return args.map((word, i) => {
    const inline = SECRET_FLAGS.exec(word)
    if (inline?.[2] !== undefined) return `--${inline[1]}=(hidden)`
    return SECRET_FLAGS.test(args[i - 1] ?? '') && !(args[i - 1] ?? '').includes('=') ? '(hidden)' : word
  })
}

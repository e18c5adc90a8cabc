/** Of a command line that is being typed: the flags that say which node and which API are meant. */

export interface TypedFlags {
  readonly kubeconfig?: string
  readonly context?: string
  readonly node?: string
  readonly rootDir?: string
  readonly snapshot?: string
  /** --cluster: names of the whole cluster are meant. */
  readonly cluster?: true
}

type Valued = Exclude<keyof TypedFlags, 'cluster'>

const FIELDS: Readonly<Record<string, Valued>> = {
  '--kubeconfig': 'kubeconfig',
  '--context': 'context',
  '--node': 'node',
  '--root-dir': 'rootDir',
  '--snapshot': 'snapshot',
}

/** @param words before the one that is being typed; what is odd in them is passed over */
export function typedFlags(words: readonly string[]): TypedFlags {
  const found: Partial<Record<Valued, string>> = {}
  for (let index = 0; index < words.length; index++) {
    const [, flag = '', , value = words[index + 1]] = /^(--[a-z-]+)(=(.*))?$/s.exec(words[index] ?? '') ?? []
    const field = Object.hasOwn(FIELDS, flag) ? FIELDS[flag] : undefined
    if (field !== undefined && value !== undefined && value !== '') found[field] = value
  }
  return words.includes('--cluster') ? { ...found, cluster: true } : found
}

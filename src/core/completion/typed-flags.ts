/** Of a command line that is being typed: the flags that say which node and which API are meant. */
import { statSync } from 'node:fs'
import type { KubeClient } from '../api/kube-client.ts'
import { callerPath } from '../trust/caller.ts'

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

/** A file of this size is parsed in a fraction of the time that an answer may take. */
const MAX_SNAPSHOT = 16 * 1024 * 1024

/** @throws where the snapshot cannot be read at once: a pipe would be emptied, and a large file takes too long */
export function snapshotFile(path: string): string {
  const file = callerPath(path)
  const stats = statSync(file)
  if (!stats.isFile() || stats.size > MAX_SNAPSHOT) throw new Error('not read for a completion')
  return file
}

/** A program for a credential could ask for a password, open a browser, or take long: none is started. */
export async function clientOf(flags: TypedFlags, options?: { readonly pageSize: number }): Promise<KubeClient> {
  const { createKubeClient } = await import('../api/kube-client.ts')
  const { discoverKubeConfig } = await import('../api/kubeconfig/kube-config.ts')
  return createKubeClient(discoverKubeConfig({ ...flags, unattended: true }), options)
}

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { errnoOf } from '../messages/findings.ts'
import { addDoubt, checkTrusted, NotTrusted, readTrustedText, TRUST_HINT } from '../trust/files.ts'
import type { StaticPodsSnapshot } from '../volumes/snapshot.ts'

type Manifest = StaticPodsSnapshot['manifests'][number]

/** The kubelet's own limit for one manifest. */
const MAX_BYTES = 10 * 1024 * 1024

/**
 * The static pods of this node's kubelet (R225-R229, S10).
 *
 * In a directory: every entry whose name does not begin with a dot, any extension, not recursive, sorted, one pod in each
 * file. A file: that one. A missing path is an empty source. The kubelet skips a broken file, but its pod may have been
 * started before the file broke: then `readable` is false, as it is for pods from a URL, which volctl does not fetch.
 */
export function readStaticPods({ path, url }: { path?: string; url?: string }): StaticPodsSnapshot {
  const read = path === undefined ? [] : manifestFiles(path).map((file) => file && readManifest(file))
  return {
    path: path ?? url,
    readable: url === undefined && read.every(Boolean),
    manifests: read.flatMap((each) => each || []),
  }
}

/** An undefined element stands for a directory that could not be listed. */
function manifestFiles(path: string): readonly (string | undefined)[] {
  try {
    const names = readdirSync(path)
    return names
      .filter((name) => !name.startsWith('.'))
      .sort()
      .map((name) => join(path, name))
  } catch (error) {
    const code = errnoOf(error)
    if (code === 'ENOENT') return []
    return code === 'ENOTDIR' ? [path] : [undefined]
  }
}

/** Nothing of a directory. Undefined: it cannot be read, or is no pod's. */
function readManifest(file: string): readonly Manifest[] | undefined {
  try {
    if (checkTrusted(file).isDirectory()) return []
    return manifestOf(file, load(readTrustedText(file, MAX_BYTES)))
  } catch (error) {
    if (error instanceof NotTrusted)
      addDoubt({ what: file, why: `this file is ignored: ${error.message}`, hint: TRUST_HINT, unknown: true })
    return undefined
  }
}

function manifestOf(file: string, document: unknown): readonly Manifest[] | undefined {
  if (typeof document !== 'object' || document === null) return undefined
  const { kind, metadata } = document as { kind?: unknown; metadata?: Record<string, unknown> }
  const [name, namespace = 'default', uid] = [metadata?.name, metadata?.namespace, metadata?.uid].map(filled)
  return kind === 'Pod' && name !== undefined ? [{ file, namespace, name, uid }] : undefined
}

/** An empty text is none. */
function filled(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

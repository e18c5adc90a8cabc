import { readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { load } from 'js-yaml'
import { errnoOf, errorMessage, said, VolctlError } from '../../messages/findings.ts'
import { NotTrusted, readTrustedText, TRUST_HINT, whyUnusable } from '../../trust/files.ts'
import type { KubeletFlags } from './kubelet-flags.ts'

interface Types {
  readonly string: string
  readonly boolean: boolean
  readonly number: number
}

/** The fields of KubeletConfiguration that volctl uses, and the flags that win over them. Nothing else is kept: some fields hold credentials. */
const FIELDS = {
  staticPodPath: ['string', 'pod-manifest-path'],
  staticPodURL: ['string', 'manifest-url'],
  enableControllerAttachDetach: ['boolean', 'enable-controller-attach-detach'],
  /** Removed from Kubernetes; old kubelets still use it (R710). */
  keepTerminatedPodVolumes: ['boolean', 'keep-terminated-pod-volumes'],
  containerRuntimeEndpoint: ['string', 'container-runtime-endpoint'],
  /** Port of the kubelet's API. */
  port: ['number', 'port'],
  healthzPort: ['number', 'healthz-port'],
  healthzBindAddress: ['string', 'healthz-bind-address'],
  /** Where the drivers of flexVolumes are (P85). */
  volumePluginDir: ['string', 'volume-plugin-dir'],
} as const satisfies Readonly<Record<string, readonly [keyof Types, string]>>

export type KubeletConfig = {
  readonly [Name in keyof typeof FIELDS]?: Types[(typeof FIELDS)[Name][0]]
} & { readonly featureGates?: Readonly<Record<string, boolean>> }

/** Relative to the file, or to the kubelet's working directory. */
const PATHS: ReadonlySet<string> = new Set(['staticPodPath', 'volumePluginDir'])

type Document = Readonly<Record<string, unknown>>

/**
 * The effective configuration (N11), lowest to highest: the `--config` file, the `*.conf` drop-ins of `--config-dir` in
 * lexical order of their paths, flags. Relative paths inside a file are relative to that file's directory.
 *
 * @param workingDirectory the kubelet's working directory, for relative paths of flags
 * @throws VolctlError NodeUnreadable
 */
export function kubeletConfig(flags: KubeletFlags, workingDirectory: string): KubeletConfig {
  const files: string[] = []
  const config = flags.get('config')
  if (config) files.push(resolve(workingDirectory, config))
  const directory = flags.get('config-dir')
  if (directory) files.push(...dropIns(resolve(workingDirectory, directory)))
  const documents = files.map(readConfigFile)
  const merged: Document = Object.assign({}, ...documents)
  // In a map, unlike a list, a later file replaces single keys.
  const gates = Object.assign({}, ...documents.map(({ featureGates }) => featureGates))
  const featureGates = Object.fromEntries(
    Object.entries({ ...gates, ...flagGates(flags.get('feature-gates') ?? '') }).filter(
      ([, on]) => typeof on === 'boolean',
    ),
  )
  const known = Object.entries(FIELDS).map(([name, [kind, flag]]) => {
    const given = flags.get(flag)
    if (given === undefined) return [name, typeof merged[name] === kind ? merged[name] : '']
    if (kind === 'number') return [name, Number(given)]
    if (kind === 'boolean') return [name, given !== 'false']
    return [name, PATHS.has(name) ? from(workingDirectory, given) : given]
  })
  return {
    // Empty texts count as none.
    ...Object.fromEntries(known.filter(([, value]) => value !== '')),
    ...(Object.keys(featureGates).length > 0 && { featureGates }),
  }
}

function readConfigFile(path: string): Document {
  let document: unknown
  try {
    document = load(readTrustedText(path))
  } catch (error) {
    if (error instanceof NotTrusted) throw unreadable(path, `not used: ${error.message}`, error, TRUST_HINT)
    const errno = errnoOf(error)
    const why = errno === undefined ? (errorMessage(error).split('\n')[0] ?? '') : whyUnusable('it', error)
    throw unreadable(path, why, error)
  }
  if (typeof document !== 'object' || document === null) throw unreadable(path, 'not an object')
  // By content, never by name: on some distributions kubelet.conf is a kubeconfig, on others it is not (N23).
  const kind = (document as Document).kind
  if (kind !== undefined && kind !== 'KubeletConfiguration')
    throw unreadable(path, `a ${String(kind)}, not a KubeletConfiguration`)
  const resolved = Object.entries(document).map(([name, value]) => [
    name,
    PATHS.has(name) && typeof value === 'string' ? from(dirname(path), value) : value,
  ])
  return Object.fromEntries(resolved)
}

/** An empty path always counts as no path. */
function from(directory: string, path: string): string {
  return path === '' ? '' : resolve(directory, path)
}

/** Recursive, names ending in `.conf` only, in lexical order of the whole path. */
function dropIns(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true, recursive: true })
      .filter((entry) => !entry.isDirectory() && entry.name.endsWith('.conf'))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw unreadable(directory, errorMessage(error), error)
  }
}

/** `A=true,B=false` */
function flagGates(text: string): Readonly<Record<string, boolean>> {
  const pairs = text === '' ? [] : text.split(',').map((pair) => pair.split('=').map((word) => word.trim()))
  return Object.fromEntries(pairs.map(([name = '', value]) => [name, value?.toLowerCase() === 'true']))
}

const REPAIR_IT =
  'Without this file the static pods and the container runtime are unknown: repair the file, or run volctl as root.'

function unreadable(path: string, why: string, cause?: unknown, hint = REPAIR_IT): VolctlError {
  return new VolctlError(said('NodeUnreadable.kubeletConfig', { path, why }), { cause, hint })
}

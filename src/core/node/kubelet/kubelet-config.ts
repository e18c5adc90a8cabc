import { readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { load } from 'js-yaml'
import { errnoOf, errorMessage, VolctlError } from '../../base/errors.ts'
import { NotTrusted, readTrustedText, TRUST_HINT, whyUnusable } from '../../trust/files.ts'
import type { KubeletFlags } from './kubelet-flags.ts'

interface Types {
  readonly string: string
  readonly boolean: boolean
  readonly number: number
}

interface Field {
  readonly type: keyof Types
  /** The flag that wins over the files. */
  readonly flag: string
  readonly isPath?: true
}

/** The fields of KubeletConfiguration that volctl uses. Nothing else is kept, since some fields hold credentials. */
const FIELDS = {
  staticPodPath: { type: 'string', flag: 'pod-manifest-path', isPath: true },
  staticPodURL: { type: 'string', flag: 'manifest-url' },
  enableControllerAttachDetach: { type: 'boolean', flag: 'enable-controller-attach-detach' },
  /** Removed from Kubernetes; old kubelets still use it (R710). */
  keepTerminatedPodVolumes: { type: 'boolean', flag: 'keep-terminated-pod-volumes' },
  containerRuntimeEndpoint: { type: 'string', flag: 'container-runtime-endpoint' },
  /** Port of the kubelet's API. */
  port: { type: 'number', flag: 'port' },
  healthzPort: { type: 'number', flag: 'healthz-port' },
  healthzBindAddress: { type: 'string', flag: 'healthz-bind-address' },
  /** Where the drivers of flexVolumes are (P85). */
  volumePluginDir: { type: 'string', flag: 'volume-plugin-dir', isPath: true },
} as const satisfies Readonly<Record<string, Field>>

export type KubeletConfig = {
  readonly [Name in keyof typeof FIELDS]?: Types[(typeof FIELDS)[Name]['type']]
} & { readonly featureGates?: Readonly<Record<string, boolean>> }

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
  const featureGates = gatesOf({
    ...Object.assign({}, ...documents.map(({ featureGates }) => featureGates)),
    ...flagGates(flags.get('feature-gates') ?? ''),
  })
  const known = Object.entries<Field>(FIELDS).map(([name, { type, flag, isPath }]) => {
    const given = flags.get(flag)
    if (given === undefined) return [name, typeof merged[name] === type ? merged[name] : '']
    if (type !== 'string') return [name, type === 'number' ? Number(given) : given !== 'false']
    return [name, isPath ? from(workingDirectory, given) : given]
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
    if (error instanceof NotTrusted) throw unreadable(path, `not used: ${error.why}`, error, TRUST_HINT)
    const errno = errnoOf(error)
    const why = errno === undefined ? (errorMessage(error).split('\n')[0] ?? '') : whyUnusable('it', error)
    throw unreadable(path, why, error)
  }
  if (typeof document !== 'object' || document === null) throw unreadable(path, 'not an object')
  // By content, never by name: on some distributions kubelet.conf is a kubeconfig, on others it is not (N23).
  const kind = (document as Document).kind
  if (kind !== undefined && kind !== 'KubeletConfiguration')
    throw unreadable(path, `a ${String(kind)}, not a KubeletConfiguration`)
  const { staticPodPath, volumePluginDir } = document as Document
  const directory = dirname(path)
  return {
    ...document,
    ...(typeof staticPodPath === 'string' && { staticPodPath: from(directory, staticPodPath) }),
    ...(typeof volumePluginDir === 'string' && { volumePluginDir: from(directory, volumePluginDir) }),
  }
}

/** An empty path always counts as no path. */
function from(directory: string, path = ''): string {
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

function gatesOf(gates: object): Readonly<Record<string, boolean>> {
  return Object.fromEntries(Object.entries(gates).filter(([, value]) => typeof value === 'boolean'))
}

/** `A=true,B=false` */
function flagGates(text: string): Readonly<Record<string, boolean>> {
  const pairs = text === '' ? [] : text.split(',').map((pair) => pair.split('=').map((word) => word.trim()))
  return Object.fromEntries(pairs.map(([name = '', value]) => [name, value?.toLowerCase() === 'true']))
}

const REPAIR_IT =
  'Without this file the static pods and the container runtime are unknown: repair the file, or run volctl as root.'

function unreadable(path: string, why: string, cause?: unknown, hint = REPAIR_IT): VolctlError {
  return new VolctlError('NodeUnreadable', `kubelet configuration ${path}: ${why}`, {
    cause,
    hint,
  })
}

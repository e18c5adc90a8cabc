import { dirname, isAbsolute, join } from 'node:path'
import { load } from 'js-yaml'
import type { ErrorCode } from '../../messages/codes.ts'
import { unreadText } from '../../messages/disk-trouble.ts'
import { type Finding, isMissing, said, VolctlError, type VolctlErrorOptions } from '../../messages/findings.ts'
import { NotAFile, NotTrusted, readTrustedText, TRUST_HINT } from '../../trust/files.ts'

/**
 * Why a place gives no credential, where the search for one has to know.
 *
 * - absent: there is no such file, and the next place is tried;
 * - passedOver: a file that exists, and that volctl does not use unasked: the next place is tried, and a message says so;
 * - unsafe: the same, since somebody else could have written the kubeconfig itself, not a file that it names (S33);
 * - otherContext: the person has named a context that is not there: their mistake, not the file's, so no other place is tried.
 */
type Why = 'absent' | 'passedOver' | 'unsafe' | 'otherContext'

export class NotUsed extends VolctlError {
  readonly why: Why

  constructor(why: Why, finding: Finding<ErrorCode>, options?: VolctlErrorOptions) {
    super(finding, options)
    this.why = why
  }
}

export type Fields = Readonly<Record<string, unknown>>

/** Undefined: it is empty, or no text. */
export function textIn(fields: Fields, name: string): string | undefined {
  const { [name]: value } = fields
  return typeof value === 'string' && value !== '' ? value : undefined
}

interface Named extends Fields {
  readonly name: string
}

/** A kubeconfig as in the file; relative paths made absolute. */
export interface RawKubeConfig {
  readonly clusters: readonly Named[]
  readonly users: readonly Named[]
  readonly contexts: readonly Named[]
  readonly 'current-context'?: string
}

/**
 * Reads one kubeconfig; not by @kubernetes/client-node, whose parser opens the token file that a kubeconfig names before anyone could
 * judge it, and drops tokenFile, as-groups, as-uid, as-user-extra and disable-compression. The content decides whether a file is a kubeconfig: OpenShift's /etc/kubernetes/kubelet.conf is the
 * kubelet's configuration (N23). The parser's message is not repeated, since it quotes the file, which has secrets.
 */
export function readKubeConfigFile(path: string): RawKubeConfig {
  const document = parse(path, readText(path))
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw new VolctlError(said('KubeconfigInvalid.noMapping', { path }))
  }
  const fields = document as Fields
  // kubectl accepts a file without kind; another kind is another thing.
  if (fields.kind !== undefined && fields.kind !== 'Config') {
    throw new VolctlError(said('KubeconfigInvalid.otherKind', { path, kind: String(fields.kind) }))
  }
  const directory = dirname(path)
  return {
    clusters: entries(path, fields, 'clusters').map((entry) => resolved(entry, 'cluster', directory)),
    users: entries(path, fields, 'users').map((entry) => resolved(entry, 'user', directory)),
    contexts: entries(path, fields, 'contexts'),
    'current-context': textIn(fields, 'current-context'),
  }
}

/** Only a trusted file: a kubeconfig decides which server volctl trusts, and may name a program to run (S33). */
function readText(path: string): string {
  try {
    return readTrustedText(path)
  } catch (cause) {
    if (cause instanceof NotTrusted) {
      const unsafe = said('KubeconfigUnsafe.why', { file: `The kubeconfig ${path}`, message: cause.message })
      throw new NotUsed('unsafe', unsafe, { cause, hint: TRUST_HINT })
    }
    if (cause instanceof NotAFile) throw new VolctlError(said('KubeconfigInvalid.notFile', { why: cause.message }))
    if (isMissing(cause))
      throw new NotUsed('absent', said('NoKubeconfig.missing', { path }), { hint: 'Check the path.' })
    const unread = said('KubeconfigInvalid.unread', { path, why: unreadText(cause) })
    throw new VolctlError(unread, { hint: 'Run volctl as root, or check the file.' })
  }
}

function parse(path: string, text: string): unknown {
  try {
    return text.trim() === '' ? undefined : load(text)
  } catch (error) {
    const line = (error as { mark?: { line?: unknown } }).mark?.line
    const where = typeof line === 'number' ? ` at line ${line + 1}` : ''
    throw damaged(path, `not valid YAML${where}`)
  }
}

function entries(path: string, fields: Fields, key: string): Named[] {
  const list = fields[key] ?? []
  if (!Array.isArray(list) || list.some((entry) => typeof (entry as Named | null)?.name !== 'string')) {
    throw damaged(path, `${key} is not a list of named entries`)
  }
  return list as Named[]
}

function damaged(path: string, why: string): VolctlError {
  return new VolctlError(said('KubeconfigInvalid.damaged', { path, why }))
}

/** Absolute paths in a kubeconfig from another process's file system (/proc/N/root) are paths of that file system, too. */
const FOREIGN_ROOT = /^\/proc\/\d+\/root(?=\/|$)/

/** A copy of `fields` with file references resolved against the file's directory (N39). */
function absolutePaths(fields: Fields, keys: readonly string[], directory: string): Fields {
  const root = FOREIGN_ROOT.exec(directory)?.[0] ?? ''
  const found = keys.flatMap((key) => {
    const value = textIn(fields, key)
    return value === undefined ? [] : [[key, isAbsolute(value) ? root + value : join(directory, value)]]
  })
  return { ...fields, ...Object.fromEntries(found) }
}

const FILES = {
  cluster: ['certificate-authority'],
  user: ['client-certificate', 'client-key', 'tokenFile'],
} as const

function resolved(entry: Named, of: keyof typeof FILES, directory: string): Named {
  const given = entry[of] as Fields | null | undefined
  if (!given) return entry
  const exec = given.exec as Fields | null | undefined
  // A command without a slash is a name, and looked for where programs are (N43).
  const isPath = exec != null && textIn(exec, 'command')?.includes('/')
  const fields = isPath ? { ...given, exec: absolutePaths(exec, ['command'], directory) } : given
  return { ...entry, [of]: absolutePaths(fields, FILES[of], directory) }
}

/** Merges files of a KUBECONFIG list: the first definition of a name, and the first current-context, win (N39). */
export function mergeKubeConfigs(configs: readonly RawKubeConfig[]): RawKubeConfig {
  const merged = (key: 'clusters' | 'users' | 'contexts'): Named[] => {
    const all = configs.flatMap((config) => config[key]).toReversed()
    return [...new Map(all.map((entry) => [entry.name, entry])).values()].toReversed()
  }
  return {
    clusters: merged('clusters'),
    users: merged('users'),
    contexts: merged('contexts'),
    'current-context': configs.map((config) => config['current-context']).find((name) => name),
  }
}

/**
 * Credentials from a program (client-go's exec plugins, N43).
 *
 * The program runs as root. So the kubeconfig must have been given explicitly, and nobody but root may have been able to
 * write the program. The program gets a fixed environment and what the kubeconfig adds, and is killed at its deadline with
 * everything that it has started. Its output is a secret: bounded in size, and never shown.
 */

import { codeOf, errnoOf, errorMessage, type Hint, said, VolctlError } from '../../messages/findings.ts'
import { TRUST_HINT } from '../../trust/files.ts'
import { ownUser } from '../../trust/invoker.ts'
import { parseJson } from '../../trust/parse-json.ts'
import { CommandMissing, type CommandResult, runCommand } from '../../trust/programs.ts'
import { type Fields, textIn } from './kube-config-file.ts'

export interface ExecPlugin {
  /** An absolute path, or a name that is looked for in the fixed program directories. */
  readonly command: string
  readonly args: readonly string[]
  /** What the kubeconfig adds to the fixed environment. */
  readonly env: Readonly<Record<string, string>>
  readonly apiVersion: string
  /** The plugin asks for information about the cluster. */
  readonly provideClusterInfo: boolean
  readonly installHint?: string
}

interface PluginRun {
  /** For `provideClusterInfo`, in the form of ExecCredential's `spec.cluster`. */
  readonly cluster: Fields
  readonly deadlineMs: number
  readonly signal?: AbortSignal
}

const VERSIONS = ['v1', 'v1beta1'].map((version) => `client.authentication.k8s.io/${version}`)
/** Certificates and tokens are a few KiB. */
const LIMITS = { maxBytes: 1024 * 1024, maxDepth: 20, maxValues: 1000 }
const BY_HAND =
  'Run it by hand, or use another credential. The plugin gets no environment variable of yours: put what it needs into env, beside its command.'

/** @throws VolctlError CredentialFailed for a plugin that volctl cannot run */
export function execPluginOf(exec: unknown): ExecPlugin | undefined {
  if (typeof exec !== 'object' || exec === null) return undefined
  const fields = exec as Fields
  const { args, env, apiVersion, interactiveMode, provideClusterInfo } = fields
  const command = textIn(fields, 'command')
  if (command === undefined) throw unfit('of the kubeconfig has no command', "Check the user's exec.command.")
  if (interactiveMode === 'Always') {
    const hint = 'Set interactiveMode to IfAvailable or Never, or use another credential.'
    throw unfit(`${command} requires a terminal`, hint)
  }
  const version = apiVersion === undefined || apiVersion === '' ? VERSIONS[0] : apiVersion
  if (!VERSIONS.includes(version as string)) {
    const hint = `kubectl and volctl know ${VERSIONS.join(' and ')}: renew the kubeconfig.`
    throw unfit(`${command} has version ${String(version)}`, hint)
  }
  return {
    command,
    args: Array.isArray(args) ? args.map(String) : [],
    env: variablesIn(env),
    apiVersion: version as string,
    provideClusterInfo: provideClusterInfo === true,
    installHint: textIn(fields, 'installHint'),
  }
}

function variablesIn(env: unknown): Record<string, string> {
  const list = Array.isArray(env) ? (env as (Fields | null)[]) : []
  return Object.fromEntries(list.flatMap((each) => (each?.name ? [[String(each.name), String(each.value ?? '')]] : [])))
}

/** @returns a token, a client certificate, or both @throws VolctlError CredentialFailed, or the signal's reason */
export async function runExecPlugin(plugin: ExecPlugin, run: PluginRun) {
  const { deadlineMs, signal } = run
  signal?.throwIfAborted()
  const watched = { env: environmentOf(plugin, run.cluster), signal }
  let result: CommandResult
  try {
    result = await runCommand(plugin.command, plugin.args, deadlineMs, undefined, watched)
  } catch (error) {
    throw notStarted(plugin, error)
  }
  signal?.throwIfAborted()
  if (result.flooded) throw failed(plugin, 'too much output')
  if (result.timedOut) throw failed(plugin, `no answer within ${deadlineMs / 1000} s`)
  if (result.status !== 0) throw failed(plugin, firstLine(result.stderr) || `exit status ${result.status}`)
  return credentialIn(plugin, result.stdout)
}

/** The plugin's environment; volctl never gives it a terminal. */
function environmentOf({ env, apiVersion, provideClusterInfo }: ExecPlugin, cluster: Fields): Record<string, string> {
  const spec = { interactive: false, ...(provideClusterInfo && { cluster }) }
  const info = { apiVersion, kind: 'ExecCredential', spec }
  const home = ownUser().homedir ?? (process.geteuid?.() === 0 ? '/root' : '/')
  return { HOME: home, ...env, KUBERNETES_EXEC_INFO: JSON.stringify(info) }
}

function credentialIn(plugin: ExecPlugin, output: string) {
  let answer: Fields | null
  try {
    answer = parseJson(output, LIMITS) as Fields | null
  } catch {
    throw failed(plugin, NO_CREDENTIAL)
  }
  const { kind = 'ExecCredential', apiVersion = plugin.apiVersion } = answer ?? {}
  const status = answer?.status
  if (kind !== 'ExecCredential' || typeof status !== 'object' || status === null) throw failed(plugin, NO_CREDENTIAL)
  if (apiVersion !== plugin.apiVersion) {
    throw failed(plugin, `the answer does not have the requested version (${plugin.apiVersion})`)
  }
  const { clientCertificateData: cert, clientKeyData: key } = status as Fields
  const token = textIn(status as Fields, 'token')
  const pair = isPem(cert) && isPem(key) ? { cert, key } : undefined
  if (token === undefined && pair === undefined)
    throw failed(plugin, 'the answer has neither a token nor a certificate with a key')
  return { token, ...pair }
}

const NO_CREDENTIAL = 'the output is not an ExecCredential'

function isPem(value: unknown): value is string {
  return typeof value === 'string' && value.includes('-----BEGIN ')
}

/** What errors of starting it mean; EACCES also if a directory may not be searched. */
const NOT_RUN = new Map([
  ['ENOENT', 'not found'],
  ['ENOTDIR', 'not found'],
  ['EACCES', 'not found, or not allowed to run'],
])

function notStarted(plugin: ExecPlugin, error: unknown): VolctlError {
  if (error instanceof CommandMissing) {
    const where = 'not found in the directories that volctl searches'
    return failed(plugin, where, plugin.installHint ?? 'Install it, or give its absolute path in the kubeconfig.')
  }
  if (codeOf(error) === 'NotBelieved') return failed(plugin, errorMessage(error), TRUST_HINT)
  const cause = error instanceof VolctlError ? error.cause : error
  const errno = errnoOf(cause)
  return failed(plugin, NOT_RUN.get(errno ?? '') ?? errno ?? 'could not be started')
}

/** One line, without anything of its standard output, which may be a token. */
function failed({ command, installHint }: ExecPlugin, why: string, hint = installHint ?? BY_HAND): VolctlError {
  return unfit(`${command} gave no credential: ${why}`, firstLine(hint))
}

function unfit(why: string, hint: Hint): VolctlError {
  return new VolctlError(said('CredentialFailed.plugin', { why }), { hint })
}

function firstLine(text: string): string {
  return (text.trim().split('\n')[0] ?? '').slice(0, 200)
}

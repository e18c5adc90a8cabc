/**
 * Which credential volctl uses (contract, Flags; N39, N40). The first usable place wins. super-admin.conf, which bypasses
 * authorisation, is never taken unasked.
 *
 * A kubeconfig that is given (--kubeconfig, KUBECONFIG) is used, or is an error. A kubeconfig that is only found is skipped
 * and reported if another user could have written it, or if it would start a program (S33).
 */

import { delimiter, join, resolve } from 'node:path'
import { said, VolctlError } from '../../messages/findings.ts'
import { addDoubt, type Doubt, NotTrusted, TRUST_HINT, trustedTextIfAny } from '../../trust/files.ts'
import { ownUser } from '../../trust/invoker.ts'
import { callerPath, type Environment, environment } from '../../trust/run.ts'
import { IN_CLUSTER } from '../api/names.ts'
import type { KubeCredentials } from '../transport/connection.ts'
import { mergeKubeConfigs, NotUsed, type RawKubeConfig, readKubeConfigFile } from './kube-config-file.ts'
import { type CredentialOptions, credentialsFrom } from './kube-credentials.ts'

export const ADMIN_FILES = [
  '/etc/kubernetes/admin.conf',
  '/etc/rancher/k3s/k3s.yaml',
  '/etc/rancher/rke2/rke2.yaml',
  '/var/lib/k0s/pki/admin.conf',
  '/var/snap/microk8s/current/credentials/client.config',
] as const

const KUBELET_FILES = [
  '/etc/kubernetes/kubelet.conf',
  '/var/lib/kubelet/kubeconfig',
  '/etc/kubernetes/kubelet/kubeconfig',
  '/var/lib/rancher/k3s/agent/kubelet.kubeconfig',
  '/var/lib/rancher/rke2/agent/kubelet.kubeconfig',
  '/var/lib/k0s/kubelet.conf',
  '/var/snap/microk8s/current/credentials/kubelet.config',
] as const

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/** A place that was tried, for --verbose. Without `problem`, its credential is used. */
export interface KubeConfigAttempt {
  readonly source: string
  readonly problem?: string
}

export interface DiscoverOptions {
  /** --kubeconfig: must exist, and is used alone; or IN_CLUSTER. */
  readonly kubeconfig?: string
  /** --context. */
  readonly context?: string
  /** The kubelet's own --kubeconfig, where one was found. */
  readonly kubeletKubeconfig?: string
  readonly env?: Environment
  /** Prefix of the well-known files; "/" unless the host's root is elsewhere. */
  readonly hostRoot?: string
  /** Deadline of a credential plugin. */
  readonly pluginDeadlineMs?: number
  readonly onAttempt?: (attempt: KubeConfigAttempt) => void
}

/** Finds the credential to use. @throws VolctlError that names the places that were tried */
export function discoverKubeConfig(options: DiscoverOptions): KubeCredentials {
  const env = options.env ?? environment()
  if (options.kubeconfig === IN_CLUSTER) return requireCluster(env, options)
  const named = options.kubeconfig ?? env.KUBECONFIG
  if (named !== undefined && named !== '') {
    const paths = options.kubeconfig === undefined ? listOf(named) : [resolve(named)]
    const found = fromFiles(paths, { ...options, kind: 'kubeconfig', given: true })
    options.onAttempt?.({ source: found.source })
    return found
  }
  const tried = search(options.onAttempt)
  const { context } = options
  const found =
    // A program that a plain user's own file names runs with no more rights than this user has, who could as well have started kubectl.
    firstUsable(homeFiles(env), { ...options, kind: 'kubeconfig', given: !isRoot(), own: true }, tried) ??
    firstUsable(onHost(ADMIN_FILES, options), { context, kind: 'admin', given: false }, tried) ??
    firstUsable(kubeletFiles(options), { context, kind: 'kubelet', given: false }, tried) ??
    fromCluster(env, options, tried)
  if (found === undefined) throw nothing(tried, env)
  // The kubeconfig that is used may not be the one that the user expects. If none is used, the error names the skipped ones.
  for (const { doubt } of tried.passedOver) addDoubt(doubt)
  return found
}

/**
 * The kubelet's own credential, for the second look at the pod list (S2).
 *
 * @returns `credentials`, if one can be used; `unused`: one that exists, and why it is not used
 */
export function discoverKubeletConfig(options: Pick<DiscoverOptions, 'kubeletKubeconfig' | 'hostRoot' | 'onAttempt'>) {
  const tried = search(options.onAttempt)
  const kind = { kind: 'kubelet', given: false, secondLook: true } as const
  const credentials = firstUsable(kubeletFiles(options), kind, tried)
  if (credentials !== undefined) return { credentials }
  const [unused] = tried.passedOver
  if (unused === undefined) return {}
  if (unused.error.cause instanceof NotTrusted) addDoubt(unused.doubt)
  return { unused: { source: unused.doubt.what, problem: unused.error.message } }
}

type Search = ReturnType<typeof search>

/** The places that are tried. */
function search(onAttempt: DiscoverOptions['onAttempt']) {
  const attempts: KubeConfigAttempt[] = []
  /** Files that exist, and are not used because others could have written them, or because they would start a program. */
  const passedOver: { readonly error: VolctlError; readonly doubt: Doubt }[] = []
  const note = (source: string, problem?: string): void => {
    const attempt = { source, problem }
    attempts.push(attempt)
    onAttempt?.(attempt)
  }
  return { attempts, passedOver, note }
}

const MISSING = 'does not exist'

function withoutName(source: string, message: string): string {
  return message.startsWith(`${source} `) ? `it${message.slice(source.length)}` : message
}

function listOf(value: string): string[] {
  const paths = value.split(delimiter).filter((path) => path !== '')
  const existing = paths.map((path) => callerPath(path)).filter(isThere)
  if (existing.length > 0) return existing
  throw new NotUsed('absent', said('NoKubeconfig.noneOf', { value }), {
    hint: 'Correct or unset KUBECONFIG, or give --kubeconfig.',
  })
}

/** A file that exists but cannot be read is an error later. */
function isThere(path: string): boolean {
  const { text, unusable } = trustedTextIfAny(path)
  return text !== undefined || unusable !== undefined
}

interface Kind extends Omit<CredentialOptions, 'read' | 'source'> {
  /** The user's own kubeconfig: if it is damaged, that is an error, and no other credential is taken instead. */
  readonly own?: true
}

function fromFiles(paths: readonly string[], kind: Kind): KubeCredentials {
  const read = (): RawKubeConfig => mergeKubeConfigs(paths.map(readKubeConfigFile))
  return credentialsFrom({ ...kind, read, source: paths.join(delimiter) })
}

function homeFiles(env: Environment): string[] {
  const home = env.HOME || ownUser().homedir
  return home === undefined ? [] : [callerPath(resolve(home, '.kube', 'config'))]
}

function isRoot(): boolean {
  return process.geteuid?.() === 0
}

/** The hint for a file in another user's home directory: ownership there must not be changed. */
const COPY =
  'If the file is right, copy it to a directory where only root may write, and give the copy with --kubeconfig.'

function onHost(paths: readonly string[], { hostRoot = '/' }: DiscoverOptions): string[] {
  return paths.map((path) => join(hostRoot, path))
}

function kubeletFiles(options: DiscoverOptions): string[] {
  const { kubeletKubeconfig: own } = options
  return [...new Set([...(own === undefined ? [] : [own]), ...onHost(KUBELET_FILES, options)])]
}

function firstUsable(paths: readonly string[], kind: Kind, tried: Search): KubeCredentials | undefined {
  for (const path of paths) {
    try {
      const found = fromFiles([path], kind)
      tried.note(path)
      return found
    } catch (error) {
      if (!(error instanceof VolctlError)) throw error
      const { why } = error instanceof NotUsed ? error : {}
      if (why === 'otherContext' || (kind.own && why === undefined)) throw error
      const problem = withoutName(path, error.message)
      tried.note(path, why === 'absent' ? MISSING : problem)
      if (why === undefined || why === 'absent') continue
      const hint = (kind.own && why === 'unsafe' ? COPY : error.hint) ?? TRUST_HINT
      const { cause } = error
      tried.passedOver.push({
        error,
        doubt: { what: path, why: cause instanceof NotTrusted ? cause.message : problem, hint },
      })
      if (kind.secondLook) return undefined
    }
  }
  return undefined
}

function fromCluster(env: Environment, options: DiscoverOptions, tried: Search): KubeCredentials | undefined {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env
  // In the Pod that volctl was started in, also where it has entered the node (--host-root).
  const directory = callerPath(join(options.hostRoot ?? '/', SERVICE_ACCOUNT))
  if (!host || !port || !isThere(join(directory, 'token'))) {
    tried.note(IN_CLUSTER, NOT_IN_A_POD)
    return undefined
  }
  tried.note(IN_CLUSTER)
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
  const config: RawKubeConfig = {
    clusters: [{ name: 'in-cluster', cluster: { server, 'certificate-authority': join(directory, 'ca.crt') } }],
    users: [{ name: 'in-cluster', user: { tokenFile: join(directory, 'token') } }],
    contexts: [{ name: 'in-cluster', context: { cluster: 'in-cluster', user: 'in-cluster' } }],
    'current-context': 'in-cluster',
  }
  const { context } = options
  return credentialsFrom({ read: () => config, source: IN_CLUSTER, kind: 'in-cluster', given: false, context })
}

function requireCluster(env: Environment, options: DiscoverOptions): KubeCredentials {
  const found = fromCluster(env, options, search(options.onAttempt))
  if (found !== undefined) return found
  throw new VolctlError(said('NoKubeconfig.notInPod', { value: IN_CLUSTER, why: NOT_IN_A_POD }), {
    hint: `Leave it out; a file of this name is ./${IN_CLUSTER}.`,
  })
}

const NOT_IN_A_POD = 'not in a pod with a service account'

/** Places that the error names, the line that counts the others included. */
const MOST_LINES = 5

function nothing({ attempts, passedOver }: Search, env: Environment): VolctlError {
  const hasFile = ({ problem }: KubeConfigAttempt): boolean => problem !== MISSING && problem !== NOT_IN_A_POD
  const places = [...attempts.filter(hasFile), ...attempts.filter((each) => !hasFile(each))].map(placeText)
  const named = places.length > MOST_LINES ? places.slice(0, MOST_LINES - 1) : places
  const more = places.length - named.length
  const rest = more === 0 ? [] : [`Nor in ${more} more places (--verbose lists them).`]
  const [first] = passedOver
  return new VolctlError(said('NoKubeconfig.nowhere', { places: [...named, ...rest].join(' ') }), {
    hint: first?.doubt.hint ?? whatToType(env),
  })
}

/** A sentence; most problems name the file themselves. */
function placeText({ source, problem = '' }: KubeConfigAttempt): string {
  const text = problem.replace(/\.$/, '').replace(/^The kubeconfig /, '')
  if (problem === MISSING) return `${source} ${MISSING}.`
  return text.includes(source) && !text.startsWith('it ') ? `${text}.` : `${source}: ${text}.`
}

function whatToType({ SUDO_USER: user }: Environment): string {
  if (!isRoot()) {
    return 'On a node, run it as root: sudo volctl. Elsewhere give a kubeconfig: --kubeconfig FILE, or KUBECONFIG.'
  }
  if (user === undefined || !/^[a-z_][\w.-]*$/i.test(user)) return 'Give one: --kubeconfig FILE, or KUBECONFIG.'
  return `Under sudo ${user}'s own kubeconfig is not used unless it is given: --kubeconfig ~${user}/.kube/config`
}

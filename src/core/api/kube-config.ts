/**
 * Which credential volctl uses (contract, Flags; N39, N40). The first usable place wins. super-admin.conf, which
 * bypasses authorisation, is never taken by itself.
 */

import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { VolctlError } from '../errors.ts'
import { mergeKubeConfigs, type RawKubeConfig, readKubeConfigFile } from './kube-config-file.ts'
import { type CredentialKind, credentialsFrom, type KubeCredentials } from './kube-credentials.ts'

export const ADMIN_FILES = [
  '/etc/kubernetes/admin.conf',
  '/etc/rancher/k3s/k3s.yaml',
  '/etc/rancher/rke2/rke2.yaml',
  '/var/lib/k0s/pki/admin.conf',
  '/var/snap/microk8s/current/credentials/client.config',
] as const

export const KUBELET_FILES = [
  '/etc/kubernetes/kubelet.conf',
  '/var/lib/kubelet/kubeconfig',
  '/etc/kubernetes/kubelet/kubeconfig',
  '/var/lib/rancher/k3s/agent/kubelet.kubeconfig',
  '/var/lib/rancher/rke2/agent/kubelet.kubeconfig',
  '/var/lib/k0s/kubelet.conf',
  '/var/snap/microk8s/current/credentials/kubelet.config',
] as const

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/** One place that was looked at, for --verbose. `problem` absent: it is the one. */
export interface KubeConfigAttempt {
  readonly source: string
  readonly problem?: string
}

export interface DiscoverOptions {
  /** --kubeconfig: must exist, and is used alone. */
  readonly kubeconfig?: string | undefined
  /** --context. */
  readonly context?: string | undefined
  /** The kubelet's own --kubeconfig, where one was found. */
  readonly kubeletKubeconfig?: string | undefined
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Prefix of the well-known files; "/" unless the host's root lies elsewhere. */
  readonly hostRoot?: string
  readonly onAttempt?: (attempt: KubeConfigAttempt) => void
}

/** Finds the credential to use, or says where it looked. */
export function discoverKubeConfig(options: DiscoverOptions = {}): KubeCredentials {
  const env = options.env ?? process.env
  const named = options.kubeconfig ?? env.KUBECONFIG
  if (named !== undefined && named !== '') {
    const paths = options.kubeconfig === undefined ? listOf(named) : [named]
    const found = fromFiles(
      paths.map((path) => resolve(path)),
      'kubeconfig',
      options.context,
    )
    options.onAttempt?.({ source: found.source })
    return found
  }
  const attempts: KubeConfigAttempt[] = []
  const note = (attempt: KubeConfigAttempt): void => {
    attempts.push(attempt)
    options.onAttempt?.(attempt)
  }
  return (
    fromHome(env, options, note) ?? fromNode(options, note) ?? fromCluster(env, options, note) ?? nothing(attempts, env)
  )
}

/** The kubelet's own credential, for the second look at the pod list (S2); undefined where none is readable. */
export function discoverKubeletConfig(
  options: Pick<DiscoverOptions, 'kubeletKubeconfig' | 'hostRoot' | 'onAttempt'> = {},
): KubeCredentials | undefined {
  return firstUsable(kubeletFiles(options), 'kubelet', undefined, options.onAttempt ?? (() => {}))
}

function listOf(value: string): string[] {
  const paths = value.split(delimiter).filter((path) => path !== '')
  const existing = paths.filter((path) => existsSync(path))
  if (existing.length > 0) return existing
  throw new VolctlError('KubeconfigMissing', `KUBECONFIG names no file that exists: ${value}.`, {
    hint: 'Correct or unset KUBECONFIG, or give --kubeconfig.',
  })
}

function fromFiles(paths: readonly string[], kind: CredentialKind, context: string | undefined): KubeCredentials {
  const read = (): RawKubeConfig => mergeKubeConfigs(paths.map(readKubeConfigFile))
  return credentialsFrom(read, paths.join(delimiter), kind, context)
}

type Note = (attempt: KubeConfigAttempt) => void

/** A person's own file is meant: where it is damaged, that is said instead of taking another credential. */
function fromHome(
  env: Readonly<Record<string, string | undefined>>,
  options: DiscoverOptions,
  note: Note,
): KubeCredentials | undefined {
  const path = join(env.HOME || homedir(), '.kube', 'config')
  if (!existsSync(path)) {
    note({ source: path, problem: 'does not exist' })
    return undefined
  }
  const found = fromFiles([path], 'kubeconfig', options.context)
  note({ source: path })
  return found
}

function fromNode(options: DiscoverOptions, note: Note): KubeCredentials | undefined {
  const root = options.hostRoot ?? '/'
  const admin = ADMIN_FILES.map((path) => join(root, path))
  return (
    firstUsable(admin, 'admin', options.context, note) ??
    firstUsable(kubeletFiles(options), 'kubelet', options.context, note)
  )
}

function kubeletFiles(options: Pick<DiscoverOptions, 'kubeletKubeconfig' | 'hostRoot'>): string[] {
  const files = KUBELET_FILES.map((path) => join(options.hostRoot ?? '/', path))
  return options.kubeletKubeconfig === undefined ? files : [options.kubeletKubeconfig, ...files]
}

function firstUsable(
  paths: readonly string[],
  kind: CredentialKind,
  context: string | undefined,
  note: Note,
): KubeCredentials | undefined {
  for (const path of paths) {
    if (!existsSync(path)) {
      note({ source: path, problem: 'does not exist' })
      continue
    }
    try {
      const found = fromFiles([path], kind, context)
      note({ source: path })
      return found
    } catch (error) {
      // An unknown --context is the person's mistake, not this file's.
      if (!(error instanceof VolctlError) || error.code === 'UnknownContext') throw error
      note({ source: path, problem: error.message })
    }
  }
  return undefined
}

function fromCluster(
  env: Readonly<Record<string, string | undefined>>,
  options: DiscoverOptions,
  note: Note,
): KubeCredentials | undefined {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env
  const directory = join(options.hostRoot ?? '/', SERVICE_ACCOUNT)
  if (!host || !port || !existsSync(join(directory, 'token'))) {
    note({ source: 'in-cluster', problem: 'not in a pod with a service account' })
    return undefined
  }
  note({ source: 'in-cluster' })
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
  const config: RawKubeConfig = {
    clusters: [{ name: 'in-cluster', cluster: { server, 'certificate-authority': join(directory, 'ca.crt') } }],
    users: [{ name: 'in-cluster', user: { tokenFile: join(directory, 'token') } }],
    contexts: [{ name: 'in-cluster', context: { cluster: 'in-cluster', user: 'in-cluster' } }],
    'current-context': 'in-cluster',
  }
  return credentialsFrom(() => config, 'in-cluster', 'in-cluster', options.context)
}

function nothing(attempts: readonly KubeConfigAttempt[], env: Readonly<Record<string, string | undefined>>): never {
  const found = attempts.filter(({ problem }) => problem !== 'does not exist' && !problem?.startsWith('not in a pod'))
  const details = found.map(({ problem }) => ` ${problem}`).join('')
  const sudo = env.SUDO_USER ? ` (${env.SUDO_USER}'s own kubeconfig is not taken by itself under sudo)` : ''
  throw new VolctlError('NoKubeconfig', `No kubeconfig was found in any of the usual places${sudo}.${details}`, {
    hint: 'Give one with --kubeconfig or KUBECONFIG; --verbose lists the places that were looked at.',
  })
}

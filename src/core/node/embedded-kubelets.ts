/** Kubelets inside other programs: their flags are not on a command line of their own (N14, N22). */
import { load } from 'js-yaml'
import type { CandidateSource } from './kubelet-candidate.ts'
import { parseKubeletFlags } from './kubelet-flags.ts'
import { readTextIfAny } from './read-text.ts'
import { splitWords } from './systemd-unit.ts'

type Origin = Pick<CandidateSource, 'source' | 'pid' | 'unit'>

const K3S_CONFIG = '/etc/rancher/k3s/config.yaml'
const MICROK8S_ARGS = '/var/snap/microk8s/current/args/kubelet'

/**
 * k3s: `--kubelet-arg=name=value` on its command line, and the same in its configuration file.
 *
 * @param args of k3s, without its own name
 * @param root prefix of the configuration's path, for tests
 */
export function k3sKubelet(origin: Origin, args: readonly string[], root = ''): CandidateSource {
  const config = k3sConfig(root)
  const own = parseKubeletFlags(args)
  const dataDir = own.get('data-dir') ?? textOf(config['data-dir']) ?? '/var/lib/rancher/k3s'
  const nodeName = own.get('node-name') ?? textOf(config['node-name'])
  return {
    ...origin,
    args: [...listOf(config['kubelet-arg']), ...flagValues(args, 'kubelet-arg')].map(
      (arg) => `--${arg.replace(/^-+/, '')}`,
    ),
    workingDirectory: '/',
    kubeconfig: `${dataDir}/agent/kubelet.kubeconfig`,
    staticPodPath: `${dataDir}/agent/pod-manifests`,
    runtimeEndpoint: 'unix:///run/k3s/containerd/containerd.sock',
    ...(nodeName !== undefined && { nodeName }),
  }
}

/** microk8s: the kubelet's flags are a file, one a line. */
export function microk8sKubelet(origin: Origin, root = ''): CandidateSource {
  const lines = (readTextIfAny(root + MICROK8S_ARGS) ?? '').split('\n').filter((line) => !line.trim().startsWith('#'))
  const snapVariables = (word: string): string =>
    word
      .replaceAll(/\$\{?SNAP_DATA\}?/g, '/var/snap/microk8s/current')
      .replaceAll(/\$\{?SNAP_COMMON\}?/g, '/var/snap/microk8s/common')
  return {
    ...origin,
    args: lines.flatMap(splitWords).map(snapVariables),
    workingDirectory: '/',
    rootDir: '/var/snap/microk8s/common/var/lib/kubelet',
    kubeconfig: '/var/snap/microk8s/current/credentials/kubelet.config',
    runtimeEndpoint: 'unix:///var/snap/microk8s/common/run/containerd.sock',
  }
}

function k3sConfig(root: string): Readonly<Record<string, unknown>> {
  try {
    const document = load(readTextIfAny(root + K3S_CONFIG) ?? '')
    return typeof document === 'object' && document !== null ? { ...document } : {}
  } catch {
    return {}
  }
}

/** Every value of a flag that may be repeated. */
function flagValues(args: readonly string[], name: string): readonly string[] {
  return args.flatMap((word, i) => {
    if (word.startsWith(`--${name}=`)) return [word.slice(name.length + 3)]
    const next = args[i + 1]
    return word === `--${name}` && next !== undefined ? [next] : []
  })
}

function listOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(String)
  return typeof value === 'string' ? [value] : []
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

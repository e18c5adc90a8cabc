import { hostname } from 'node:os'
import { posix } from 'node:path'
import { load } from 'js-yaml'
import { obeyedTextIfAny } from '../../trust/files.ts'
import type { PinnedProcess } from '../../trust/processes.ts'
import { canonicalNodeName, type KubeletFlags, parseKubeletFlags, withoutSecrets } from './kubelet-flags.ts'
import { splitWords } from './systemd-unit.ts'

export const DEFAULT_ROOT_DIR = '/var/lib/kubelet'

/** A kubelet that runs, or would be started, on this host. Its configuration file is not read yet. */
export interface KubeletCandidate {
  /** For messages: "process 812", "unit kubelet.service". */
  readonly source: string
  readonly pid?: number
  /** Pinned while the node is located. */
  readonly process?: PinnedProcess
  readonly unit?: string
  readonly flags: KubeletFlags
  readonly args: readonly string[]
  readonly rootDir: string
  readonly nodeName: string
  /**
   * True if a flag or the distribution's file sets the name; otherwise it is the host name, or comes from the cloud provider.
   */
  readonly isNamed: boolean
  /** Absent: a kubelet without an API server (N12), or one whose kubeconfig is in its distribution's usual place. */
  readonly kubeconfig?: string
  readonly workingDirectory: string
  /** Defaults of an embedded kubelet's distribution; flags win. */
  readonly runtimeEndpoint?: string
  readonly staticPodPath?: string
  /** The kubelet's flags name no kubeconfig at all: it does not talk to an API server. */
  readonly standalone: boolean
}

/** Where it was found, and what is known of it before its flags are read. */
type Known = Pick<KubeletCandidate, 'source'> & Partial<KubeletCandidate>

/**
 * Flags win over the defaults of the distribution (N12, N13, N16).
 *
 * @param known its `args` without the program's name
 */
export function candidateFrom({
  args = [],
  workingDirectory = '/',
  kubeconfig: usual,
  ...known
}: Known): KubeletCandidate {
  const flags = parseKubeletFlags(args)
  const kubeconfig = flags.get('kubeconfig') ?? usual
  const named = flags.get('hostname-override')?.trim() || known.nodeName
  const bootstrap = flags.get('bootstrap-kubeconfig')
  return {
    ...known,
    flags,
    workingDirectory,
    args: withoutSecrets(args),
    rootDir: posix.resolve(workingDirectory, flags.get('root-dir') || known.rootDir || DEFAULT_ROOT_DIR),
    nodeName: canonicalNodeName(named || hostname()),
    isNamed: Boolean(named),
    // Relative to the kubelet's working directory, as for the kubelet itself (S33).
    kubeconfig: kubeconfig ? posix.resolve(workingDirectory, kubeconfig) : undefined,
    standalone: (known.pid !== undefined || known.unit !== undefined) && !kubeconfig && !bootstrap,
  }
}

// Kubelets inside other programs: no command line shows their flags alone (N14).

/** k3s runs the kubelet in its own process, rke2 as a child with its own flags; both are configured alike. */
type RancherProgram = 'k3s' | 'rke2'
const MICROK8S_ARGS = '/var/snap/microk8s/current/args/kubelet'

/**
 * k3s and rke2: `--kubelet-arg=name=value` on the command line, or in the configuration file.
 *
 * @param args of the program, without its own name
 * @param root prefix of the configuration's path, for tests
 */
export function rancherKubelet(
  program: RancherProgram,
  origin: Known,
  args: readonly string[],
  root = '',
): KubeletCandidate {
  const config = configOf(program, root)
  const own = parseKubeletFlags(args)
  const dataDir = own.get('data-dir') ?? textOf(config['data-dir']) ?? `/var/lib/rancher/${program}`
  const nodeName = own.get('node-name') ?? textOf(config['node-name'])
  return candidateFrom({
    ...origin,
    args: [...listOf(config['kubelet-arg']), ...flagValues(args, 'kubelet-arg')].map(
      (arg) => `--${arg.replace(/^-+/, '')}`,
    ),
    kubeconfig: `${dataDir}/agent/kubelet.kubeconfig`,
    staticPodPath: `${dataDir}/agent/pod-manifests`,
    runtimeEndpoint: 'unix:///run/k3s/containerd/containerd.sock',
    nodeName,
  })
}

/** microk8s: the kubelet's flags are in a file, one in each line. */
export function microk8sKubelet(origin: Known, root = ''): KubeletCandidate {
  const lines = (obeyedTextIfAny(root + MICROK8S_ARGS) ?? '').split('\n').filter((line) => !line.trim().startsWith('#'))
  const snapVariables = (word: string): string =>
    word
      .replaceAll(/\$\{?SNAP_DATA\}?/g, '/var/snap/microk8s/current')
      .replaceAll(/\$\{?SNAP_COMMON\}?/g, '/var/snap/microk8s/common')
  return candidateFrom({
    ...origin,
    args: lines.flatMap(splitWords).map(snapVariables),
    rootDir: '/var/snap/microk8s/common/var/lib/kubelet',
    kubeconfig: '/var/snap/microk8s/current/credentials/kubelet.config',
    runtimeEndpoint: 'unix:///var/snap/microk8s/common/run/containerd.sock',
  })
}

/**
 * k0s: its kubelet is a child process, with a root directory below that of k0s.
 *
 * @param args of k0s, without its own name
 * @returns undefined for a controller that is not a worker: it has no kubelet
 */
export function k0sKubelet(origin: Known, args: readonly string[]): KubeletCandidate | undefined {
  const own = parseKubeletFlags(args)
  const isWorker = args.includes('worker') || own.has('enable-worker') || own.has('single')
  if (!isWorker) return undefined
  const dataDir = own.get('data-dir') ?? '/var/lib/k0s'
  return candidateFrom({
    ...origin,
    args: flagValues(args, 'kubelet-extra-args').flatMap(splitWords),
    rootDir: own.get('kubelet-root-dir') ?? `${dataDir}/kubelet`,
    kubeconfig: `${dataDir}/kubelet.conf`,
    runtimeEndpoint: 'unix:///run/k0s/containerd.sock',
  })
}

function configOf(program: RancherProgram, root: string): Readonly<Record<string, unknown>> {
  try {
    const document = load(obeyedTextIfAny(`${root}/etc/rancher/${program}/config.yaml`) ?? '')
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

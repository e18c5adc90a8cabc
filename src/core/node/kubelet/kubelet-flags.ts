import { basename, resolve } from 'node:path'
import { present } from '../../base/text.ts'
import { KEEPS_TERMINATED, MANAGED } from '../../kube/api/names.ts'
import { said } from '../../messages/findings.ts'
import { trustedTextIfAny } from '../../trust/files.ts'
import type { NodeSnapshot } from '../../volumes/snapshot.ts'

/**
 * The kubelet's command line, in pflag's syntax (N15): `--name=value` or `--name value`, a bare `--name` is true, the
 * last occurrence wins, `_` in names equals `-`, `--` ends the flags.
 *
 * The kubelet rejects arguments that are not flags. So in the command line of a running kubelet, a word after `--name` is
 * always that flag's value, and no list of boolean flags is needed.
 */
export type KubeletFlags = ReadonlyMap<string, string>

/** Flags whose value may begin with a dash: pflag takes any next word as the value. */
const TEXT_FLAGS = new Set([
  'root-dir',
  'config',
  'config-dir',
  'kubeconfig',
  'bootstrap-kubeconfig',
  'hostname-override',
  'container-runtime-endpoint',
  'pod-manifest-path',
  'manifest-url',
  'cert-dir',
  'lock-file',
])

/** @param args without the program's own name */
export function parseKubeletFlags(args: readonly string[]): KubeletFlags {
  const flags = new Map<string, string>()
  for (let i = 0; i < args.length; i++) {
    const word = args[i] ?? ''
    if (word === '--') break
    if (!word.startsWith('--')) continue
    const equals = word.indexOf('=')
    const name = (equals === -1 ? word.slice(2) : word.slice(2, equals)).replaceAll('_', '-')
    const next = args[i + 1]
    if (equals !== -1) flags.set(name, word.slice(equals + 1))
    else if (next !== undefined && (TEXT_FLAGS.has(name) || !next.startsWith('-'))) {
      flags.set(name, next)
      i++
    } else flags.set(name, 'true')
  }
  return flags
}

/** Flags that may carry a credential; they never reach a snapshot. */
const SECRET_FLAGS = /^--(manifest[-_]url[-_]header|static[-_]pod[-_]url[-_]header)(=.*)?$/s

/** The command line with the values of headers taken out. */
export function withoutSecrets(args: readonly string[]): readonly string[] {
  return args.map((word, i) => {
    const inline = SECRET_FLAGS.exec(word)
    if (inline?.[2] !== undefined) return `--${inline[1]}=(hidden)`
    return SECRET_FLAGS.test(args[i - 1] ?? '') && !(args[i - 1] ?? '').includes('=') ? '(hidden)' : word
  })
}

/** Trimmed and in lower case, as the kubelet registers it (N13). */
export function canonicalNodeName(name: string): string {
  return name.trim().toLowerCase()
}

/** By which a node is known: its name, and what its kubelet reported as that of its host. */
export function hostnamesOf({ nodeName, api }: NodeSnapshot): string[] {
  const { metadata, status } = api?.node ?? {}
  const addresses = (status?.addresses ?? []).filter(({ type }) => type === 'Hostname')
  return present(nodeName, metadata?.labels?.['kubernetes.io/hostname'], ...addresses.map(({ address }) => address))
}

// Recognises a kubelet whose program has another name (a distribution's own, a copy) by its flags (S11, N14). Flags that
// other programs of a node also have are not enough.

const wordsIn = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Flags that only a kubelet has, in this release or an earlier one. */
const ITS_OWN = wordsIn(`
  root-dir config-dir container-runtime-endpoint container-runtime pod-manifest-path register-node bootstrap-kubeconfig
  node-labels register-with-taints pod-infra-container-image node-ip max-pods volume-plugin-dir network-plugin cni-bin-dir
  cgroup-driver fail-swap-on cluster-dns seccomp-default kubelet-cgroups runtime-cgroups image-credential-provider-config
  rotate-certificates exit-on-lock-contention enable-controller-attach-detach keep-terminated-pod-volumes
  runtime-request-timeout image-gc-high-threshold`)

/** Other programs of a node with such flags, and volctl. */
const OTHERS = new Set(
  wordsIn(`
  volctl volctl.cjs launch.cjs kubectl kubeadm crictl helm kube-proxy kube-router kube-apiserver kube-controller-manager
  kube-scheduler cloud-controller-manager containerd dockerd crio cri-dockerd node-problem-detector flanneld calico-node
  cilium-agent`),
)

/** Programs that start the command that follows on their command line, and wait. The started process is judged itself (S32). */
const STARTERS = new Set(
  wordsIn(`
  sudo su runuser doas setpriv setsid env nice ionice chrt taskset numactl stdbuf unshare nsenter chroot bwrap systemd-run
  systemd-nspawn start-stop-daemon daemonize flock timeout watch xargs time strace ltrace gdb tini dumb-init catatonit
  docker-init docker podman nerdctl ctr runc crun rkt conmon runsv s6-supervise supervise`),
)

/** By the command line as the kernel shows it: most processes are no kubelet, and are not examined further. */
export const MAY_BE_KUBELET =
  /(?:^|\0)--(?:(?:bootstrap[-_])?kubeconfig|container[-_]runtime[-_]endpoint|pod[-_]manifest[-_]path)[=\0]/

/**
 * True for a kubelet's arguments: a kubeconfig, and either a flag that only a kubelet has, a node name, or a kubelet's
 * configuration file; without a kubeconfig, two flags that only a kubelet has.
 *
 * @param args with the program's name
 * @param root prefix of the configuration file's path, for tests
 */
export function isKubeletByFlags(args: readonly string[], workingDirectory: string, root = ''): boolean {
  const [program = '', ...rest] = args
  const flagsBegin = rest.findIndex((word) => word.startsWith('--'))
  // Only before the flags: later on, such a path is often a root directory.
  const startsAnother = rest.slice(0, Math.max(flagsBegin, 0)).some((word) => word.endsWith('/kubelet'))
  if (STARTERS.has(basename(program)) || startsAnother) return false
  if (args.some((word) => OTHERS.has(basename(word)))) return false
  const flags = parseKubeletFlags(rest)
  const own = ITS_OWN.filter((name) => flags.has(name)).length
  if (!flags.has('kubeconfig') && !flags.has('bootstrap-kubeconfig')) return own >= 2
  if (own >= 1 || flags.has('hostname-override') || rest.includes('kubelet')) return true
  return namesItsConfig(flags, workingDirectory, root)
}

/** True if --config names a KubeletConfiguration: by its content if that can be read, otherwise by its name. */
function namesItsConfig(flags: KubeletFlags, workingDirectory: string, root: string): boolean {
  const path = flags.get('config')
  if (!path) return false
  const { text } = trustedTextIfAny(root + resolve(workingDirectory, path))
  return text === undefined ? /kubelet/.test(path) : /^\s*"?kind"?:\s*"?KubeletConfiguration\b/m.test(text)
}

/** The refusal if --node names another node than this host (S1). @param own the node name that this host's kubelet uses */
export function otherName(nodeName: string, own: string) {
  return {
    rule: 'S1',
    ...said('OtherNode.name', { own, nodeName }),
    hint: `Omit --node, or give --node ${own}.`,
  }
}

// How this node's kubelet is configured to treat attachments and the volumes of pods that have ended (N8-N10, R702, R710).

/**
 * Why the attach/detach controller does not attach and detach for this node, in words; undefined if it does, or if the Node
 * could not be read. A kubelet configured to attach volumes itself removes the annotation when it starts (N8).
 */
export function whyNotManaged({ api, kubelet }: NodeSnapshot): string | undefined {
  const node = api?.node
  if (node === undefined || node === null) return undefined
  if (node.metadata.annotations?.[MANAGED] === undefined)
    return `node ${node.metadata.name} has no annotation ${MANAGED}`
  return setting(kubelet, 'enableControllerAttachDetach', 'enable-controller-attach-detach') === false
    ? 'the kubelet is configured to attach volumes itself (enableControllerAttachDetach: false)'
    : undefined
}

/**
 * The setting that keeps the volumes of pods that have ended while the API lists the pods, in words; undefined: there is
 * none. Kubernetes 1.36 ignores the setting; volctl still respects it (N10).
 */
export function whyTerminatedKept({ api, kubelet }: NodeSnapshot): string | undefined {
  const kept = api?.node?.metadata.annotations?.[KEEPS_TERMINATED]
  if (kept !== undefined && kept !== 'false') return `node annotation ${KEEPS_TERMINATED}: ${kept}`
  return setting(kubelet, 'keepTerminatedPodVolumes', 'keep-terminated-pod-volumes') === true
    ? "keepTerminatedPodVolumes of the kubelet's configuration"
    : undefined
}

/** From the configuration, which includes the flags, otherwise from the command line itself (N15). */
function setting(kubelet: NodeSnapshot['kubelet'], field: string, flag: string): boolean | undefined {
  const own = kubelet?.config?.[field]
  if (typeof own === 'boolean') return own
  const given = parseKubeletFlags(kubelet?.args ?? []).get(flag)
  return given === undefined ? undefined : given !== 'false'
}

/**
 * A kubelet whose program has another name (a distribution's own, a copy, a wrapper) is known by its flags (S11, N14). Nothing
 * else has them: what other programs of a node share with it is not enough by itself.
 */
import { basename, resolve } from 'node:path'
import { trustedTextIfAny } from '../trust/files.ts'
import { type KubeletFlags, parseKubeletFlags } from './kubelet-flags.ts'

/** That only a kubelet has, in this release or an earlier one. */
const ITS_OWN = [
  ...[
    'root-dir',
    'config-dir',
    'container-runtime-endpoint',
    'container-runtime',
    'pod-manifest-path',
    'register-node',
  ],
  ...[
    'bootstrap-kubeconfig',
    'node-labels',
    'register-with-taints',
    'pod-infra-container-image',
    'node-ip',
    'max-pods',
  ],
  ...[
    'volume-plugin-dir',
    'network-plugin',
    'cni-bin-dir',
    'cgroup-driver',
    'fail-swap-on',
    'cluster-dns',
    'seccomp-default',
  ],
  ...[
    'kubelet-cgroups',
    'runtime-cgroups',
    'image-credential-provider-config',
    'rotate-certificates',
    'exit-on-lock-contention',
  ],
  ...[
    'enable-controller-attach-detach',
    'keep-terminated-pod-volumes',
    'runtime-request-timeout',
    'image-gc-high-threshold',
  ],
] as const

/** Programs of a node with flags like these, and volctl. */
const OTHERS = new Set([
  ...['volctl', 'volctl.cjs', 'launch.cjs', 'kubectl', 'kubeadm', 'crictl', 'helm'],
  ...[
    'kube-proxy',
    'kube-router',
    'kube-apiserver',
    'kube-controller-manager',
    'kube-scheduler',
    'cloud-controller-manager',
  ],
  ...[
    'containerd',
    'dockerd',
    'crio',
    'cri-dockerd',
    'node-problem-detector',
    'flanneld',
    'calico-node',
    'cilium-agent',
  ],
])

/** Of a command line as the kernel has it: most processes are none, and are not looked at further. */
export function mayBeKubelet(cmdline: string): boolean {
  return /(?:^|\0)--(?:(?:bootstrap[-_])?kubeconfig|container[-_]runtime[-_]endpoint|pod[-_]manifest[-_]path)[=\0]/.test(
    cmdline,
  )
}

/**
 * Whether these are a kubelet's: a kubeconfig and something of its own or the name of a node, or a kubelet's configuration
 * file; of one without an API server two of its own.
 *
 * @param args with the program's name and that of what it may be wrapped in
 * @param root prefix of the configuration file's path, for tests
 */
export function isKubeletByFlags(args: readonly string[], workingDirectory: string, root = ''): boolean {
  if (args.some((word) => OTHERS.has(basename(word)))) return false
  const flags = parseKubeletFlags(args.slice(1))
  const own = ITS_OWN.filter((name) => flags.has(name)).length
  if (!flags.has('kubeconfig') && !flags.has('bootstrap-kubeconfig')) return own >= 2
  return (
    own >= 1 ||
    flags.has('hostname-override') ||
    args.includes('kubelet') ||
    namesItsConfig(flags, workingDirectory, root)
  )
}

/** By content, where it can be read: what is called so need not be one, and one need not be called so. */
function namesItsConfig(flags: KubeletFlags, workingDirectory: string, root: string): boolean {
  const path = flags.get('config')
  if (!path) return false
  const file = trustedTextIfAny(root + resolve(workingDirectory, path))
  return file.state === 'read' ? /^\s*"?kind"?:\s*"?KubeletConfiguration\b/m.test(file.text) : /kubelet/.test(path)
}

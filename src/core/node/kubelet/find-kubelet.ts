/** Finds this node's kubelet: its process, otherwise the unit that would start it (S8, N16). */
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { SafetyRefusal } from '../../base/errors.ts'
import { obeyedTextIfAny } from '../../trust/obeyed-text.ts'
import {
  type CandidateSource,
  candidateFrom,
  DEFAULT_ROOT_DIR,
  type KubeletCandidate,
  k0sKubelet,
  microk8sKubelet,
  rancherKubelet,
} from './kubelet-candidate.ts'
import { canonicalNodeName, isKubeletByFlags } from './kubelet-flags.ts'
import { enabledOf, readServiceUnit, type ServiceUnit, serviceUnitsNaming, splitWords } from './systemd-unit.ts'

/** Units that start a kubelet, by distribution. */
const KUBELET_UNITS = [
  'kubelet.service',
  'snap.microk8s.daemon-kubelite.service',
  'k3s.service',
  'k3s-agent.service',
  'rke2-server.service',
  'rke2-agent.service',
  'k0sworker.service',
  'k0scontroller.service',
]

/** Root directories of distributions whose kubelet leaves no unit behind (N16). */
const KNOWN_ROOTS: readonly Omit<CandidateSource, 'source' | 'args' | 'workingDirectory'>[] = [
  { rootDir: DEFAULT_ROOT_DIR },
  {
    rootDir: '/var/lib/k0s/kubelet',
    kubeconfig: '/var/lib/k0s/kubelet.conf',
    runtimeEndpoint: 'unix:///run/k0s/containerd.sock',
  },
  { rootDir: '/var/snap/microk8s/common/var/lib/kubelet' },
  { rootDir: '/var/vcap/data/kubelet' },
  { rootDir: '/mnt/paas/kubernetes/kubelet' },
]

/** Root directories that a kubelet may have, even if nothing names them. */
export const KNOWN_ROOT_DIRS: readonly string[] = KNOWN_ROOTS.flatMap(({ rootDir }) => rootDir ?? [])

export interface KubeletChoice {
  /** --root-dir */
  readonly rootDir?: string | undefined
  /** --node */
  readonly nodeName?: string | undefined
  /** --runtime-endpoint */
  readonly runtimeEndpoint?: string | undefined
  /** The kubelet that volctl has stopped (S35): as long as none runs it is this one, whatever becomes of its unit's files. */
  readonly stopped?: KubeletCandidate | undefined
}

/**
 * @param running kubelets that run; if there are any, only they count
 * @param root prefix of the files that are read, for tests
 * @throws SafetyRefusal KubeletUnclear, unless --root-dir or --node names one
 */
export function findKubelet(
  running: readonly KubeletCandidate[],
  choice: KubeletChoice,
  root = '',
): KubeletCandidate | undefined {
  if (running.length === 0 && choice.stopped !== undefined) return choice.stopped
  for (const candidates of [running, startableKubelets(root), knownRoots(root)]) {
    if (candidates.length > 0) return choose(candidates, choice)
  }
  return undefined
}

/** The kubelets that the units of this host would start. */
export function startableKubelets(root = ''): readonly KubeletCandidate[] {
  const halves = enabledOf(RKE2_UNITS, root)
  const known = KUBELET_UNITS.filter((name) => !isOtherHalf(name, halves)).flatMap((name) => {
    const unit = readServiceUnit(name, root)
    const source = unit === undefined ? undefined : unitSource(unit, root)
    return source === undefined ? [] : [candidateFrom(source)]
  })
  return known.length > 0 ? known : kubeletsOfOtherUnits(root)
}

/** Units with other names (a distribution's own), whose command line is a kubelet's. */
function kubeletsOfOtherUnits(root: string): readonly KubeletCandidate[] {
  return serviceUnitsNaming(/kubeconfig|kubelet/, root).flatMap((name) => {
    const unit = readServiceUnit(name, root)
    const isKubelet = unit !== undefined && isKubeletByFlags(unit.args, unit.workingDirectory, root)
    if (!isKubelet) return []
    const source = { source: `unit ${name}`, unit: name, args: unit.args.slice(1) }
    return [candidateFrom({ ...source, workingDirectory: unit.workingDirectory })]
  })
}

const RKE2_UNITS = ['rke2-server.service', 'rke2-agent.service']

/** rke2 installs both of its units, but a node uses one: true for the unit that is not enabled while the other is. */
function isOtherHalf(name: string, enabled: readonly string[]): boolean {
  return RKE2_UNITS.includes(name) && enabled.length > 0 && !enabled.includes(name)
}

function unitSource(unit: ServiceUnit, root: string): CandidateSource | undefined {
  const origin = { source: `unit ${unit.name}`, unit: unit.name }
  const own = unit.args.slice(1)
  if (unit.name.startsWith('k3s')) return rancherKubelet('k3s', origin, own, root)
  if (unit.name.startsWith('rke2')) return rancherKubelet('rke2', origin, own, root)
  if (unit.name.startsWith('k0s')) return k0sKubelet(origin, own)
  if (unit.name.startsWith('snap.microk8s')) return microk8sKubelet(origin, root)
  // `kubenswrapper /usr/bin/kubelet`, `hyperkube kubelet`: the arguments before it belong to another program.
  const program = unit.args.findIndex((word) => !word.startsWith('-') && basename(word) === 'kubelet')
  return { ...origin, args: unit.args.slice(Math.max(program, 0) + 1), workingDirectory: unit.workingDirectory }
}

/** Directories that hold pods although no unit says so; the flags are in kubeadm's files. */
function knownRoots(root: string): readonly KubeletCandidate[] {
  const kubeadm = kubeadmArgs(root)
  return KNOWN_ROOTS.filter(({ rootDir }) => isDirectory(`${root}${rootDir}/pods`)).map((known) =>
    candidateFrom({
      ...known,
      source: `directory ${known.rootDir}`,
      args: known.rootDir === DEFAULT_ROOT_DIR ? kubeadm : [],
      workingDirectory: '/',
    }),
  )
}

function kubeadmArgs(root: string): readonly string[] {
  const flags = /^KUBELET_KUBEADM_ARGS="?(.*?)"?$/m.exec(
    obeyedTextIfAny(`${root}${DEFAULT_ROOT_DIR}/kubeadm-flags.env`) ?? '',
  )
  const config = `${DEFAULT_ROOT_DIR}/config.yaml`
  return [
    '--kubeconfig=/etc/kubernetes/kubelet.conf',
    ...(obeyedTextIfAny(root + config) === undefined ? [] : [`--config=${config}`]),
    ...splitWords(flags?.[1] ?? ''),
  ]
}

function choose(candidates: readonly KubeletCandidate[], choice: KubeletChoice): KubeletCandidate | undefined {
  const { rootDir, nodeName } = choice
  const fitting = candidates.filter(
    (candidate) =>
      (rootDir === undefined || sameDirectory(candidate.rootDir, rootDir)) &&
      (nodeName === undefined || candidates.length === 1 || candidate.nodeName === canonicalNodeName(nodeName)),
  )
  if (fitting.length <= 1) return fitting[0]
  const list = fitting.map(({ source, rootDir, nodeName }) => `${source}: ${rootDir}, node ${nodeName}`).join('; ')
  throw new SafetyRefusal('S8', 'KubeletUnclear', `this host has ${fitting.length} kubelets (${list})`, {
    hint: 'Choose one with --root-dir and --node; if two units have the same root directory, mask the unused unit.',
  })
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/**
 * True if both paths are the same directory: by name, otherwise by device and inode, through links and self-binds. A missing
 * one equals only its own name.
 */
function sameDirectory(a: string, b: string): boolean {
  if (a.replace(/\/+$/, '') === b.replace(/\/+$/, '')) return true
  const [left, right] = [a, b].map((path) => statSync(path, { throwIfNoEntry: false }))
  return left !== undefined && right !== undefined && left.dev === right.dev && left.ino === right.ino
}

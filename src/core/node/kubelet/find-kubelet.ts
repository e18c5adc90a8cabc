/** Finds this node's kubelet: its process, otherwise the unit that would start it (S8, N16). */

import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { SafetyRefusal, said } from '../../messages/findings.ts'
import { obeyedTextIfAny } from '../../trust/files.ts'
import { isSameFile } from '../../trust/kernel.ts'
import {
  candidateFrom,
  DEFAULT_ROOT_DIR,
  type KubeletCandidate,
  k0sKubelet,
  microk8sKubelet,
  rancherKubelet,
} from './kubelet-candidate.ts'
import { canonicalNodeName, isKubeletByFlags } from './kubelet-flags.ts'
import { type HostProcess, hostsKubelets, letGo, scanKubelets } from './scan-processes.ts'
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
const KNOWN_ROOTS = [
  { rootDir: DEFAULT_ROOT_DIR },
  {
    rootDir: '/var/lib/k0s/kubelet',
    kubeconfig: '/var/lib/k0s/kubelet.conf',
    runtimeEndpoint: 'unix:///run/k0s/containerd.sock',
  },
  { rootDir: '/var/snap/microk8s/common/var/lib/kubelet' },
  { rootDir: '/var/vcap/data/kubelet' },
  { rootDir: '/mnt/paas/kubernetes/kubelet' },
] as const

/** Root directories that a kubelet may have, even if nothing names them. */
export const KNOWN_ROOT_DIRS: readonly string[] = KNOWN_ROOTS.map(({ rootDir }) => rootDir)

export interface KubeletChoice {
  /** --root-dir */
  readonly rootDir?: string
  /** --node */
  readonly nodeName?: string
  /** --runtime-endpoint */
  readonly runtimeEndpoint?: string
  /** The kubelet that volctl has stopped (S35): as long as none runs it is this one, whatever becomes of its unit's files. */
  readonly stopped?: KubeletCandidate
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
  // rke2 installs both of its units, but a node uses one: what is enabled, if any is.
  const enabled = enabledOf(RKE2_UNITS, root)
  const isUsed = (name: string): boolean => !RKE2_UNITS.includes(name) || enabled.length === 0 || enabled.includes(name)
  const known = KUBELET_UNITS.filter(isUsed).flatMap((name) => {
    const unit = readServiceUnit(name, root)
    return (unit && kubeletOfUnit(unit, root)) ?? []
  })
  return known.length > 0 ? known : kubeletsOfOtherUnits(root)
}

/** Units with other names (a distribution's own), whose command line is a kubelet's. */
function kubeletsOfOtherUnits(root: string): readonly KubeletCandidate[] {
  return serviceUnitsNaming(/kubeconfig|kubelet/, root).flatMap((name) => {
    const { args = [], workingDirectory = '/' } = readServiceUnit(name, root) ?? {}
    if (!isKubeletByFlags(args, workingDirectory, root)) return []
    return [candidateFrom({ source: `unit ${name}`, unit: name, args: args.slice(1), workingDirectory })]
  })
}

const RKE2_UNITS = ['rke2-server.service', 'rke2-agent.service']

function kubeletOfUnit(unit: ServiceUnit, root: string): KubeletCandidate | undefined {
  const origin = { source: `unit ${unit.name}`, unit: unit.name }
  const own = unit.args.slice(1)
  if (unit.name.startsWith('k3s')) return rancherKubelet('k3s', origin, own, root)
  if (unit.name.startsWith('rke2')) return rancherKubelet('rke2', origin, own, root)
  if (unit.name.startsWith('k0s')) return k0sKubelet(origin, own)
  if (unit.name.startsWith('snap.microk8s')) return microk8sKubelet(origin, root)
  return candidateFrom({ ...origin, args: ownArgs(unit.args), workingDirectory: unit.workingDirectory })
}

/** `kubenswrapper /usr/bin/kubelet`, `hyperkube kubelet`: the arguments before it belong to another program. */
function ownArgs(words: readonly string[]): readonly string[] {
  const program = words.findIndex((word) => !word.startsWith('-') && basename(word) === 'kubelet')
  return words.slice(Math.max(program, 0) + 1)
}

/** Directories that hold pods although no unit says so; the flags are in kubeadm's files. */
function knownRoots(root: string): readonly KubeletCandidate[] {
  const kubeadm = kubeadmArgs(root)
  const hasPods = (rootDir: string): boolean =>
    statSync(`${root}${rootDir}/pods`, { throwIfNoEntry: false })?.isDirectory() === true
  return KNOWN_ROOTS.filter(({ rootDir }) => hasPods(rootDir)).map((known) => {
    const args = known.rootDir === DEFAULT_ROOT_DIR ? kubeadm : []
    return candidateFrom({ ...known, source: `directory ${known.rootDir}`, args })
  })
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
    (each) =>
      (rootDir === undefined || sameDirectory(each.rootDir, rootDir)) &&
      (nodeName === undefined || candidates.length === 1 || each.nodeName === canonicalNodeName(nodeName)),
  )
  if (fitting.length <= 1) return fitting[0]
  const list = fitting.map(({ source, rootDir, nodeName }) => `${source}: ${rootDir}, node ${nodeName}`).join('; ')
  throw new SafetyRefusal('S8', said('KubeletUnclear.several', { count: fitting.length, list }), {
    hint: 'Choose one with --root-dir and --node; if two units have the same root directory, mask the unused unit.',
  })
}

/**
 * True if both paths are the same directory: by name, otherwise by device and inode, through links and self-binds. A missing
 * one equals only its own name.
 */
function sameDirectory(a: string, b: string): boolean {
  if (a.replace(/\/+$/, '') === b.replace(/\/+$/, '')) return true
  return [a, b].every((path) => statSync(path, { throwIfNoEntry: false }) !== undefined) && isSameFile(a, b)
}

// The kubelets that run.

/** A node on which pods start and stop shows a child of its kubelet in one look of a thousand. */
const LOOKS = 3

/**
 * The kubelets that run, by their own processes (S32). If there are several, one may have been a child of another that was
 * just becoming a different program, with the kubelet's name and already that program's arguments: volctl looks again, and a
 * kubelet is there then, too.
 *
 * @param processes of the first look; they are let go with the rest
 * @param again takes another look
 * @returns the kubelets of one moment, pinned as long as it is kept
 */
export async function kubeletsSeen(
  processes: readonly HostProcess[] = scanKubelets(),
  again: () => readonly HostProcess[] = scanKubelets,
) {
  const pinned = [...processes]
  try {
    let kubelets = runningKubelets(await hostsKubelets(processes))
    for (let looks = 1; kubelets.length > 1 && looks < LOOKS; looks++) {
      const now = again()
      pinned.push(...now)
      kubelets = runningKubelets(await hostsKubelets(now))
    }
    return { kubelets, [Symbol.dispose]: () => letGo(pinned) }
  } catch (error) {
    letGo(pinned)
    throw error
  }
}

/** The kubelets among root's processes that look like one (N14), by name or by flags. */
export function runningKubelets(processes: readonly HostProcess[]): readonly KubeletCandidate[] {
  const found = processes.flatMap((process) => {
    const candidate = kubeletOfProcess(process)
    return candidate === undefined ? [] : [{ process, candidate }]
  })
  return found.filter((each) => !isWrapper(each, found) && !isForked(each, found)).map(({ candidate }) => candidate)
}

interface Found {
  readonly process: HostProcess
  readonly candidate: KubeletCandidate
}

/**
 * A program that starts a kubelet and waits (a supervisor, a shell, `docker run`) has the kubelet's flags on its own command
 * line. It is not a second kubelet if there is a process of the same root directory and node name that is called kubelet, or
 * that is its child.
 */
function isWrapper({ process, candidate }: Found, all: readonly Found[]): boolean {
  if (process.byFlags !== true) return false
  return all.some(
    (other) =>
      other.process !== process &&
      other.candidate.rootDir === candidate.rootDir &&
      other.candidate.nodeName === candidate.nodeName &&
      (other.process.byFlags !== true || other.process.parent === process.pid),
  )
}

/**
 * A child of the kubelet has the kubelet's name and arguments until it begins its own program. In another mount namespace it
 * is a kubelet that was started by a program of its name: whose mounts count is then not known (S6).
 */
function isForked({ process }: Found, all: readonly Found[]): boolean {
  return all.some(
    (other) =>
      other.process.pid === process.parent &&
      isDeepStrictEqual(other.process.args, process.args) &&
      other.process.process?.link('ns/mnt') === process.process?.link('ns/mnt'),
  )
}

function kubeletOfProcess(found: HostProcess): KubeletCandidate | undefined {
  const { pid, process, unit, comm, args, workingDirectory, byFlags } = found
  const origin = { source: `process ${pid} (${comm})`, pid, process, unit }
  const program = basename(args[0] ?? '')
  const own = args.slice(1)
  const itself = (flags: readonly string[] = own): KubeletCandidate =>
    candidateFrom({ ...origin, args: flags, workingDirectory })
  if (comm === 'kubelet' || program === 'kubelet') return itself()
  if (program === 'hyperkube' && args.includes('kubelet')) return itself(ownArgs(args))
  if (comm === 'kubelite') return microk8sKubelet(origin)
  if (/^k3s(-server|-agent)?$/.test(comm) && (comm !== 'k3s' || args.includes('server') || args.includes('agent')))
    return rancherKubelet('k3s', origin, own)
  // A copy (`kubelet-1.36`), or a program of another name.
  const isCopy = comm.startsWith('kubelet') && isKubeletByFlags(args, workingDirectory)
  return byFlags === true || isCopy ? itself() : undefined
}

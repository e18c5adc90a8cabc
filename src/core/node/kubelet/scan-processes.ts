import { processName } from '../../linux/mount-namespaces.ts'
import { containersAround, podsOfCgroup, podUidsOfCgroup } from '../../linux/pod-cgroups.ts'
import { errorMessage, said, VolctlError } from '../../messages/findings.ts'
import { addDoubt } from '../../trust/files.ts'
import { ifAny, kernelTextIfAny, parentIn, processIds } from '../../trust/kernel.ts'
import { type PinnedProcess, pin, whyNotHostsMounts, whyNotRoots } from '../../trust/processes.ts'
import { isKubeletByFlags, MAY_BE_KUBELET } from './kubelet-flags.ts'

export interface HostProcess {
  readonly pid: number
  readonly comm: string
  /** The command line, split at NUL. */
  readonly args: readonly string[]
  readonly workingDirectory: string
  /** The kubelet was recognised by its flags only. */
  readonly byFlags?: boolean
  readonly parent?: number
  /** The systemd service whose cgroup it is in. */
  readonly unit?: string
  /** Absent in tests. */
  readonly process?: PinnedProcess
}

/** Names of processes that are, contain or start a kubelet (N14); comm is cut at 15 bytes. */
const KUBELET_COMM = /^(kubelet.*|hyperkube|kubelite|k3s.*)$/
export const RUNTIME_COMM = /^(containerd|crio|cri-o|dockerd|cri-dockerd)$/

/**
 * Which pods have a process, and which of root's processes may be a kubelet or a runtime (S32). Reads `comm` and `cgroup` of every
 * process, synchronously, which is fastest on procfs. A process that ends meanwhile is skipped. A process that is not root's is neither
 * a kubelet nor a runtime, whatever its name; it may belong to a pod.
 *
 * @param proc "/proc", or a fixture
 * @returns without pods where /proc could not be listed, so that nothing was seen
 */
export function scanProcesses(proc = '/proc') {
  const cgroups = new Set<string>()
  const kubelets: HostProcess[] = []
  const runtimes: HostProcess[] = []
  const found = { kubelets, runtimes, [Symbol.dispose]: () => letGo([...kubelets, ...runtimes]) }
  const pids = ifAny(() => processIds(proc))
  if (pids === undefined) return { pods: undefined, ...found }
  for (const pid of pids) {
    cgroups.add(kernelTextIfAny(`${proc}/${pid}/cgroup`) ?? '')
    const comm = processName(pid, proc)
    const isRuntime = RUNTIME_COMM.test(comm)
    const host = isRuntime ? hostProcess(pid, proc) : kubeletProcess(pid, comm, proc)
    if (host !== undefined) (isRuntime ? runtimes : kubelets).push(host)
  }
  // Process 1, the kubelet and the runtime: if they run in a container, the node itself is one.
  const node = [1, ...[...kubelets, ...runtimes].map(({ pid }) => pid)]
  const bases = new Set(node.flatMap((pid) => containersAround(kernelTextIfAny(`${proc}/${pid}/cgroup`) ?? '')))
  return { pods: unitedPods(cgroups, [...bases]), ...found }
}

/**
 * Sorted UIDs of this node's pods, and of pods of kubelets that run in a pod or container of this node (S9). A pod that one process shows
 * as this node's and another as nested counts as this node's.
 */
function unitedPods(cgroups: Iterable<string>, bases: readonly string[]) {
  const all = Array.from(cgroups, (text) => podsOfCgroup(text, bases))
  const podUids = new Set(all.flatMap(({ own }) => own))
  const nestedUids = new Set(all.flatMap(({ nested }) => nested)).difference(podUids)
  return { podUids: [...podUids].sort(), nestedUids: [...nestedUids].sort() }
}

/**
 * Only the processes that may be a kubelet: asked again before every change (S11). The caller must release them with letGo.
 *
 * @throws VolctlError NodeUnreadable, so that "no kubelet" never means "could not look"
 */
export function scanKubelets(): readonly HostProcess[] {
  try {
    return processIds().flatMap((pid) => kubeletProcess(pid, processName(pid), '/proc') ?? [])
  } catch (error) {
    throw new VolctlError(said('NodeUnreadable.path', { path: '/proc', error: errorMessage(error) }), { cause: error })
  }
}

/** By its name, otherwise by its flags. */
function kubeletProcess(pid: number, comm: string, proc: string): HostProcess | undefined {
  if (KUBELET_COMM.test(comm)) return hostProcess(pid, proc)
  if (RUNTIME_COMM.test(comm) || !MAY_BE_KUBELET.test(kernelTextIfAny(`${proc}/${pid}/cmdline`) ?? '')) return undefined
  const found = hostProcess(pid, proc)
  if (found === undefined) return undefined
  if (!ownAncestors(proc).has(pid) && isKubeletByFlags(found.args, found.workingDirectory))
    return { ...found, byFlags: true }
  letGo([found])
  return undefined
}

/** This process and its ancestors: a program that runs volctl with a kubelet's flags is not a kubelet. */
function ownAncestors(proc: string): ReadonlySet<number> {
  const found = new Set<number>()
  const parentOf = (pid: number): number => parentIn(kernelTextIfAny(`${proc}/${pid}/status`) ?? '')
  for (let pid = process.pid; pid > 0 && !found.has(pid); pid = parentOf(pid)) found.add(pid)
  return found
}

/** Kubelets whose own data may be trusted: their mount namespace, too, was made by this host's root (S32). */
export async function hostsKubelets(processes: readonly HostProcess[]): Promise<readonly HostProcess[]> {
  const whys = await Promise.all(processes.map(({ process }) => process && whyNotHostsMounts(process)))
  return processes.filter((each, index) => {
    const why = whys[index]
    if (why !== undefined && each.byFlags !== true) notBelieved(each, why)
    return why === undefined
  })
}

export function letGo(processes: readonly HostProcess[]): void {
  for (const { process } of processes) process?.[Symbol.dispose]()
}

/**
 * The process, pinned, if it is root's. Undefined for a zombie, which has no arguments and holds nothing. Only one that is named like a
 * kubelet is reported where it is ignored: processes named like a runtime that are not root's are normal where a pod runs containers, and
 * any process may have a kubelet's flags.
 */
function hostProcess(pid: number, proc: string): HostProcess | undefined {
  const process = pin(pid, proc)
  if (process === undefined) return undefined
  let isHosts = false
  try {
    // Everything is read through the pin: the pid may have been reused.
    const comm = process.text('comm').trimEnd()
    const args = process.text('cmdline').split('\0').slice(0, -1)
    if (args.length === 0) return undefined
    const parent = parentIn(process.text('status'))
    const unit = serviceOf(process.text('cgroup'))
    const workingDirectory = process.link('cwd') ?? '/'
    const host = { pid, comm, args, workingDirectory, process, parent, unit }
    const why = whyNotHosts(process, proc)
    isHosts = why === undefined
    if (why === undefined) return host
    // Of a kubelet's child that has meanwhile begun its own program, or ended, nobody need know.
    if (KUBELET_COMM.test(comm) && process.isThere) notBelieved(host, why)
  } catch {
    // The process has ended.
  } finally {
    if (!isHosts) process[Symbol.dispose]()
  }
  return undefined
}

/**
 * The system service that a process runs in, by systemd's own hierarchy. Not a user's own services, and no name that a shell
 * would change.
 *
 * @param cgroup text of /proc/PID/cgroup
 */
export function serviceOf(cgroup: string): string | undefined {
  const service = unitsOf(cgroup).findLast((name) => name.endsWith('.service'))
  return service !== undefined && /^(?!user@)[\w:.@-]+$/.test(service) ? service : undefined
}

/**
 * The units that a process is in, outermost first, by systemd's own hierarchy. Of the two that may be, a systemd that does not use
 * one leaves all processes at its root.
 *
 * @param cgroup text of /proc/PID/cgroup
 */
export function unitsOf(cgroup: string): readonly string[] {
  const paths = [...cgroup.matchAll(/^(?:0:|\d+:name=systemd):(.*)$/gm)].map(([, path = '']) => path)
  return (paths.find((path) => path !== '/') ?? '').split('/')
}

/** Why a process does not belong to this host's root, for messages; undefined: it does. */
export function whyNotHosts(process: PinnedProcess, proc = '/proc'): string | undefined {
  return whyNotRoots(process, proc) ?? whyOfPod(process, proc)
}

/**
 * A process of a pod with hostPID may have uid 0 in the host's user namespace. Still, it is neither a kubelet nor a runtime of
 * this node, and its mount namespace is never entered. If the node itself is a pod (kind in a pod), process 1 is in the same
 * pod.
 */
function whyOfPod(process: PinnedProcess, proc: string): string | undefined {
  const [uid] = podUidsOfCgroup(process.text('cgroup'))
  const isOfNode = uid === undefined || podUidsOfCgroup(kernelTextIfAny(`${proc}/1/cgroup`) ?? '').includes(uid)
  return isOfNode ? undefined : `it belongs to pod ${uid}`
}

function notBelieved({ pid, comm }: HostProcess, why: string): void {
  addDoubt({
    what: `process ${pid} (${comm})`,
    why: `the process does not count as this node's kubelet: ${why}`,
    hint: 'If the process is this kubelet, give what volctl would read from it: --root-dir, --node and --kubeconfig.',
  })
}

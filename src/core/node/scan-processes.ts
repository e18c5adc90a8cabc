import { readdirSync, readFileSync } from 'node:fs'
import { errorMessage, VolctlError } from '../errors.ts'
import { podUidsOfCgroup } from './pod-cgroups.ts'

/** What one pass over /proc says: which pods have a process, and which processes may be a kubelet or a runtime. */
export interface ProcessScan {
  /** UIDs of pods that have a process, sorted (S9). */
  readonly podUids: readonly string[]
  readonly kubelets: readonly HostProcess[]
  readonly runtimes: readonly HostProcess[]
  /** /proc could not be listed: nothing was seen. */
  readonly error?: string
}

export interface HostProcess {
  readonly pid: number
  readonly comm: string
  /** The command line, split at NUL. */
  readonly args: readonly string[]
}

/** Names of processes that are, contain or start a kubelet (N14); comm is cut at 15 bytes. */
const KUBELET_COMM = /^(kubelet.*|hyperkube|kubelite|k3s.*)$/
const RUNTIME_COMM = /^(containerd|crio|cri-o|dockerd|cri-dockerd)$/

/**
 * Reads `comm` and `cgroup` of every process: synchronous, for on procfs that is the fastest.
 * A process that ends meanwhile is skipped.
 *
 * @param proc "/proc", or a fixture
 */
export function scanProcesses(proc = '/proc'): ProcessScan {
  const podUids = new Set<string>()
  const kubelets: HostProcess[] = []
  const runtimes: HostProcess[] = []
  let names: readonly string[]
  try {
    names = readdirSync(proc)
  } catch (error) {
    return { podUids: [], kubelets, runtimes, error: String(error) }
  }
  for (const name of names) {
    const pid = Number(name)
    if (!Number.isInteger(pid)) continue
    const cgroup = readIfAlive(`${proc}/${name}/cgroup`)
    const uids = podUidsOfCgroup(cgroup)
    for (const uid of uids) podUids.add(uid)
    const comm = commOf(pid, proc)
    const kubelet = KUBELET_COMM.test(comm)
    if (!kubelet && !RUNTIME_COMM.test(comm)) continue
    const process = hostProcess(pid, comm, proc)
    if (process !== undefined) (kubelet ? kubelets : runtimes).push(process)
  }
  return { podUids: [...podUids].sort(), kubelets, runtimes }
}

/**
 * The processes that may be a kubelet, and nothing else: what is asked again before every change (S11).
 *
 * @throws VolctlError ProcUnreadable: "no kubelet" must never mean "could not look"
 */
export function scanKubelets(proc = '/proc'): readonly HostProcess[] {
  let names: readonly string[]
  try {
    names = readdirSync(proc)
  } catch (error) {
    throw new VolctlError('ProcUnreadable', `${proc}: ${errorMessage(error)}`, {
      cause: error,
      hint: 'Run volctl as root, with /proc mounted.',
    })
  }
  return names.flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid)) return []
    const comm = commOf(pid, proc)
    const found = KUBELET_COMM.test(comm) ? hostProcess(pid, comm, proc) : undefined
    return found ?? []
  })
}

function commOf(pid: number, proc: string): string {
  return readIfAlive(`${proc}/${pid}/comm`).trimEnd()
}

/** Undefined for a zombie, which has no arguments and holds nothing any more. */
function hostProcess(pid: number, comm: string, proc: string): HostProcess | undefined {
  const args = readIfAlive(`${proc}/${pid}/cmdline`).split('\0').slice(0, -1)
  return args.length > 0 ? { pid, comm, args } : undefined
}

function readIfAlive(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

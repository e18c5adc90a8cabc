/** The two sources that show whether a pod is alive: the container runtime and the process table (S9). */
import type { ActualInputs } from '../../facts/actual/actual-inputs.ts'
import type { Problem } from '../../plan/plan.ts'
import { THE_NODE } from '../../plan/subject.ts'
import { onDiskUid } from '../../volumes/pods.ts'
import { isOnlyNested, podsWithProcesses } from './known-pods.ts'

export interface Witnesses {
  /** True if the pod has a sandbox that may be ready, a container that may run, or a process. */
  isAlive(uid: string): boolean
  /** Why a pod without signs of life may still run; undefined if the lack of signs proves that it does not. */
  blindFor(uid: string): string | undefined
  /** Sandboxes, containers and processes of the pod that count as running, in words. */
  signsOfLife(uid: string): string[]
  readonly problems: readonly Problem[]
  /** Why the container runtime proves nothing of any pod. */
  readonly blindRuntime?: Pick<Problem, 'message' | 'hint'>
}

/**
 * Judges the witnesses. A runtime counts only if it lists a pod that is known to run, or if no pod is known to run. If a runtime
 * that should be there does not answer, a pod may run unless all of its directory is older than this boot.
 */
export function judgeWitnesses(inputs: ActualInputs): Witnesses {
  const { snapshot } = inputs
  const processes = podsWithProcesses(inputs)
  const byRuntime = new Map<string, string[]>()
  for (const sandbox of snapshot.runtime?.pods ?? []) {
    const signs = byRuntime.get(sandbox.uid) ?? []
    if (sandbox.state !== 'SANDBOX_NOTREADY') signs.push(`sandbox ${plainState(sandbox.state)}`)
    for (const container of sandbox.containers) {
      if (container.state !== 'CONTAINER_EXITED')
        signs.push(`container ${container.name} ${plainState(container.state)}`)
    }
    byRuntime.set(sandbox.uid, signs)
  }
  const aliveByRuntime = (uid: string): boolean => (byRuntime.get(uid)?.length ?? 0) > 0
  const blindness = blindnessOf(inputs, processes, aliveByRuntime)
  return {
    isAlive: (uid) => processes.has(uid) || aliveByRuntime(uid),
    signsOfLife: (uid) => [
      ...(byRuntime.get(uid) ?? []),
      ...(processes.has(uid) ? [isOnlyNested(inputs, uid) ? NESTED_SIGN : 'processes in its cgroup'] : []),
    ],
    blindFor: (uid) =>
      blindness === undefined || olderThanBoot(inputs, uid)
        ? undefined
        : `${blindness.short}, and the pod's directory was changed after this boot`,
    problems: blindness === undefined ? [] : [problemOf(blindness)],
    ...(blindness?.of === 'runtime' && { blindRuntime: problemOf(blindness) }),
  }
}

const NESTED_SIGN = 'processes in a cgroup with its UID that neither the kubelet nor the container runtime made'

/** Why the witnesses are blind. */
interface Blindness {
  /** Which witness. */
  readonly of: 'runtime' | 'processes'
  readonly message: string
  /** For the message of each pod; `message` and `hint` are given once. */
  readonly short: string
  readonly hint: string
}

function problemOf({ message, hint }: Blindness): Problem {
  return { severity: 'error', code: 'RuntimeUnknown', message, hint, about: {}, subject: THE_NODE }
}

/** `CONTAINER_RUNNING` as "running". */
function plainState(state: string): string {
  return state.replace(/^(SANDBOX|CONTAINER)_/, '').toLowerCase()
}

function blindnessOf(
  { snapshot }: ActualInputs,
  processes: ReadonlySet<string>,
  aliveByRuntime: (uid: string) => boolean,
): Blindness | undefined {
  const { runtime } = snapshot
  const hint = 'Start the container runtime, or name its socket with --runtime-endpoint; then plan again.'
  if (runtime === undefined) {
    const message = 'the container runtime was not asked'
    return { of: 'runtime', message, short: message, hint }
  }
  // One of several sockets may have answered: the containers of the other still run without it.
  if (runtime.error !== undefined || (runtime.source === 'none' && runtime.endpoint !== undefined)) {
    const message = `the container runtime${runtime.endpoint ? ` at ${runtime.endpoint}` : ''} did not answer${runtime.error ? ` (${runtime.error})` : ''}`
    const short = 'the container runtime did not answer'
    return { of: 'runtime', message, short, hint }
  }
  if (snapshot.processes === undefined) {
    return {
      of: 'processes',
      message: 'the process table was not read, so nothing confirms that a pod does not run',
      short: 'the process table was not read',
      hint: 'Run volctl, or take the snapshot, as root.',
    }
  }
  if (runtime.source === 'none') return undefined
  const living = snapshot.processes === undefined || snapshot.kubelet?.running === true ? apiRunning(snapshot.api) : []
  const known = processes.size > 0 ? [...processes] : living
  if (known.length === 0 || known.some(aliveByRuntime)) return undefined
  return {
    of: 'runtime',
    message: `the container runtime at ${runtime.endpoint ?? 'its socket'} lists none of the pods that are known to run on this node (${known.length})`,
    short: 'the container runtime that answered lists none of the pods that run on this node',
    hint: 'This may be the wrong runtime: name the right socket with --runtime-endpoint; then plan again.',
  }
}

/** Pods that have a running container according to their status, which a running kubelet wrote. */
function apiRunning(api: ActualInputs['snapshot']['api']): string[] {
  return (api?.pods ?? [])
    .filter((pod) => pod.status?.containerStatuses?.some((status) => status.state?.running !== undefined))
    .map(onDiskUid)
}

/** True if everything that the kubelet made for this pod is older than this boot: then no process of the pod can be left. */
function olderThanBoot(inputs: ActualInputs, uid: string): boolean {
  const boot = Date.parse(inputs.snapshot.bootTime ?? '') / 1000
  if (Number.isNaN(boot)) return false
  if (inputs.podMountCount(uid) > 0) return false
  const entries = [inputs.tree.get(`pods/${uid}`), ...inputs.tree.descendants(`pods/${uid}`)]
  return entries.every(
    (entry) => entry !== undefined && entry.mtime !== undefined && entry.mtime > 0 && entry.mtime < boot,
  )
}

/** The two sources that show whether a pod is alive: the container runtime and the process table (S9). */

import { append, memoize } from '../../base/collections.ts'
import { type Advice, advice, type Finding, said } from '../../messages/findings.ts'
import type { Problem } from '../../plan/plan.ts'
import { THE_NODE } from '../../volumes/finding.ts'
import type { ActualInputs } from '../../volumes/on-disk/actual-inputs.ts'
import { baseName } from '../../volumes/on-disk/tree.ts'
import { namedUids, onDiskUid } from '../../volumes/pods.ts'

export type Witnesses = ReturnType<typeof judgeWitnesses>

/**
 * Judges the witnesses. A runtime counts only if it lists a pod that is known to run, or if no pod is known to run. If a runtime
 * that should be there does not answer, a pod may run unless all of its directory is older than this boot.
 *
 * @param disk a look at the disk, where the witnesses were asked later than that
 */
export function judgeWitnesses(inputs: ActualInputs, disk = () => inputs) {
  const { snapshot } = inputs
  const { processes: own = [], nestedProcesses: nested = [] } = snapshot
  // Pods of this node that have a process: those that /proc shows, and nested ones that this node knows.
  const processes = new Set([...own, ...nested.filter((uid) => knownPods(inputs).has(uid))])
  const byRuntime = new Map<string, string[]>()
  for (const { uid, state, containers } of snapshot.runtime?.pods ?? []) {
    if (state !== 'SANDBOX_NOTREADY') append(byRuntime, uid, `sandbox ${plainState(state)}`)
    for (const container of containers) {
      if (container.state !== 'CONTAINER_EXITED')
        append(byRuntime, uid, `container ${container.name} ${plainState(container.state)}`)
    }
  }
  const aliveByRuntime = (uid: string): boolean => byRuntime.has(uid)
  /**
   * All processes with the pod's UID are in cgroups that neither this node's kubelet nor its runtime made: below a container,
   * or below a user's own service manager, where that user gives any name to any process.
   */
  const isOnlyNested = (uid: string): boolean => nested.includes(uid) && !own.includes(uid) && !aliveByRuntime(uid)
  const blindness = blindnessOf(inputs, processes, aliveByRuntime)
  return {
    /** True if the pod has a sandbox that may be ready, a container that may run, or a process. */
    isAlive: (uid: string): boolean => processes.has(uid) || aliveByRuntime(uid),
    isOnlyNested,
    /** Sandboxes, containers and processes of the pod that count as running, in words. */
    signsOfLife: (uid: string): string[] => [
      ...(byRuntime.get(uid) ?? []),
      ...(processes.has(uid) ? [isOnlyNested(uid) ? NESTED_SIGN : 'processes in its cgroup'] : []),
    ],
    /** Why a pod without signs of life may still run; undefined if the lack of signs proves that it does not. */
    blindFor: (uid: string): string | undefined =>
      blindness === undefined || olderThanBoot(disk(), uid)
        ? undefined
        : `${blindness.short}, and the pod's directory was changed after this boot`,
    problems: blindness === undefined ? [] : [blindness.problem],
    /** Why the container runtime proves nothing of any pod. */
    blindRuntime: blindness?.of === 'runtime' ? blindness.problem : undefined,
  }
}

const NESTED_SIGN = 'processes in a cgroup with its UID that neither the kubelet nor the container runtime made'

/** Why the witnesses are blind. @param of which witness @param short for the message of each pod; what the problem says is said once */
function blind(
  of: 'runtime' | 'processes',
  finding: Finding<'RuntimeUnknown'>,
  short = finding.message,
  hint = 'Start the container runtime, or name its socket with --runtime-endpoint; then plan again.',
) {
  const problem: Problem = { severity: 'error', ...finding, hint, about: {}, subject: THE_NODE }
  return { of, short, problem }
}

/** `CONTAINER_RUNNING` as "running". */
function plainState(state: string): string {
  return state.replace(/^(SANDBOX|CONTAINER)_/, '').toLowerCase()
}

function blindnessOf(
  { snapshot }: ActualInputs,
  processes: ReadonlySet<string>,
  aliveByRuntime: (uid: string) => boolean,
) {
  const { runtime } = snapshot
  if (runtime === undefined) return blind('runtime', said('RuntimeUnknown.notAsked'))
  const { endpoint, error, source } = runtime
  // One of several sockets may have answered: the containers of the other still run without it.
  if (error !== undefined || (source === 'none' && endpoint !== undefined))
    return blind(
      'runtime',
      said('RuntimeUnknown.silent', { at: endpoint ? ` at ${endpoint}` : '', error: error ? ` (${error})` : '' }),
      'the container runtime did not answer',
    )
  if (snapshot.processes === undefined)
    return blind(
      'processes',
      said('RuntimeUnknown.noProcesses'),
      'the process table was not read',
      'Run volctl, or take the snapshot, as root.',
    )
  if (source === 'none') return undefined
  // By their status, which a running kubelet wrote.
  const running = snapshot.api?.pods.filter(({ status }) =>
    status?.containerStatuses?.some(({ state }) => state?.running !== undefined),
  )
  const living = snapshot.kubelet?.running === true ? (running ?? []).map(onDiskUid) : []
  const known = processes.size > 0 ? [...processes] : living
  if (known.length === 0 || known.some(aliveByRuntime)) return undefined
  return blind(
    'runtime',
    said('RuntimeUnknown.knowsNone', { endpoint: endpoint ?? 'its socket', count: known.length }),
    'the container runtime that answered lists none of the pods that run on this node',
    'This may be the wrong runtime: name the right socket with --runtime-endpoint; then plan again.',
  )
}

/** True if everything that the kubelet made for this pod is older than this boot: then no process of the pod can be left. */
function olderThanBoot(inputs: ActualInputs, uid: string): boolean {
  const boot = Date.parse(inputs.snapshot.bootTime ?? '') / 1000
  if (Number.isNaN(boot)) return false
  if (inputs.mountsWithin(`pods/${uid}`).length > 0) return false
  const entries = [inputs.tree.get(`pods/${uid}`), ...inputs.tree.descendants(`pods/${uid}`)]
  return entries.every(
    (entry) => entry !== undefined && entry.mtime !== undefined && entry.mtime > 0 && entry.mtime < boot,
  )
}

// Which pods this node knows, and which of them the processes belong to (S9).
//
// A pod belongs to this node if the API, the disk or the container runtime says so. A process in a pod inside a pod or
// container belongs to a kubelet that runs in there. If nothing on this node knows the pod, only a person can find out whose it is.

const MAPS = /\/volumeDevices\//

/** Every UID that the API, the disk, the mount table, the static manifests or the runtime of this node knows. */
export const knownPods = memoize((inputs: ActualInputs): ReadonlySet<string> => {
  const { snapshot, tree } = inputs
  return new Set([
    ...(snapshot.api?.pods ?? []).flatMap(namedUids),
    ...tree.children('pods').map(({ path }) => path.slice('pods/'.length)),
    ...inputs.podsWithMounts(),
    // Block maps and published devices are named by the UID of their pod.
    ...tree.descendants('plugins').flatMap(({ path }) => (MAPS.test(path) ? [baseName(path)] : [])),
    ...inputs.pluginMounts().flatMap(({ mountPoint }) => (MAPS.test(mountPoint) ? [baseName(mountPoint)] : [])),
    ...(snapshot.runtime?.pods ?? []).map(({ uid }) => uid),
    ...(snapshot.staticPods?.manifests ?? []).flatMap(({ uid }) => uid ?? []),
  ])
})

/** How a person finds out whose processes they are, and what to do then. */
export function strangerHint(uid: string): Advice {
  const names = [...new Set([uid, uid.replaceAll('-', '_')])].join('|')
  return advice`Find the processes: grep -lE 'pod(${names})' /proc/[0-9]*/cgroup. End them, or, if another kubelet on this machine started them, delete its pod there; then plan again.`
}

/**
 * Every kubelet creates the directory of its pods: without one, this is not the kubelet's root directory, or its disk is not
 * mounted. Undefined: the directory is there, or the whole section is missing.
 */
export function missingPodsDirectory(inputs: ActualInputs) {
  if (inputs.snapshot.tree === undefined || inputs.tree.has('pods')) return undefined
  const path = inputs.absolute('pods')
  return {
    path,
    hint: "Check that this is the kubelet's root directory (--root-dir), and that its disk is mounted; if both are right, create the directory.",
  }
}

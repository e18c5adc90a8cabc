/**
 * Which pods this node knows, and whose the processes are (S9).
 *
 * A pod is this node's if its API, its disk or its container runtime says so. A process of a pod in a pod, or in a container,
 * is of a kubelet in there, and of one that nobody here knows only a person can say whose it is (--foreign-pod).
 */
import type { ActualInputs } from '../../actual/actual-inputs.ts'
import { baseName } from '../../actual/tree.ts'
import { namedUids } from '../../desired/pods.ts'
import { onceFor } from '../../lang/once-for.ts'

const MAPS = /\/volumeDevices\//

/** Every UID that the API, the disk, the mount table, the static manifests or the runtime of this node names. */
export const knownPods = onceFor((inputs: ActualInputs): ReadonlySet<string> => {
  const { snapshot, tree } = inputs
  return new Set([
    ...(snapshot.api?.pods ?? []).flatMap(namedUids),
    ...tree.children('pods').map(({ path }) => path.slice('pods/'.length)),
    ...inputs.podsWithMounts(),
    // Block maps and published devices bear the UID of their pod.
    ...tree.descendants('plugins').flatMap(({ path }) => (MAPS.test(path) ? [baseName(path)] : [])),
    ...inputs.pluginMounts().flatMap(({ mountPoint }) => (MAPS.test(mountPoint) ? [baseName(mountPoint)] : [])),
    ...(snapshot.runtime?.pods ?? []).map(({ uid }) => uid),
    ...(snapshot.staticPods?.manifests ?? []).flatMap(({ uid }) => uid ?? []),
  ])
})

/**
 * Pods of this node that have a process: those that /proc shows, nested ones that this node knows all the same, and none
 * that a person has told to be another kubelet's, unless this node knows it.
 *
 * @param foreign of --foreign-pod
 */
export function podsWithProcesses(inputs: ActualInputs, foreign: readonly string[]): ReadonlySet<string> {
  const { processes = [], nestedProcesses = [] } = inputs.snapshot
  if (nestedProcesses.length === 0 && foreign.length === 0) return new Set(processes)
  const known = knownPods(inputs)
  const given = new Set(foreign)
  return new Set([
    ...processes.filter((uid) => known.has(uid) || !given.has(uid)),
    ...nestedProcesses.filter((uid) => known.has(uid)),
  ])
}

/** How a person finds out whose the processes are, and what to do then. */
export function foreignHint(uid: string): string {
  const names = [...new Set([uid, uid.replaceAll('-', '_')])].join('|')
  return `Find them: grep -lE 'pod(${names})' /proc/[0-9]*/cgroup. If they are left over, end them; if another kubelet on this machine has started them, give --foreign-pod ${uid}. Then plan again.`
}

/**
 * Which pods this node knows, and which of them the processes belong to (S9).
 *
 * A pod belongs to this node if the API, the disk or the container runtime says so. A process in a pod inside a pod or
 * container belongs to a kubelet that runs in there. If nothing on this node knows the pod, only a person can find out whose it is.
 */

import { memoize } from '../../base/memoize.ts'
import type { ActualInputs } from '../../facts/actual/actual-inputs.ts'
import type { SandboxState } from '../../facts/actual/snapshot.ts'
import { baseName } from '../../facts/actual/tree.ts'
import { namedUids } from '../../volumes/pods.ts'

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

/** Pods of this node that have a process: those that /proc shows, and nested ones that this node knows. */
export function podsWithProcesses(inputs: ActualInputs): ReadonlySet<string> {
  const { processes = [], nestedProcesses = [] } = inputs.snapshot
  if (nestedProcesses.length === 0) return new Set(processes)
  const known = knownPods(inputs)
  return new Set([...processes, ...nestedProcesses.filter((uid) => known.has(uid))])
}

/**
 * All processes with the pod's UID are in cgroups that neither this node's kubelet nor its runtime made: below a container,
 * or below a user's own service manager, where that user gives any name to any process.
 */
export function isOnlyNested({ snapshot }: ActualInputs, uid: string): boolean {
  const { processes = [], nestedProcesses = [], runtime } = snapshot
  return (
    nestedProcesses.includes(uid) &&
    !processes.includes(uid) &&
    runtime?.pods.some((pod) => pod.uid === uid && (pod.state !== 'SANDBOX_NOTREADY' || hasLiving(pod))) !== true
  )
}

function hasLiving({ containers }: SandboxState): boolean {
  return containers.some(({ state }) => state !== 'CONTAINER_EXITED')
}

/** How a person finds out whose processes they are, and what to do then. */
export function strangerHint(uid: string): string {
  const names = [...new Set([uid, uid.replaceAll('-', '_')])].join('|')
  return `Find the processes: grep -lE 'pod(${names})' /proc/[0-9]*/cgroup. End them, or, if another kubelet on this machine started them, delete its pod there; then plan again.`
}

/**
 * Every kubelet creates the directory of its pods: without one, this is not the kubelet's root directory, or its disk is not
 * mounted. Undefined: the directory is there, or the whole section is missing.
 */
export function missingPodsDirectory(
  inputs: ActualInputs,
): { readonly path: string; readonly message: string; readonly hint: string } | undefined {
  if (inputs.snapshot.tree === undefined || inputs.tree.has('pods')) return undefined
  const path = inputs.absolute('pods')
  return {
    path,
    message: `${path} does not exist, though every kubelet creates it: which volumes the pods have is not known`,
    hint: "Check that this is the kubelet's root directory (--root-dir), and that its disk is mounted; if both are right, create the directory.",
  }
}

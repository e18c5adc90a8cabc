/** The two witnesses of life: the container runtime and the process table (S9). */
import type { ActualInputs } from '../../actual/actual-inputs.ts'
import type { ProblemCode } from '../../codes/codes.ts'
import { onDiskUid } from '../../desired/pods.ts'
import type { Problem } from '../../plan/plan.ts'
import { podsWithProcesses } from './known-pods.ts'

export interface Witnesses {
  /** A sandbox that is not surely stopped, a container that is not surely exited, or any process. */
  isAlive(uid: string): boolean
  /** Why nothing can be said about a pod that shows no sign of life; undefined where silence is proof. */
  blindFor(uid: string): string | undefined
  /** Containers and sandboxes of a pod that count as alive, in words. */
  signsOfLife(uid: string): string[]
  readonly problems: readonly Problem[]
}

/**
 * Judges the witnesses. A runtime counts only if it knows a pod that is known to live, or nothing lives here; one that
 * should be there and does not answer leaves us blind for every pod that is not older than this boot.
 *
 * @param foreignPods of --foreign-pod
 */
export function judgeWitnesses(inputs: ActualInputs, foreignPods: readonly string[] = []): Witnesses {
  const { snapshot } = inputs
  const processes = podsWithProcesses(inputs, foreignPods)
  const byRuntime = new Map<string, string[]>()
  for (const sandbox of snapshot.runtime?.pods ?? []) {
    const signs = byRuntime.get(sandbox.uid) ?? []
    if (sandbox.state !== 'SANDBOX_NOTREADY') signs.push(`sandbox ${words(sandbox.state)}`)
    for (const container of sandbox.containers) {
      if (container.state !== 'CONTAINER_EXITED') signs.push(`container ${container.name} ${words(container.state)}`)
    }
    byRuntime.set(sandbox.uid, signs)
  }
  const aliveByRuntime = (uid: string): boolean => (byRuntime.get(uid)?.length ?? 0) > 0
  const blindness = blindnessOf(inputs, processes, aliveByRuntime)
  return {
    isAlive: (uid) => processes.has(uid) || aliveByRuntime(uid),
    signsOfLife: (uid) => [...(byRuntime.get(uid) ?? []), ...(processes.has(uid) ? ['processes in its cgroup'] : [])],
    blindFor: (uid) =>
      blindness === undefined || olderThanBoot(inputs, uid)
        ? undefined
        : `${blindness.short}, and it is not older than this boot`,
    problems: blindness === undefined ? [] : [problemOf(blindness)],
  }
}

/** Why the witnesses are blind. */
interface Blindness {
  readonly code: ProblemCode
  readonly message: string
  /** Said of each pod; the rest is said once. */
  readonly short: string
  readonly hint: string
}

function problemOf({ code, message, hint }: Blindness): Problem {
  return { severity: 'error', code, message, hint, about: {} }
}

function words(state: string): string {
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
    return { code: 'RuntimeUnknown', message, short: message, hint }
  }
  // One of several sockets may have answered: the containers of the other still run without it.
  if (runtime.error !== undefined || (runtime.source === 'none' && runtime.endpoint !== undefined)) {
    const message = `the container runtime${runtime.endpoint ? ` at ${runtime.endpoint}` : ''} did not answer${runtime.error ? ` (${runtime.error})` : ''}`
    return { code: 'RuntimeNotAnswering', message, short: 'the container runtime did not answer', hint }
  }
  if (snapshot.processes === undefined) {
    return {
      code: 'NoWitness',
      message: 'the process table was not read, which is always the second witness',
      short: 'the process table was not read',
      hint: 'Read it as root.',
    }
  }
  if (runtime.source === 'none') return undefined
  const living = snapshot.processes === undefined || snapshot.kubelet?.running === true ? apiRunning(snapshot.api) : []
  const known = processes.size > 0 ? [...processes] : living
  if (known.length === 0 || known.some(aliveByRuntime)) return undefined
  return {
    code: 'RuntimeUnproven',
    message: `the container runtime at ${runtime.endpoint ?? 'its socket'} knows none of the ${known.length} pods that are known to live here`,
    short: 'the container runtime that answered knows none of the pods that live here',
    hint: 'This may be the wrong runtime: name the right socket with --runtime-endpoint; then plan again.',
  }
}

/** Pods whose status, written by a kubelet that runs, says that a container of theirs runs. */
function apiRunning(api: ActualInputs['snapshot']['api']): string[] {
  return (api?.pods ?? [])
    .filter((pod) => pod.status?.containerStatuses?.some((status) => status.state?.running !== undefined))
    .map(onDiskUid)
}

/** Is everything that the kubelet made for this pod older than this boot: nothing of it can run then. */
function olderThanBoot(inputs: ActualInputs, uid: string): boolean {
  const boot = Date.parse(inputs.snapshot.bootTime ?? '') / 1000
  if (Number.isNaN(boot)) return false
  if (inputs.podMounts(uid).length > 0) return false
  const entries = [inputs.tree.get(`pods/${uid}`), ...inputs.tree.descendants(`pods/${uid}`)]
  return entries.every(
    (entry) => entry !== undefined && entry.mtime !== undefined && entry.mtime > 0 && entry.mtime < boot,
  )
}

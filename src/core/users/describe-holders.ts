/** Holders in one line, for messages. */

import type { UsingProcess } from '../base/errors.ts'
import { memoize } from '../base/memoize.ts'
import { take } from '../base/take.ts'
import type { NodeSnapshot } from '../facts/actual/snapshot.ts'
import type { Unseen } from '../linux/mount-namespaces.ts'
import { type PodProcess, podOfProcess } from '../linux/pod-cgroups.ts'
import type { PodRef } from '../plan/plan.ts'
import { podAndContainer } from '../plan/pod-name.ts'
import { containerStatusesOf, namedUids } from '../volumes/pods.ts'
import type { Holders } from './find-holders.ts'
import type { Holder } from './uses.ts'

/** Who or what uses something. */
export interface UsedBy {
  /** For messages. */
  readonly who: string
  /** The processes among the words. */
  readonly users?: readonly UsingProcess[]
}

/** How many holders of each kind are named; the rest is counted. */
const MOST = 4

const byUid: NameOf = ({ podUid, containerId: container }) => ({ pod: { uid: podUid }, container })

/** Empty where there are none. @param nameOf absent: pods are named by their UIDs */
export function describeHolders({ processes, namespaces, loops, kernel }: Holders, nameOf: NameOf = byUid): string {
  return [
    loops.map(({ device, backingFile }) => `${device}, backed by ${backingFile}`),
    kernel,
    describeProcesses(processes, nameOf),
    namespaces.map(
      ({ pid, process, mountPoints: [first], of }) =>
        `${first} in the mount namespace of ${process} (pid ${pid}${whose(of, nameOf)})`,
    ),
  ]
    .flatMap((each) => take(each, MOST))
    .join(', ')
}

/** Who is named first, with the processes among them; else what could not be seen; undefined: nobody. */
export function userAmong(holders: Holders, nameOf?: NameOf): UsedBy | Unseen | undefined {
  const who = describeHolders(holders, nameOf)
  if (who === '') return holders.unseen[0]
  const { processes, namespaces } = holders
  const users = new Map([...processes, ...namespaces].map((each) => [each.pid, usingProcess(each)]))
  return { who, users: [...users.values()] }
}

export function usingProcess({ pid, process }: UsingProcess): UsingProcess {
  return { pid, process }
}

/** `sleep (pid 42, cwd, file; container web of pod default/web-0)`, each process once. */
export function describeProcesses(holders: readonly Holder[], nameOf: NameOf = byUid): string[] {
  return [...Map.groupBy(holders, ({ pid }) => pid)].map(([pid, own]) => {
    const whats = [...new Set(own.map(({ what }) => what))].join(', ')
    return `${own[0]?.process} (pid ${pid}, ${whats}${whose(own[0]?.of, nameOf)})`
  })
}

/** `sh (pid 42; container web of pod default/web-0)` */
export function describeProcess({ process, pid }: { process: string; pid: number }, nameOf: NameOf = byUid): string {
  return `${process} (pid ${pid}${whose(podOfProcess(pid), nameOf)})`
}

function whose(of: PodProcess | undefined, nameOf: NameOf): string {
  return of === undefined ? '' : `; ${podAndContainer(nameOf(of))}`
}

// Names of the pod and the container that a process belongs to, from the API and the runtime.

/** @returns with the container's name, otherwise the beginning of its id; absent: unknown */
export type NameOf = (of: PodProcess) => { readonly pod: PodRef; readonly container?: string }

/** The length of ids in crictl(1)'s output. */
const SHORT_ID = 13

export const containerNames = memoize(({ api, runtime }: Pick<NodeSnapshot, 'api' | 'runtime'>): NameOf => {
  const pods = new Map<string, PodRef>()
  const containers = new Map<string, string>()
  for (const { uid, namespace, name, containers: own } of runtime?.pods ?? []) {
    pods.set(uid, { namespace, name, uid })
    for (const { id, name: container } of own) if (id !== undefined) containers.set(id, container)
  }
  for (const pod of api?.pods ?? []) {
    const { namespace, name } = pod.metadata
    for (const uid of namedUids(pod)) pods.set(uid, { namespace, name, uid })
    for (const { containerID, name: container } of containerStatusesOf(pod)) {
      if (typeof containerID === 'string') containers.set(containerID.replace(/^.*:\/\//, ''), container)
    }
  }
  return ({ podUid, containerId }) => {
    const container = containers.get(containerId ?? '') ?? containerId?.slice(0, SHORT_ID)
    return { pod: pods.get(podUid) ?? { uid: podUid }, container }
  }
})

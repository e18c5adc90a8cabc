/** Names of the pod and the container that a process belongs to, from the API and the runtime. */

import { memoize } from '../base/memoize.ts'
import type { NodeSnapshot } from '../facts/actual/snapshot.ts'
import type { Pod } from '../kube/api/objects.ts'
import type { PodProcess } from '../linux/pod-cgroups.ts'
import type { PodRef } from '../plan/plan.ts'
import { namedUids } from '../volumes/pods.ts'

export interface ContainerName {
  readonly pod: PodRef
  /** The container's name, otherwise the beginning of its id; absent: unknown. */
  readonly container?: string
}

export type NameOf = (of: PodProcess) => ContainerName

/** The length of ids in crictl(1)'s output. */
const SHORT_ID = 13

export const containerNames = memoize(({ api, runtime }: Pick<NodeSnapshot, 'api' | 'runtime'>): NameOf => {
  const pods = new Map<string, PodRef>()
  const containers = new Map<string, string>()
  for (const { uid, namespace, name, containers: own } of runtime?.pods ?? []) {
    pods.set(uid, { ...(namespace && { namespace }), ...(name && { name }), uid })
    for (const { id, name: container } of own) if (id !== undefined) containers.set(id, container)
  }
  for (const pod of api?.pods ?? []) {
    const { namespace, name } = pod.metadata
    for (const uid of namedUids(pod)) pods.set(uid, { ...(namespace && { namespace }), name, uid })
    for (const { containerID, name: container } of statusesOf(pod)) {
      if (typeof containerID === 'string') containers.set(containerID.replace(/^.*:\/\//, ''), container)
    }
  }
  return ({ podUid, containerId }) => {
    const container =
      containerId === undefined ? undefined : (containers.get(containerId) ?? containerId.slice(0, SHORT_ID))
    return { pod: pods.get(podUid) ?? { uid: podUid }, ...(container && { container }) }
  }
})

function statusesOf({ status }: Pod) {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {}
  return [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses]
}

import { type Container, ContainerState, type PodSandbox, PodSandboxState } from '../grpc/gen/runtime/v1/runtime_pb.js'
import { compareText } from '../lang/compare-text.ts'
import type { SandboxState } from '../model/snapshot.ts'

/** Labels that the kubelet puts on every sandbox and container (C117). */
const Label = {
  podUid: 'io.kubernetes.pod.uid',
  podName: 'io.kubernetes.pod.name',
  podNamespace: 'io.kubernetes.pod.namespace',
  containerName: 'io.kubernetes.container.name',
} as const

/** A state that the runtime did not report, or that volctl does not know; counts as alive (S9). */
const UNKNOWN = 'UNKNOWN'

/**
 * One runtime's answer: an entry for each sandbox, with its containers. A container without a listed sandbox also makes an
 * entry for its pod, since the kubelet counts a running container even without its sandbox (C117). Entries that belong to no
 * pod are left out.
 */
export function sandboxStates(
  sandboxes: readonly PodSandbox[],
  containers: readonly Container[],
): readonly SandboxState[] {
  const sandboxIds = new Set(sandboxes.map(({ id }) => id))
  const [homeless, housed] = partition(containers, ({ podSandboxId }) => !sandboxIds.has(podSandboxId))
  const containersOf = Map.groupBy(housed, ({ podSandboxId }) => podSandboxId)
  const orphansOf = Map.groupBy(homeless, ({ podSandboxId, labels }) => `${podSandboxId}/${labels[Label.podUid] ?? ''}`)
  const entries = [
    ...sandboxes.map((sandbox) => ({
      id: sandbox.id,
      state: ofSandbox(sandbox, containersOf.get(sandbox.id) ?? []),
    })),
    ...[...orphansOf].map(([id, orphans]) => ({ id, state: ofOrphans(orphans) })),
  ]
  return entries
    .filter(({ state }) => state.uid !== '')
    .sort((a, b) => compareText(sortKey(a.state, a.id), sortKey(b.state, b.id)))
    .map(({ state }) => state)
}

function ofSandbox(sandbox: PodSandbox, containers: readonly Container[]): SandboxState {
  const { metadata, labels } = sandbox
  return {
    uid: metadata?.uid || (labels[Label.podUid] ?? ''),
    ...pod(metadata?.namespace || labels[Label.podNamespace], metadata?.name || labels[Label.podName]),
    state: PodSandboxState[sandbox.state] ?? UNKNOWN,
    containers: containerStates(containers),
  }
}

function ofOrphans(containers: readonly Container[]): SandboxState {
  const labels = containers[0]?.labels ?? {}
  return {
    uid: labels[Label.podUid] ?? '',
    ...pod(labels[Label.podNamespace], labels[Label.podName]),
    state: UNKNOWN,
    containers: containerStates(containers),
  }
}

function pod(namespace: string | undefined, name: string | undefined): Pick<SandboxState, 'namespace' | 'name'> {
  return { ...(namespace && { namespace }), ...(name && { name }) }
}

function containerStates(containers: readonly Container[]): SandboxState['containers'] {
  return containers
    .map((container) => ({
      name: container.metadata?.name || (container.labels[Label.containerName] ?? ''),
      state: ContainerState[container.state] ?? UNKNOWN,
      ...(container.id && { id: container.id }),
    }))
    .sort((a, b) => compareText(a.name, b.name) || compareText(a.state, b.state))
}

function partition<T>(values: readonly T[], test: (value: T) => boolean): [T[], T[]] {
  return [values.filter(test), values.filter((value) => !test(value))]
}

function sortKey(state: SandboxState, id: string): string {
  return [state.namespace, state.name, state.uid, id].join('/')
}

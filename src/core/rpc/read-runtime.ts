import { alike, compareText } from '../base/text.ts'
import { errorMessage, isMissing } from '../messages/findings.ts'
import { Budget } from '../trust/bytes.ts'
import { withoutLinks } from '../trust/walk.ts'
import type { RuntimeSnapshot, SandboxState } from './endpoints.ts'
import { unixSocketPath } from './endpoints.ts'
import {
  type Container,
  ContainerState,
  type PodSandbox,
  PodSandboxState,
  RuntimeService,
} from './gen/runtime/v1/runtime_pb.js'
import { deadlineIn, GrpcError } from './grpc-status.ts'
import { unaryCall } from './unary-call.ts'

/** Where container runtimes listen when nothing names another place (N18). */
export const WELL_KNOWN_RUNTIME_ENDPOINTS: readonly string[] = [
  'unix:///run/containerd/containerd.sock',
  'unix:///var/run/crio/crio.sock',
  'unix:///run/k3s/containerd/containerd.sock',
  'unix:///var/run/cri-dockerd.sock',
  'unix:///run/k0s/containerd.sock',
  'unix:///var/snap/microk8s/common/run/containerd.sock',
]

/** Memory for the lists of all runtimes of a node; a thousand pods take some megabytes. */
const ANSWERS_BYTES = 128 * 1024 * 1024

interface ReadRuntimeOptions {
  /** `unix:///…` or plain paths, the likeliest first. */
  readonly endpoints: readonly string[]
  /** Those that the node is configured to use, which are asked first. */
  readonly required?: readonly string[]
  /** True if the node should have a runtime: then it is an error if none answers, or one that is required does not (S9). */
  readonly expected: boolean
  /** For one runtime's two calls together. */
  readonly deadlineMs: number
}

/**
 * Every pod sandbox and container of the container runtimes of this node; the answers of all runtimes are merged (C116, C117,
 * S9).
 *
 * A runtime that exists but fails, hangs or refuses is an error, whatever the others answer, since its pods are unknown. So
 * is a stale socket, because containers outlive the runtime that started them. A missing socket, or one without CRI v1, is
 * only an error if it is required, or if a runtime was expected and none answered.
 */
export async function readRuntime(options: ReadRuntimeOptions): Promise<RuntimeSnapshot> {
  const { endpoints, required = [], expected, deadlineMs } = options
  const all = distinctEndpoints([...required, ...endpoints])
  const budget = new Budget(ANSWERS_BYTES)
  const answers = await Promise.all(all.map((endpoint) => askRuntime(endpoint, deadlineMs, budget)))
  const [answered, silent] = [answers.filter(({ pods }) => pods), answers.filter(({ pods }) => !pods)]
  const failed = silent.filter(({ isAbsent, endpoint }) => !isAbsent || (expected && required.includes(endpoint)))
  if (answered.length > 0)
    return {
      source: 'cri',
      endpoint: answered.map(({ endpoint }) => endpoint).join(', '),
      error: describeErrors(failed),
      // Each runtime separately: two runtimes may use one id for different sandboxes.
      pods: answered.flatMap(({ pods = [] }) => pods),
    }
  // The endpoint to name: the one that failed, otherwise the one that was expected.
  const endpoint = failed[0]?.endpoint ?? (expected ? all[0] : undefined)
  const error = describeErrors(failed.length > 0 || !expected ? failed : silent)
  const none = expected ? 'no runtime endpoint is known' : undefined
  return { source: 'none', endpoint, error: error ?? none, pods: [] }
}

/** Without endpoints that are the same socket by another path, such as /run and /var/run. */
function distinctEndpoints(endpoints: readonly string[]): readonly string[] {
  const same = alike(endpoints, (endpoint) => withoutLinks(unixSocketPath(endpoint) ?? endpoint))
  return same.map(([first]) => first)
}

/** Undefined: there are none. */
function describeErrors(silent: readonly Answer[]): string | undefined {
  const [failed, absent] = [silent.filter(({ isAbsent }) => !isAbsent), silent.filter(({ isAbsent }) => isAbsent)]
  const single = absent.length > 1 ? failed : [...failed, ...absent]
  const errors = single.map(({ endpoint, error }) => `${endpoint}: ${error}`)
  // One sentence for all missing sockets.
  if (absent.length > 1)
    errors.push(`no container runtime answers at ${absent.map(({ endpoint }) => endpoint).join(', ')}`)
  return errors.length > 0 ? errors.join('; ') : undefined
}

/** The kubelet's receive limit for the runtime (C117). */
const RECEIVE_LIMIT = 16 * 1024 * 1024

interface Answer {
  readonly endpoint: string
  /** Undefined: it did not answer as it should. */
  readonly pods?: readonly SandboxState[]
  readonly error?: string
  /** There is no CRI v1 runtime: no socket, or another kind of server. */
  readonly isAbsent?: boolean
}

/**
 * Asks one endpoint for its sandboxes and then for its containers. In this order a container that starts in between is listed
 * without its sandbox, but no living sandbox with containers is missed. A server that does not implement the list is not a
 * CRI v1 runtime, as the kubelet would find out by `Version` (C117).
 *
 * @param budget memory for the answers of all runtimes together
 */
async function askRuntime(endpoint: string, deadlineMs: number, budget: Budget): Promise<Answer> {
  const path = unixSocketPath(endpoint)
  if (path === undefined) return { endpoint, error: 'not a unix socket' }
  const options = { deadline: deadlineIn(deadlineMs), receiveLimit: RECEIVE_LIMIT, budget }
  let sandboxes: readonly PodSandbox[] | undefined
  try {
    sandboxes = (await unaryCall(path, RuntimeService.method.listPodSandbox, {}, options)).items
    const { containers } = await unaryCall(path, RuntimeService.method.listContainers, {}, options)
    return { endpoint, pods: sandboxStates(sandboxes, containers) }
  } catch (error) {
    const isNone = error instanceof GrpcError && (error.code === 'UNIMPLEMENTED' || isMissing(error.cause))
    return { endpoint, error: errorMessage(error), isAbsent: isNone && sandboxes === undefined }
  }
}

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
  const containersOf = Map.groupBy(containers, ({ podSandboxId }) => podSandboxId)
  const homeless = containers.filter(({ podSandboxId }) => !sandboxIds.has(podSandboxId))
  const orphansOf = Map.groupBy(homeless, ({ podSandboxId, labels }) => `${podSandboxId}/${labels[Label.podUid] ?? ''}`)
  const unlisted = [...orphansOf].map(([id, of]) => ({ id, labels: of[0]?.labels ?? {}, of }))
  const listed = sandboxes.map((sandbox) => ({ ...sandbox, of: containersOf.get(sandbox.id) ?? [] }))
  const entries = [...listed, ...unlisted].map(({ id, of, ...sandbox }) => ({ id, state: stateOf(sandbox, of) }))
  return entries
    .filter(({ state }) => state.uid !== '')
    .sort((a, b) => compareText(sortKey(a.state, a.id), sortKey(b.state, b.id)))
    .map(({ state }) => state)
}

/** Of a sandbox that is not listed the labels alone are known, which each of its containers has. */
function stateOf(
  { metadata, labels, state }: Pick<PodSandbox, 'labels'> & Partial<PodSandbox>,
  containers: readonly Container[],
): SandboxState {
  return {
    uid: metadata?.uid || (labels[Label.podUid] ?? ''),
    namespace: metadata?.namespace || labels[Label.podNamespace] || undefined,
    name: metadata?.name || labels[Label.podName] || undefined,
    state: (state === undefined ? undefined : PodSandboxState[state]) ?? UNKNOWN,
    containers: containers
      .map((container) => ({
        name: container.metadata?.name || (container.labels[Label.containerName] ?? ''),
        state: ContainerState[container.state] ?? UNKNOWN,
        id: container.id || undefined,
      }))
      .sort((a, b) => compareText(a.name, b.name) || compareText(a.state, b.state)),
  }
}

function sortKey(state: SandboxState, id: string): string {
  return [state.namespace, state.name, state.uid, id].join('/')
}

import { rmSync } from 'node:fs'
import type { SandboxState } from '../../../src/core/rpc/endpoints.ts'
import { ContainerState, PodSandboxState, RuntimeService } from '../../../src/core/rpc/gen/runtime/v1/runtime_pb.js'
import { type Handler, StatusError, serve, status } from '../grpc/serve.ts'

/** What the runtime knows. */
export interface CriData {
  /** In the form of a snapshot's runtime section. */
  readonly pods: readonly SandboxState[]
  /** A gRPC code, or HANG, by method. */
  readonly faults?: Readonly<Record<string, string>>
}

export type CriServer = Awaited<ReturnType<typeof startCriServer>>

const ANSWERS: Readonly<Record<string, (pods: readonly SandboxState[]) => object>> = {
  ListPodSandbox: (pods) => ({
    items: pods.map(({ uid, namespace = '', name = '', state }, index) => ({
      id: `sandbox-${index}`,
      metadata: { uid, namespace, name },
      state: PodSandboxState[state as keyof typeof PodSandboxState],
    })),
  }),
  ListContainers: (pods) => ({
    containers: pods.flatMap(({ uid, containers }, index) =>
      containers.map(({ name, state }, number) => ({
        id: `container-${index}-${number}`,
        podSandboxId: `sandbox-${index}`,
        metadata: { name },
        state: ContainerState[state as keyof typeof ContainerState],
        labels: { 'io.kubernetes.pod.uid': uid },
      })),
    ),
  }),
}

/** Starts a container runtime (CRI v1) in this process, which only knows the given data. */
export async function startCriServer({ socketPath, ...data }: CriData & { readonly socketPath: string }) {
  let known: CriData = data
  const handle: Handler = (_request, _call, { name }) => {
    const fault = known.faults?.[name]
    if (fault === 'HANG') return new Promise(() => {})
    if (fault !== undefined) throw new StatusError(status[fault as keyof typeof status], `injected ${fault}`)
    const answer = ANSWERS[name]
    if (answer === undefined) throw new StatusError(status.UNIMPLEMENTED, name)
    return answer(known.pods)
  }
  const end = serve(socketPath, [RuntimeService, handle])
  return {
    endpoint: `unix://${socketPath}`,
    socketPath,
    /** Takes effect with the next call. */
    set: (changed: CriData) => {
      known = changed
    },
    /** Ends it; the socket file stays behind, stale, after `SIGKILL`. */
    stop: async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') => {
      end()
      if (signal === 'SIGTERM') rmSync(socketPath, { force: true })
    },
  }
}

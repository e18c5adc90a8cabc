import { errorMessage } from '../errors/errors.ts'
import { deadlineIn } from '../grpc/call-deadline.ts'
import { type Container, type PodSandbox, RuntimeService } from '../grpc/gen/runtime/v1/runtime_pb.js'
import { GrpcError } from '../grpc/grpc-error.ts'
import { isNoSocket } from '../grpc/transport-status.ts'
import { unaryCall } from '../grpc/unary-call.ts'
import { unixSocketPath } from '../grpc/unix-socket.ts'
import type { Budget } from '../trust/bytes.ts'

/** The kubelet's receive limit for the runtime (C117). */
const RECEIVE_LIMIT = 16 * 1024 * 1024

export type Answer =
  | {
      readonly kind: 'pods'
      readonly endpoint: string
      readonly sandboxes: readonly PodSandbox[]
      readonly containers: readonly Container[]
    }
  /** There is no CRI v1 runtime: no socket, or another kind of server. */
  | { readonly kind: 'absent'; readonly endpoint: string; readonly error: string }
  /** A server is there, but did not answer as a runtime should. */
  | { readonly kind: 'failed'; readonly endpoint: string; readonly error: string }

/**
 * Asks one endpoint for its sandboxes and then for its containers. In this order a container that starts in between is listed
 * without its sandbox, but no living sandbox with containers is missed. A server that does not implement the list is not a
 * CRI v1 runtime, as the kubelet would find out by `Version` (C117).
 *
 * @param budget memory for the answers of all runtimes together
 */
export async function askRuntime(endpoint: string, deadlineMs: number, budget?: Budget): Promise<Answer> {
  const path = unixSocketPath(endpoint)
  if (path === undefined) return { kind: 'failed', endpoint, error: 'not a unix socket' }
  const options = { deadline: deadlineIn(deadlineMs), receiveLimit: RECEIVE_LIMIT, ...(budget && { budget }) }
  let sandboxes: readonly PodSandbox[]
  try {
    const { items } = await unaryCall(path, RuntimeService.method.listPodSandbox, {}, options)
    sandboxes = items
  } catch (error) {
    const absent = error instanceof GrpcError && (error.code === 'UNIMPLEMENTED' || isNoSocket(error.cause))
    return { kind: absent ? 'absent' : 'failed', endpoint, error: errorMessage(error) }
  }
  try {
    const { containers } = await unaryCall(path, RuntimeService.method.listContainers, {}, options)
    return { kind: 'pods', endpoint, sandboxes, containers }
  } catch (error) {
    return { kind: 'failed', endpoint, error: errorMessage(error) }
  }
}

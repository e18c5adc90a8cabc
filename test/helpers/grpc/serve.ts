/**
 * Serves generated services with grpc-js: a gRPC implementation other than volctl's own client, so that the two check each
 * other.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { basename, dirname } from 'node:path'
import { create, type DescMethod, type DescService, fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import { Server, ServerCredentials, type ServerUnaryCall, type ServiceDefinition, status } from '@grpc/grpc-js'

export { status } from '@grpc/grpc-js'

/** An answer that is not OK. */
export class StatusError extends Error {
  readonly code: status
  constructor(code: status, message: string) {
    super(message)
    this.code = code
  }
}

export type Call = ServerUnaryCall<Message, Message>
/** Answers each method of a service. */
export type Handler = (request: Message, call: Call, method: DescMethod) => Promise<object> | object
export type Service = readonly [DescService, Handler]

/**
 * Serves on a unix socket, of any path length; a stale socket file is replaced.
 *
 * @returns ends it at once as SIGKILL does: calls break off, and the socket's file stays
 */
export function serve(socketPath: string, ...services: readonly Service[]): () => void {
  const server = new Server()
  for (const [service, handle] of services) addService(server, service, handle)
  const { injectConnection } = server.createConnectionInjector(ServerCredentials.createInsecure())
  const sockets = new Set<Socket>()
  const listener = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    injectConnection(socket)
  })
  mkdirSync(dirname(socketPath), { recursive: true, mode: 0o750 })
  rmSync(socketPath, { force: true })
  // The kernel takes 107 bytes of path: a relative one is short. Nor does Node.js find the file later, to remove it.
  const before = process.cwd()
  process.chdir(dirname(socketPath))
  listener.listen(basename(socketPath))
  process.chdir(before)
  return () => {
    listener.close()
    for (const socket of sockets) socket.destroy()
    server.forceShutdown()
  }
}

function addService(server: Server, service: DescService, handle: Handler): void {
  const definition: Record<string, ServiceDefinition[string]> = {}
  const answers: Parameters<Server['addService']>[1] = {}
  for (const method of service.methods) {
    definition[method.localName] = definitionOf(service, method)
    answers[method.localName] = (call: Call, answered: (error: object | null, value?: object) => void) => {
      Promise.try(handle, call.request, call, method).then(
        (value) => answered(null, value),
        (error: unknown) => {
          const code = error instanceof StatusError ? error.code : status.UNKNOWN
          answered({ code, details: error instanceof Error ? error.message : String(error) })
        },
      )
    }
  }
  server.addService(definition, answers)
}

function definitionOf(service: DescService, method: DescMethod): ServiceDefinition[string] {
  return {
    path: `/${service.typeName}/${method.name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: (value: Message) => Buffer.from(toBinary(method.input, value)),
    requestDeserialize: (bytes: Buffer) => fromBinary(method.input, bytes),
    responseSerialize: (value: Record<string, unknown>) =>
      Buffer.from(toBinary(method.output, create(method.output, value))),
    responseDeserialize: (bytes: Buffer) => fromBinary(method.output, bytes),
  }
}

/**
 * Serves a generated service with grpc-js: a gRPC implementation other than volctl's own client, so that the two check each
 * other.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { create, type DescMethod, type DescService, fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import {
  type handleUnaryCall,
  type Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'

export type { ServerUnaryCall } from '@grpc/grpc-js'
export { Server, status } from '@grpc/grpc-js'

/** An answer that is not OK. */
export class StatusError extends Error {
  readonly code: status
  constructor(code: status, message: string) {
    super(message)
    this.code = code
  }
}

export type Handler = (
  request: Message,
  call: ServerUnaryCall<Message, Message>,
  method: DescMethod,
) => Promise<object> | object

/** Adds every method of the service; each is answered by the handler of its name, or by UNIMPLEMENTED. */
export function addService(server: Server, service: DescService, handle: Handler): void {
  const definition: Record<string, ServiceDefinition[string]> = {}
  const implementation: UntypedServiceImplementation = {}
  for (const method of service.methods) {
    definition[method.localName] = definitionOf(service, method)
    implementation[method.localName] = unary((call) => handle(call.request, call, method))
  }
  server.addService(definition, implementation)
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

function unary(
  handle: (call: ServerUnaryCall<Message, Message>) => Promise<object> | object,
): handleUnaryCall<Message, object> {
  return (call, callback) => {
    const answer = async (): Promise<object> => handle(call)
    answer().then(
      (value) => callback(null, value),
      (error: unknown) => {
        const code = error instanceof StatusError ? error.code : status.UNKNOWN
        callback({ code, details: error instanceof Error ? error.message : String(error) })
      },
    )
  }
}

/** Listens on a unix socket, of any path length; a stale socket file is replaced. */
export async function listen(server: Server, socketPath: string): Promise<void> {
  mkdirSync(dirname(socketPath), { recursive: true, mode: 0o750 })
  rmSync(socketPath, { force: true })
  // The kernel takes 107 bytes of path: a relative one is short.
  const before = process.cwd()
  process.chdir(dirname(socketPath))
  try {
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix:./${basename(socketPath)}`, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      )
    })
  } finally {
    process.chdir(before)
  }
}

/** Adds one method by its path, with any messages; it is answered with an empty one. */
export function addRawMethod(server: Server, path: string, handle: () => void): void {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const identity = (bytes: Buffer): Buffer => bytes
  server.addService(
    {
      [name]: {
        path,
        requestStream: false,
        responseStream: false,
        requestSerialize: identity,
        requestDeserialize: identity,
        responseSerialize: identity,
        responseDeserialize: identity,
      },
    },
    {
      [name]: unary(() => {
        handle()
        return Buffer.alloc(0)
      }),
    },
  )
}

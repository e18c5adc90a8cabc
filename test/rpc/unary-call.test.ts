import { execFile } from 'node:child_process'
import { createServer as createHttp2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { createServer, type Server as NetServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { encodeFrame } from '../../src/core/rpc/exchange.ts'
import { Node } from '../../src/core/rpc/gen/csi/v1/csi_pb.js'
import { deadlineIn, GrpcError } from '../../src/core/rpc/grpc-status.ts'
import { unaryCall } from '../../src/core/rpc/unary-call.ts'
import { Budget } from '../../src/core/trust/bytes.ts'
import { type Handler, StatusError, serve as serveGrpc } from '../helpers/grpc/serve.ts'
import { nodeProgram } from '../helpers/programs.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import type { Flooded } from './workers/flood.ts'

let directory = ''
let socketPath = ''
const cleanUps: (() => void)[] = []

beforeEach(() => {
  directory = temporaryDirectory()
  socketPath = join(directory, 's.sock')
})
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp()
})

const REQUEST = { volumeId: 'vol-1', targetPath: '/t' }
const UNPUBLISH = Node.method.nodeUnpublishVolume

function call(options: { deadlineMs?: number; receiveLimit?: number } = {}) {
  const { deadlineMs = 5000, ...rest } = options
  return unaryCall(socketPath, Node.method.nodeGetInfo, {}, { deadline: deadlineIn(deadlineMs), ...rest })
}

async function failure(promise: Promise<unknown>): Promise<GrpcError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason) => reason,
  )
  if (error instanceof GrpcError) return error
  throw new Error('expected a GrpcError', { cause: error })
}

/** A real gRPC server of another make. */
function serve(handle: Handler): void {
  cleanUps.push(serveGrpc(socketPath, [Node, handle]))
}

/** A socket that does what it likes. */
async function serveRaw(onConnection: (socket: Socket) => void): Promise<NetServer> {
  const server = createServer(onConnection)
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)))
  cleanUps.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(socketPath, resolve))
  return server
}

/** An answer that ends well, whatever is in it. */
function endOk(stream: ServerHttp2Stream, bytes: Uint8Array): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.end(bytes)
}

/** HTTP/2 without gRPC's own rules. */
async function serveHttp2(
  onStream: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => unknown,
): Promise<void> {
  const server = createHttp2Server()
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    onStream(stream as ServerHttp2Stream, headers)
  })
  server.on('session', (session) => cleanUps.unshift(() => session.destroy()))
  cleanUps.push(() => void server.close())
  await new Promise<void>((resolve) => server.listen(socketPath, resolve))
}

describe('against a gRPC server of another make', () => {
  test('request and answer arrive whole', async () => {
    const seen: unknown[] = []
    serve((request, _call, method) => {
      seen.push([method.name, request])
      return method.name === 'NodeGetInfo' ? { nodeId: 'node-ä', maxVolumesPerNode: 2n ** 53n + 1n } : {}
    })
    await expect(call()).resolves.toMatchObject({ nodeId: 'node-ä', maxVolumesPerNode: 9007199254740993n })
    await unaryCall(socketPath, UNPUBLISH, REQUEST, { deadline: deadlineIn(5000) })
    expect(seen).toMatchObject([
      ['NodeGetInfo', {}],
      ['NodeUnpublishVolume', REQUEST],
    ])
  })

  test.each([1, 5, 16])('code %d comes back with its message', async (code) => {
    serve(() => {
      throw new StatusError(code, 'Gerät „/dev/sdä“ belegt: 100 %\nzweite Zeile')
    })
    const error = await failure(call())
    expect(error.details).toBe('Gerät „/dev/sdä“ belegt: 100 %\nzweite Zeile')
    expect(error.message).toMatch(/^NodeGetInfo: /)
    expect(error.code).toBe(
      (await import('@grpc/grpc-js')).status[code], // the other implementation's own names
    )
  })

  test('a big answer within the limit arrives, one beyond it does not', async () => {
    const nodeId = 'x'.repeat(3 * 1024 * 1024)
    serve(() => ({ nodeId }))
    await expect(call()).resolves.toMatchObject({ nodeId })
    // A tag, four bytes of length and the frame's five beside the text.
    const whole = nodeId.length + 10
    await expect(call({ receiveLimit: whole })).resolves.toMatchObject({ nodeId })
    expect((await failure(call({ receiveLimit: whole - 1 }))).code).toBe('RESOURCE_EXHAUSTED')
    const error = await failure(call({ receiveLimit: 1024 * 1024 }))
    expect([error.code, error.details]).toEqual(['RESOURCE_EXHAUSTED', 'the answer is larger than 1048576 bytes'])
  })

  test('the deadline ends a call that is never answered, and the server learns of it', async () => {
    const cancelled = Promise.withResolvers<void>()
    serve((_request, serverCall) => {
      serverCall.on('cancelled', () => cancelled.resolve())
      return new Promise(() => {})
    })
    const error = await failure(call({ deadlineMs: 500 }))
    expect([error.code, error.details]).toEqual(['DEADLINE_EXCEEDED', 'no answer within 0.5 s'])
    await cancelled.promise
  })

  test.each([
    { name: 'is the same end when the server notices it first', left: 0, details: 'no answer within 5 s' },
    { name: "is the server's own before that", left: 4000, details: 'the disk is slow' },
  ])('a deadline that has passed $name', async ({ left, details }) => {
    serve(() => {
      throw new StatusError(4, 'the disk is slow')
    })
    const remaining = [5000]
    const deadline = { totalMs: 5000, remainingMs: () => remaining.shift() ?? left }
    const error = await failure(unaryCall(socketPath, Node.method.nodeGetInfo, {}, { deadline }))
    expect([error.code, error.details]).toEqual(['DEADLINE_EXCEEDED', details])
  })

  test('a call whose time is over is not sent', async () => {
    let calls = 0
    serve(() => {
      calls++
      return {}
    })
    expect((await failure(call({ deadlineMs: 0 }))).code).toBe('DEADLINE_EXCEEDED')
    await call()
    expect(calls).toBe(1)
  })
})

describe('on the wire', () => {
  test('the request is a gRPC call for localhost with the time that is left', async () => {
    const seen: { headers: IncomingHttpHeaders; body: string }[] = []
    await serveHttp2(async (stream, headers) => {
      const chunks: Buffer[] = []
      for await (const chunk of stream) chunks.push(chunk)
      seen.push({ headers, body: Buffer.concat(chunks).toString('hex') })
      endOk(stream, Buffer.alloc(5))
    })
    await unaryCall(socketPath, UNPUBLISH, REQUEST, { deadline: deadlineIn(120_000) })
    expect(seen).toHaveLength(1)
    expect(seen[0]?.headers).toMatchObject({
      ':method': 'POST',
      ':scheme': 'http',
      ':authority': 'localhost',
      ':path': '/csi.v1.Node/NodeUnpublishVolume',
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    expect(seen[0]?.headers['grpc-timeout']).toMatch(/^1(20000|19\d{3})m$/)
    // Fields 1 and 2, both strings: tag, length, text.
    expect(seen[0]?.body).toBe(`000000000b${'0a05'}${hex('vol-1')}${'1202'}${hex('/t')}`)
  })

  test.each([
    ['a status in the headers alone', { 'grpc-status': '9', 'grpc-message': 'no%21' }, 'FAILED_PRECONDITION', 'no!'],
    ['an unknown status', { 'grpc-status': '77' }, 'UNKNOWN', ''],
    ['an empty status', { 'grpc-status': '' }, 'UNKNOWN', ''],
    ['HTTP 404', { ':status': 404 }, 'UNIMPLEMENTED', 'HTTP status 404'],
    [
      'another content',
      { 'content-type': 'text/html' },
      'UNKNOWN',
      'the answer is not gRPC but has content type text/html',
    ],
  ])('%s', async (_name, headers, code, details) => {
    await serveHttp2((stream) =>
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...headers }, { endStream: true }),
    )
    const error = await failure(call())
    expect([error.code, error.details]).toEqual([code, details])
  })
})

describe('nobody, or nobody sane, behind the socket', () => {
  test('a stale socket', async () => {
    const server = await serveRaw(() => undefined)
    // Closing would remove the file: keep a second name of it.
    const { linkSync } = await import('node:fs')
    linkSync(socketPath, `${socketPath}.stale`)
    await new Promise((resolve) => server.close(resolve))
    socketPath = `${socketPath}.stale`
    expect(await failure(call())).toMatchObject({ code: 'UNAVAILABLE', details: 'no process listens on the socket' })
  })

  test.each<[name: string, code: string, serves: () => unknown, deadlineMs?: number]>([
    ['no socket', 'UNAVAILABLE', () => undefined],
    ['one that accepts and never answers', 'DEADLINE_EXCEEDED', () => serveRaw(() => undefined), 100],
    [
      'one that ends the connection once asked',
      'UNAVAILABLE',
      () => serveRaw((socket) => void socket.once('data', () => socket.destroy())),
    ],
    [
      'one that dies in mid-answer',
      'UNAVAILABLE',
      () =>
        serveHttp2((stream) => {
          stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
          stream.write(Buffer.from('00', 'hex'), () => stream.session?.destroy())
        }),
    ],
    [
      'OK with half a message',
      'INTERNAL',
      () => serveHttp2((stream) => endOk(stream, Buffer.from('0000000005', 'hex'))),
    ],
    ['a reset with CANCEL', 'CANCELLED', () => serveHttp2((stream) => stream.close(8))],
    ['a reset with ENHANCE_YOUR_CALM', 'RESOURCE_EXHAUSTED', () => serveHttp2((stream) => stream.close(11))],
  ])('%s: %s', async (_name, code, serves, deadlineMs = 5000) => {
    await serves()
    expect((await failure(call({ deadlineMs }))).code).toBe(code)
  })
})

function hex(text: string): string {
  return Buffer.from(text).toString('hex')
}

test('S34: a server that does not stop, with frames of whatever kind: it is over by the deadline, in little memory', async () => {
  const worker = new URL('./workers/flood.ts', import.meta.url)
  const { stdout } = await promisify(execFile)(...nodeProgram(worker, [socketPath]))
  const all = JSON.parse(stdout) as Flooded[]
  expect(all).toHaveLength(11)
  for (const { kind, code, megabytes } of all) {
    expect(['DEADLINE_EXCEEDED', 'UNAVAILABLE', 'RESOURCE_EXHAUSTED', 'INTERNAL'], kind).toContain(code)
    expect(megabytes, kind).toBeLessThan(250)
  }
})

describe('an answer that is larger than it looks (S34)', () => {
  const repeated = (bytes: readonly number[], length: number): Buffer =>
    Buffer.alloc(length - (length % bytes.length)).fill(Buffer.from(bytes))

  const asked = { deadline: deadlineIn(60_000) }
  const capabilities = () => unaryCall(socketPath, Node.method.nodeGetCapabilities, {}, asked)
  test.each([
    { name: 'two million empty capabilities', ask: capabilities, bytes: [0x0a, 0] },
    {
      name: 'two million fields that nobody knows',
      ask: () => unaryCall(socketPath, UNPUBLISH, REQUEST, asked),
      bytes: [0x78, 0],
    },
  ])('$name', async ({ ask, bytes }) => {
    const message = repeated(bytes, 4 * 1024 * 1024 - 8)
    await serveHttp2((stream) => {
      endOk(stream, encodeFrame(message))
    })
    const error = await failure(ask())
    expect([error.code, error.details]).toEqual([
      'RESOURCE_EXHAUSTED',
      'the answer unpacks to more than 16777216 bytes of memory',
    ])
  })

  test('several that are kept share what there is', async () => {
    serve(() => ({ nodeId: 'x'.repeat(1024 * 1024) }))
    const options = { deadline: deadlineIn(30_000), budget: new Budget(2.5 * 1024 * 1024) }
    const ask = () => unaryCall(socketPath, Node.method.nodeGetInfo, {}, options)
    await ask()
    await ask()
    expect(await failure(ask())).toMatchObject({ code: 'RESOURCE_EXHAUSTED' })
  })
})

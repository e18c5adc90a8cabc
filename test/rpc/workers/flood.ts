/**
 * Asks a server that sends HTTP/2 frames without an end, of one kind after the other, and prints how that ended and how much memory it
 * took so far. The server is a process of its own: its memory is not what is measured.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { Node } from '../../../src/core/rpc/gen/csi/v1/csi_pb.js'
import { deadlineIn, GrpcError } from '../../../src/core/rpc/grpc-status.ts'
import { unaryCall } from '../../../src/core/rpc/unary-call.ts'
import { thisProgram } from '../../helpers/programs.ts'

type Flood = keyof typeof FLOODS

export interface Flooded {
  readonly kind: Flood
  readonly code: string
  readonly megabytes: number
}

const DATA = 0
const HEADERS = 1
const RST_STREAM = 3
const SETTINGS = 4
const PUSH_PROMISE = 5
const PING = 6
const WINDOW_UPDATE = 8
const CONTINUATION = 9
const ALTSVC = 10
const END_HEADERS = 4
const PADDED = 8
const STATUS_200 = Buffer.from([0x88])

function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** A header field that goes into no table (HPACK). */
function field(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0x10]), lengthOf(name), Buffer.from(name), lengthOf(value), Buffer.from(value)])
}

function lengthOf(text: string): Buffer {
  const bytes = [Math.min(text.length, 127)]
  for (let rest = text.length - 127; rest >= 0; rest = rest < 128 ? -1 : rest >> 7)
    bytes.push(rest < 128 ? rest : (rest & 127) | 128)
  return Buffer.from(bytes)
}

const begun = frame(HEADERS, END_HEADERS, 1, Buffer.concat([STATUS_200, field('content-type', 'application/grpc')]))
const FLOODS = {
  settings: { endless: frame(SETTINGS, 0, 0, Buffer.from([0, 3, 0, 0, 0, 100])) },
  pings: { endless: frame(PING, 0, 0, Buffer.alloc(8)) },
  continuations: {
    first: frame(HEADERS, 0, 1, Buffer.concat([STATUS_200, field('a', 'b'.repeat(8000))])),
    endless: frame(CONTINUATION, 0, 1, field('x', 'c'.repeat(8000))),
  },
  'early hints': {
    endless: frame(HEADERS, END_HEADERS, 1, Buffer.concat([field(':status', '103'), field('x', 'c'.repeat(4000))])),
  },
  'pushed streams': { endless: frame(PUSH_PROMISE, END_HEADERS, 1, Buffer.from([0, 0, 0, 2, 0x82])) },
  'other services': {
    endless: frame(ALTSVC, 0, 1, Buffer.concat([Buffer.alloc(2), Buffer.alloc(4000, 97)])),
  },
  windows: { endless: frame(WINDOW_UPDATE, 0, 0, Buffer.from([0, 0, 0, 1])) },
  resets: { endless: frame(RST_STREAM, 0, 3, Buffer.from([0, 0, 0, 1])) },
  'empty pieces': { first: begun, endless: frame(DATA, 0, 1) },
  padding: { first: begun, endless: frame(DATA, PADDED, 1, Buffer.concat([Buffer.from([200]), Buffer.alloc(200)])) },
  'single bytes': { first: begun, endless: frame(DATA, 0, 1, Buffer.from([0])) },
} satisfies Readonly<Record<string, { first?: Buffer; endless: Buffer }>>

function flood(socket: Socket, { first = '', endless }: { first?: Buffer | string; endless: Buffer }): void {
  const many = Buffer.concat(Array.from({ length: Math.ceil(60_000 / endless.length) }, () => endless))
  const pour = (): void => {
    while (socket.writable && socket.write(many));
  }
  socket.write(first)
  socket.on('drain', pour)
  pour()
}

const [socketPath = '', role] = process.argv.slice(2)
const kinds = Object.keys(FLOODS) as Flood[]
if (role === 'server') {
  let connections = 0
  const server = createServer((socket) => {
    const kind = kinds[connections++ % kinds.length] as Flood
    socket.on('error', () => undefined)
    socket.write(frame(SETTINGS, 0, 0))
    socket.once('data', () => setTimeout(() => flood(socket, FLOODS[kind]), 20))
  })
  server.listen(socketPath, () => process.stdout.write('ready\n'))
} else {
  const server = spawn(...thisProgram(socketPath, 'server'), { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(server.stdout, 'data')
  const found: Flooded[] = []
  for (const kind of kinds) {
    const code = await unaryCall(socketPath, Node.method.nodeGetInfo, {}, { deadline: deadlineIn(400) }).then(
      () => 'OK',
      (error: unknown) => (error instanceof GrpcError ? error.code : String(error)),
    )
    found.push({ kind, code, megabytes: process.resourceUsage().maxRSS / 1024 })
  }
  server.kill('SIGKILL')
  process.stdout.write(JSON.stringify(found))
  process.exit()
}

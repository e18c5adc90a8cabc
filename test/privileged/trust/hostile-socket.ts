/** Servers on unix sockets that speak gRPC so far that they are listened to, and then do not end. */
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'

const DRIP_MS = 1000

export interface HostileSocket {
  close(): void
}

/** endless: a message of 4 GB as fast as it is taken; slow: a byte a second of it. */
export async function hostileSocket(path: string, how: 'endless' | 'slow'): Promise<HostileSocket> {
  const sessions = new Set<ServerHttp2Session>()
  const server = createServer()
  server.on('session', (session) => {
    sessions.add(session)
    session.on('error', () => {})
    session.on('close', () => sessions.delete(session))
  })
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => {})
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
    // Not compressed, and as long as it can be.
    stream.write(Buffer.from('00ffffffff', 'hex'))
    if (how === 'endless') pour(stream, Buffer.alloc(1 << 16))
    else {
      const timer = setInterval(() => stream.write('\0'), DRIP_MS)
      stream.on('close', () => clearInterval(timer))
    }
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return {
    close: () => {
      for (const session of sessions) session.destroy()
      server.close()
    },
  }
}

function pour(stream: ServerHttp2Stream, chunk: Buffer): void {
  while (!stream.destroyed) {
    if (!stream.write(chunk)) {
      stream.once('drain', () => pour(stream, chunk))
      return
    }
  }
}

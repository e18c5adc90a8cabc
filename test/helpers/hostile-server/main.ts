/**
 * A server that answers as no API server does, in a way that the path of a request names: /TRICK/NUMBER/api/… .
 *
 *     node main.ts DIRECTORY
 *
 * DIRECTORY receives ca.crt, and `url` when it listens. GET /seen returns how many other connections are open, and how many requests
 * have come by each path.
 */
import { writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { createAuthority } from '../api-server/certificates.ts'
import { readyUntilEnd } from '../start-program.ts'
import { TRICKS, type Trick, type Write } from './tricks.ts'

const HOST = '127.0.0.1'
const [, , directory = ''] = process.argv
const tricks: Readonly<Record<string, Trick>> = TRICKS
const seen = new Map<string, number>()
const sockets = new Set<Socket>()

function handle(incoming: IncomingMessage, response: ServerResponse): void {
  const { url = '', socket } = incoming
  if (url === '/seen') {
    response.setHeader('Connection', 'close').end(JSON.stringify([sockets.size - 1, Object.fromEntries(seen)]))
    return
  }
  const [, named = '', number = '', ...rest] = url.split('/')
  const trick = tricks[decodeURIComponent(named)]
  const key = `${named}/${number}`
  const count = (seen.get(key) ?? 0) + 1
  seen.set(key, count)
  // By the socket itself: no server of Node.js would send these.
  trick?.(writeTo(socket), rest.join('/'), count).catch(() => socket.destroy())
}

function writeTo(socket: Socket): Write {
  return async (bytes) => {
    if (socket.destroyed) throw new Error('gone')
    if (socket.write(bytes)) return await setImmediate()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    socket.once('drain', resolve).once('close', () => reject(new Error('gone')))
    await promise
  }
}

const authority = createAuthority('volctl test CA')
const { key, certificate } = authority.server([HOST])
const server = createServer({ key, cert: certificate }, handle)
server.on('secureConnection', (socket: Socket) => {
  sockets.add(socket)
  socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
})
server.listen(0, HOST, () => {
  writeFileSync(join(directory, 'ca.crt'), authority.certificate)
  const { port } = server.address() as AddressInfo
  writeFileSync(join(directory, 'url'), `https://${HOST}:${port}`)
  readyUntilEnd(() => undefined)
})

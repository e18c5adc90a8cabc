/**
 * A server that answers as no API server does, in a way that the path of a request names: /TRICK/NUMBER/api/… . What has no such way
 * goes on to a sound server.
 *
 *     node main.ts DIRECTORY --host HOST [--plain] [--upstream URL --upstream-ca FILE [--trick TRICK --path PART]]
 *
 * DIRECTORY receives ca.crt, and `url` when it listens. GET /seen returns how many other connections are open, and how many requests
 * have come by each path.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { request as ask, createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createAuthority } from '../api-server/certificates.ts'
import { readyUntilEnd } from '../start-program.ts'
import { TRICKS, type Trick, type Write } from './tricks.ts'

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    plain: { type: 'boolean', default: false },
    upstream: { type: 'string', default: '' },
    'upstream-ca': { type: 'string', default: '' },
    trick: { type: 'string', default: '' },
    path: { type: 'string', default: '' },
  },
})
const [directory = ''] = positionals
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
  const trick = tricks[decodeURIComponent(named)] ?? (url.includes(flags.path) ? tricks[flags.trick] : undefined)
  if (trick === undefined) {
    handOn(incoming, response)
    return
  }
  const key = `${named}/${number}`
  const count = (seen.get(key) ?? 0) + 1
  seen.set(key, count)
  // By the socket itself: no server of Node.js would send these.
  trick(writeTo(socket), rest.join('/'), count).catch(() => socket.destroy())
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

function handOn(incoming: IncomingMessage, response: ServerResponse): void {
  const { method, headers, url = '' } = incoming
  const ca = readFileSync(flags['upstream-ca'])
  const outgoing = ask(`${flags.upstream}${url}`, { method, headers, ca }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers)
    answer.pipe(response)
  })
  outgoing.on('error', () => response.destroy())
  incoming.pipe(outgoing)
}

const authority = createAuthority('volctl test CA')
const { key, certificate } = authority.server([flags.host])
const server = flags.plain ? createPlainServer(handle) : createServer({ key, cert: certificate }, handle)
server.on(flags.plain ? 'connection' : 'secureConnection', (socket: Socket) => {
  sockets.add(socket)
  socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
})
server.listen(0, flags.host, () => {
  writeFileSync(join(directory, 'ca.crt'), authority.certificate)
  const { port } = server.address() as AddressInfo
  writeFileSync(join(directory, 'url'), `${flags.plain ? 'http' : 'https'}://${flags.host}:${port}`)
  readyUntilEnd(() => undefined)
})

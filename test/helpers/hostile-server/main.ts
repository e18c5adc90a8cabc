/**
 * An HTTPS server that never answers as an API server does. Usage: main.ts DIRECTORY TRICK HOST
 *
 * DIRECTORY receives a kubeconfig. GET /seen returns how many other connections are open, and how many requests have come.
 */
import { writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createServer, type TLSSocket } from 'node:tls'
import { createAuthority } from '../api-server/certificates.ts'
import { readyUntilEnd } from '../start-program.ts'
import { TRICKS, type Trick, type Write } from './tricks.ts'

const [directory = '', name = '', host = ''] = process.argv.slice(2)
const trick = (TRICKS as Readonly<Record<string, Trick>>)[name]
if (trick === undefined) throw new Error(`no trick ${name}`)

const authority = createAuthority('volctl test CA')
const { key, certificate } = authority.server([host])
let number = 0
let open = 0

const server = createServer({ key, cert: certificate }, (socket) => {
  open++
  socket.on('error', () => undefined).on('close', () => open--)
  serve(socket).catch(() => socket.destroy())
})

async function serve(socket: TLSSocket): Promise<void> {
  const write: Write = async (bytes) => {
    if (socket.destroyed) throw new Error('gone')
    if (!socket.write(bytes)) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      socket.once('drain', resolve).once('close', () => reject(new Error('gone')))
      await promise
    } else await new Promise(setImmediate)
  }
  let text = ''
  socket.setEncoding('latin1')
  for await (const piece of socket as AsyncIterable<string>) {
    text += piece
    if (!text.includes('\r\n\r\n')) continue
    const [, path = ''] = text.split(' ')
    text = ''
    if (path === '/seen') {
      await write(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${JSON.stringify([open - 1, number])}`)
      socket.end()
    } else await trick?.(write, path, ++number)
  }
}

server.listen(0, host, () => {
  const url = `https://${host}:${(server.address() as AddressInfo).port}`
  const ca = Buffer.from(authority.certificate).toString('base64')
  const config = {
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority-data': ca } }],
    users: [{ name: 'u', user: { token: 'x' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  }
  writeFileSync(join(directory, 'config'), JSON.stringify(config), { mode: 0o600 })
  readyUntilEnd(() => undefined)
})

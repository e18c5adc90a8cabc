/** S34: a proxy that does not answer, or not like one, ends a request no later than the API server would. */

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { PODS } from '../../src/core/kube/api/objects.ts'
import { createKubeClient } from '../../src/core/kube/kube-client.ts'
import { discoverKubeConfig } from '../../src/core/kube/kubeconfig/kube-config.ts'
import { kubeconfigText } from '../helpers/api-server/users.ts'
import { failureOf, temporaryDirectory } from './connect.ts'

let proxy: Server | undefined
const sockets = new Set<Socket>()
let asked = 0

afterEach(() => {
  vi.unstubAllEnvs()
  for (const socket of sockets) socket.destroy()
  proxy?.close()
})

/** @returns its port */
async function startProxy(answer: (socket: Socket) => void): Promise<number> {
  asked = 0
  const server = createServer((socket) => {
    asked++
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    socket.once('data', () => answer(socket))
  })
  proxy = server
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

function flood(socket: Socket, bytes: string): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(bytes));
  }
  socket.on('drain', more)
  more()
}

const WAYS = [
  { way: 'HTTPS_PROXY', scheme: 'http' },
  { way: 'HTTPS_PROXY', scheme: 'socks5' },
  { way: 'proxy-url', scheme: 'http' },
  { way: 'proxy-url', scheme: 'socks5' },
] as const

const ANSWERS: Readonly<Record<string, (socket: Socket) => void>> = {
  'nothing at all': () => undefined,
  'a head without end': (socket) => flood(socket, `HTTP/1.1 200 OK\r\n${`X-More: ${'x'.repeat(1000)}\r\n`.repeat(50)}`),
  'hints without end': (socket) => flood(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000)),
  noise: (socket) => flood(socket, '\0'.repeat(64 * 1024)),
}

describe.each(WAYS)('$way with $scheme', ({ way, scheme }) => {
  it.each(Object.keys(ANSWERS))('%s', async (name) => {
    const directory = temporaryDirectory()
    const proxyUrl = `${scheme}://127.0.0.1:${await startProxy(ANSWERS[name] ?? (() => undefined))}`
    if (way === 'HTTPS_PROXY') vi.stubEnv('HTTPS_PROXY', proxyUrl)
    const cluster = { server: 'https://192.0.2.1', ...(way === 'proxy-url' && { 'proxy-url': proxyUrl }) }
    const kubeconfig = directory.write('config', kubeconfigText(cluster))
    const client = createKubeClient(discoverKubeConfig({ kubeconfig }), { deadlineMs: 400 })
    const before = process.resourceUsage().maxRSS
    expect((await failureOf(client.list(PODS))).code).toMatch(/^(ApiUnreachable|TlsMismatch)$/)
    expect(asked).toBeGreaterThan(0)
    client.close()
    // The SOCKS library takes 30 s for that.
    if (scheme !== 'socks5') await expect.poll(() => sockets.size).toBe(0)
    expect(process.resourceUsage().maxRSS - before).toBeLessThan(200 * 1024)
  })
})

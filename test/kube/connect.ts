import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect as connectTo, createServer as createNetServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type ClientLimits, createKubeClient, type KubeClient } from '../../src/core/kube/kube-client.ts'
import { discoverKubeConfig } from '../../src/core/kube/kubeconfig/kube-config.ts'
import { VolctlError } from '../../src/core/messages/findings.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { defaultUsers, kubeconfigText } from '../helpers/api-server/users.ts'
import { temporaryDirectory as newDirectory } from '../helpers/temporary-directory.ts'

/** A client with the kubeconfig of one of the test server's users. */
export function connect(server: TestApiServer, user: string, limits: Partial<ClientLimits> = {}): KubeClient {
  return createKubeClient(discoverKubeConfig({ kubeconfig: server.kubeconfig(user) }), limits)
}

/** For the tests of a file: a server that knows the bearer of this token as "robot", beside the usual users, and a directory. */
export function robotPlace(token: string): { readonly server: TestApiServer; readonly directory: Directory } {
  const place = {} as { server: TestApiServer; directory: Directory }
  beforeAll(async () => {
    const robot = { name: 'robot', user: 'robot', login: 'token', token } as const
    place.server = await startApiServer({ nodeName: 'node-1', users: [...defaultUsers('node-1'), robot] })
    place.directory = temporaryDirectory()
  })
  afterAll(() => place.server.stop())
  return place
}

/** Writes a kubeconfig for the server with this login; `cluster` adds to how it is reached. */
export function writeKubeconfig(
  directory: Directory,
  server: TestApiServer,
  user: object,
  cluster: object = {},
): string {
  const trust = { server: server.url, 'certificate-authority': join(server.directory, 'ca.crt') }
  return directory.write('config', kubeconfigText({ ...trust, ...cluster }, user))
}

/** The error that a promise ends with; fails when it does not end with one of volctl's own. */
export async function failureOf(work: Promise<unknown>): Promise<VolctlError> {
  const error = await work.then(
    () => new Error('it succeeded'),
    (reason: unknown) => reason,
  )
  if (error instanceof VolctlError) return error
  throw error
}

/** The error that a function throws; the same. */
export function thrownBy(work: () => unknown): VolctlError {
  try {
    work()
  } catch (error) {
    if (error instanceof VolctlError) return error
    throw error
  }
  throw new Error('it succeeded')
}

export interface Directory {
  readonly path: string
  write(name: string, content: string | object, mode?: number): string
}

/** A temporary directory, and how files are written into it. */
export function temporaryDirectory(): Directory {
  const path = newDirectory()
  return {
    path,
    write: (name, content, mode = 0o600) => {
      const file = join(path, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
      chmodSync(file, mode)
      return file
    },
  }
}

export interface Proxy extends AsyncDisposable {
  readonly url: string
  /** The hosts that were tunnelled to. */
  readonly tunnels: string[]
}

/** An HTTP proxy that tunnels by CONNECT. */
export async function startProxy(): Promise<Proxy> {
  const tunnels: string[] = []
  const server = createServer()
  server.on('connect', (request, socket, head) => {
    const [host = '', port] = (request.url ?? '').split(':')
    tunnels.push(request.url ?? '')
    const upstream = connectTo(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.write(head)
      upstream.pipe(socket).pipe(upstream)
    })
    upstream.on('error', () => socket.destroy())
    socket.on('error', () => upstream.destroy())
  })
  return proxyOf(server, 'http', tunnels)
}

/** A proxy of SOCKS 5, without a login. */
export async function startSocksProxy(): Promise<Proxy> {
  const tunnels: string[] = []
  const server = createNetServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0]))
      socket.once('data', (asked: Buffer) => {
        const [host, port] = [asked.subarray(4, 8).join('.'), asked.readUInt16BE(8)]
        tunnels.push(`${host}:${port}`)
        const upstream = connectTo(port, host, () => {
          socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
          upstream.pipe(socket).pipe(upstream)
        })
        upstream.on('error', () => socket.destroy())
      })
    })
  })
  return proxyOf(server, 'socks5', tunnels)
}

async function proxyOf(server: Server, scheme: string, tunnels: string[]): Promise<Proxy> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tunnels,
    [Symbol.asyncDispose]: async () => void server.close(),
  }
}

/** What `volctl check` is tried on: a node from a capture, whole or with an API server that never answers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CAPTURES } from '../cli/run-volctl.ts'
import type { TestApiServer } from '../helpers/api-server/start.ts'
import { startWarmNode } from '../helpers/warm-node.ts'

export interface CheckedNode extends AsyncDisposable {
  /** By which volctl takes it for this machine. */
  readonly env: NodeJS.ProcessEnv
  readonly api: TestApiServer
  /** For files of the test. */
  readonly directory: string
  /** The port of a server that accepts and never answers. */
  readonly silentPort: number
  /** The path of a kubeconfig for the API server at this port. */
  kubeconfig(port: number): string
}

export async function startCheckedNode(): Promise<CheckedNode> {
  const directory = mkdtempSync(join(tmpdir(), 'volctl-check-'))
  const node = await startWarmNode(join(CAPTURES, 'empty-dirs', 'before.json'))
  const sockets = new Set<Socket>()
  const silent = createServer((socket) => void sockets.add(socket.on('error', () => undefined)))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  return {
    env: node.env,
    api: node.api,
    directory,
    silentPort: portOf(silent),
    kubeconfig: (port) => {
      const file = join(directory, `port-${port}`)
      writeFileSync(file, JSON.stringify(configFor(port)), { mode: 0o600 })
      return file
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      silent.close()
      await node[Symbol.asyncDispose]()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function portOf(server: Server): number {
  return (server.address() as { port: number }).port
}

function configFor(port: number): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: `https://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token: 'x' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
}

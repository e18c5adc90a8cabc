/** What `volctl check` is tried on: a node from a capture, whole or with an API server that never answers. */
import { rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { kubeconfigText } from '../helpers/api-server/users.ts'
import { CAPTURES } from '../helpers/captures.ts'
import { temporary } from '../helpers/left-behind.ts'
import { claimOf, node, uid } from '../helpers/node-builder.ts'
import { startWarmNode } from '../helpers/warm-node.ts'

export type CheckedNode = Awaited<ReturnType<typeof startCheckedNode>>

/** A node with orphaned pods. */
export const ORPHANS = join(CAPTURES, 'empty-dirs', 'before.json')

/** Writes the snapshot of a node with nothing to do: one pod, with a volume that needs no mount. @returns the path */
export function idleNode(directory: string): string {
  const built = node().persistentVolume('host', { source: { hostPath: { path: '/srv' } } })
  built.livingPod(uid(7), 'web', [claimOf('host')])
  // Just created, so that it does not wait too long if its volume is not known.
  const creationTimestamp = new Date().toISOString()
  const { snapshot } = built.build()
  const pods = built.pods.map((pod) => ({ ...pod, metadata: { ...pod.metadata, creationTimestamp } }))
  const path = join(directory, 'idle.json')
  writeFileSync(path, JSON.stringify({ ...snapshot, api: { ...snapshot.api, pods } }))
  return path
}

/** @param capture a NodeSnapshot's file */
export async function startCheckedNode(capture = ORPHANS) {
  const directory = temporary('volctl-check-')
  const warm = await startWarmNode(capture)
  const sockets = new Set<Socket>()
  const silent = createServer((socket) => void sockets.add(socket.on('error', () => undefined)))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  return {
    env: warm.env,
    api: warm.api,
    /** For files of the test. */
    directory,
    /** The port of a server that accepts and never answers. */
    silentPort: portOf(silent),
    /** The path of a kubeconfig for the API server at this port. */
    kubeconfig: (port: number) => {
      const file = join(directory, `port-${port}`)
      const cluster = { server: `https://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true }
      writeFileSync(file, kubeconfigText(cluster), { mode: 0o600 })
      return file
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      silent.close()
      await warm[Symbol.asyncDispose]()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function portOf(server: Server): number {
  return (server.address() as { port: number }).port
}

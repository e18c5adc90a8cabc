import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { startProgram } from '../start-program.ts'
import type { TrickName } from './tricks.ts'

export interface HostileServer extends AsyncDisposable {
  readonly kubeconfig: string
  /** Connections open at the moment. */
  connections(): Promise<number>
  /** Requests received so far. */
  requests(): Promise<number>
}

/** Starts a server that answers everything in this one way; 0.0.0.0 reaches it without being a loopback address. */
export async function startHostileServer(trick: TrickName, host = '127.0.0.1'): Promise<HostileServer> {
  const directory = mkdtempSync(join(tmpdir(), 'volctl-hostile-'))
  const program = await startProgram(join(import.meta.dirname, 'main.ts'), [directory, trick, host])
  const kubeconfig = join(directory, 'config')
  const { cluster } = JSON.parse(readFileSync(kubeconfig, 'utf8')).clusters[0]
  const ca = Buffer.from(cluster['certificate-authority-data'], 'base64')
  const seen = async (): Promise<[number, number]> => {
    const answer = Promise.withResolvers<Parameters<typeof text>[0]>()
    get(`${cluster.server}/seen`, { ca, agent: false }, answer.resolve).on('error', answer.reject)
    return JSON.parse(await text(await answer.promise))
  }
  return {
    kubeconfig,
    connections: async () => (await seen())[0],
    requests: async () => (await seen())[1],
    [Symbol.asyncDispose]: async () => {
      await program.end('SIGKILL')
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

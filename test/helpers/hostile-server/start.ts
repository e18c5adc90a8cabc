import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { kubeconfigText } from '../api-server/users.ts'
import { startProgram } from '../start-program.ts'
import type { TrickName } from './tricks.ts'

export interface HostileServer extends AsyncDisposable {
  /** A kubeconfig for it, by which every request is answered in this way. */
  meet(trick: TrickName): HostileMeeting
  /** Connections open at the moment. */
  connections(): Promise<number>
}

export interface HostileMeeting {
  readonly kubeconfig: string
  /** Requests received so far. */
  requests(): Promise<number>
}

export async function startHostileServer(): Promise<HostileServer> {
  const directory = mkdtempSync(join(tmpdir(), 'volctl-hostile-'))
  const program = await startProgram(join(import.meta.dirname, 'main.ts'), [directory])
  const url = readFileSync(join(directory, 'url'), 'utf8')
  const ca = readFileSync(join(directory, 'ca.crt'))
  const seen = async (): Promise<[number, Record<string, number>]> => {
    const answer = Promise.withResolvers<Parameters<typeof text>[0]>()
    get(`${url}/seen`, { ca, agent: false }, answer.resolve).on('error', answer.reject)
    return JSON.parse(await text(await answer.promise))
  }
  let meetings = 0
  return {
    meet: (trick) => {
      const key = `${encodeURIComponent(trick)}/${++meetings}`
      const kubeconfig = join(directory, `config-${meetings}`)
      const cluster = { server: `${url}/${key}`, 'certificate-authority-data': ca.toString('base64') }
      writeFileSync(kubeconfig, kubeconfigText(cluster), { mode: 0o600 })
      return { kubeconfig, requests: async () => (await seen())[1][key] ?? 0 }
    },
    connections: async () => (await seen())[0],
    [Symbol.asyncDispose]: async () => {
      await program.end('SIGKILL')
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { nodeProgram } from '../programs.ts'
import type { Fault } from './faults.ts'
import type { StoredObject } from './resource-types.ts'
import type { LoggedRequest, Settings } from './server.ts'
import type { TestUser } from './users.ts'

export interface ApiServerOptions {
  /** Files: NodeSnapshots, their `api` sections, Lists or single objects. */
  readonly data?: readonly string[]
  readonly objects?: readonly object[]
  /** Instead of admin, kubelet, plan, apply and nobody. */
  readonly users?: readonly TestUser[]
  readonly nodeName?: string
  readonly host?: string
  /** The names in the server's certificate, if they should be wrong. */
  readonly certificateHosts?: readonly string[]
  /** The server's certificate is signed by an authority that the kubeconfigs do not know. */
  readonly untrusted?: boolean
  /** How long attachers take to detach; never when negative. */
  readonly detachDelayMs?: number
}

export interface TestApiServer extends AsyncDisposable {
  readonly url: string
  /** Holds ca.crt and the kubeconfigs; removed by `stop`. */
  readonly directory: string
  readonly pid: number
  kubeconfig(user: string): string
  requests(): Promise<LoggedRequest[]>
  clearRequests(): Promise<void>
  /** TLS connections accepted so far. */
  connections(): Promise<number>
  put(...objects: object[]): Promise<void>
  remove(kind: string, name: string, namespace?: string): Promise<void>
  /** Every time in every object is so much longer ago. */
  elapse(ms: number): Promise<void>
  /** Requests that a fault holds now. */
  held(): Promise<number>
  /** Replaces all faults. */
  setFaults(...faults: Fault[]): Promise<void>
  set(settings: Partial<Settings>): Promise<void>
  /** Ends the process and removes its directory. */
  stop(): Promise<void>
}

const MAIN = new URL('./main.ts', import.meta.url)

/** Starts the test API server in a separate process and waits until it answers. */
export async function startApiServer(options: ApiServerOptions = {}): Promise<TestApiServer> {
  const directory = mkdtempSync(join(tmpdir(), 'volctl-api-'))
  const child = spawn(...nodeProgram(MAIN, argumentsOf(options, directory)), {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ready = await firstLine(child).catch((error: unknown) => {
    rmSync(directory, { recursive: true, force: true })
    throw error
  })
  const { url, adminUrl, kubeconfigs } = JSON.parse(ready) as {
    url: string
    adminUrl: string
    kubeconfigs: Record<string, string>
  }
  const admin = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(adminUrl + path, { method, ...(body !== undefined && { body: JSON.stringify(body) }) })
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
    return await response.json()
  }
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
    }
    rmSync(directory, { recursive: true, force: true })
  }
  return {
    url,
    directory,
    pid: child.pid ?? 0,
    kubeconfig: (user) => {
      const path = kubeconfigs[user]
      if (path === undefined) throw new Error(`no user ${user}`)
      return path
    },
    requests: async () => (await admin('GET', '/requests')) as LoggedRequest[],
    clearRequests: async () => void (await admin('DELETE', '/requests')),
    connections: async () => (await admin('GET', '/connections')) as number,
    put: async (...objects) => void (await admin('POST', '/objects', objects as StoredObject[])),
    remove: async (kind, name, namespace) => void (await admin('POST', '/remove', { kind, name, namespace })),
    elapse: async (ms) => void (await admin('POST', '/elapse', ms)),
    held: async () => (await admin('GET', '/held')) as number,
    setFaults: async (...faults) => void (await admin('POST', '/faults', faults)),
    set: async (settings) => void (await admin('POST', '/settings', settings)),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

function argumentsOf(options: ApiServerOptions, directory: string): string[] {
  const files = [...(options.data ?? [])]
  if (options.objects) files.push(jsonFile(directory, 'objects.json', options.objects))
  return [
    ...['--dir', directory, '--exit-with-parent'],
    ...files.flatMap((file) => ['--data', file]),
    ...(options.users ? ['--users', jsonFile(directory, 'users.json', options.users)] : []),
    ...(options.nodeName === undefined ? [] : ['--node', options.nodeName]),
    ...(options.host === undefined ? [] : ['--host', options.host]),
    ...(options.certificateHosts ?? []).flatMap((host) => ['--certificate-host', host]),
    ...(options.untrusted ? ['--untrusted'] : []),
    ...(options.detachDelayMs === undefined ? [] : [`--detach-delay=${options.detachDelayMs}`]),
  ]
}

function jsonFile(directory: string, name: string, value: unknown): string {
  const path = join(directory, name)
  writeFileSync(path, JSON.stringify(value), { mode: 0o600 })
  return path
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('no standard output')
  const lines = createInterface({ input: child.stdout })
  return await new Promise((resolve, reject) => {
    lines.once('line', resolve)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`the API server ended with status ${code}`)))
  })
}

/** A recorded node, made of plain files: an API server, a container runtime and the kubelet's directories without their mounts. */
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSnapshot } from '../../src/core/snapshot/read-snapshot.ts'
import { startApiServer, type TestApiServer } from './api-server/start.ts'
import { startCriServer } from './cri-server/start.ts'
import { temporary } from './left-behind.ts'
import { OnDisk } from './pod-files.ts'

export interface WarmNode extends AsyncDisposable {
  /** The environment that makes the tests' volctl read this node. */
  readonly env: Readonly<Record<string, string>>
  readonly api: TestApiServer
}

/** @param capture a NodeSnapshot's file */
export async function startWarmNode(capture: string): Promise<WarmNode> {
  const { snapshot } = await readSnapshot(capture)
  const { nodeName, tree = [], runtime, processes = [] } = snapshot
  await using started = new AsyncDisposableStack()
  const directory = started.adopt(temporary('vw'), (path) => rmSync(path, { recursive: true, force: true }))
  const rootDir = join(directory, 'kubelet')
  mkdirSync(rootDir)
  const disk = new OnDisk(rootDir)
  for (const { mode: _, ...entry } of tree) disk.entry(entry)
  // As old as they were: young directories of orphaned pods make a plan stop early (S29).
  for (const { path, type, mtime } of tree) {
    if (type !== 'link' && type !== 'socket' && mtime !== undefined) utimesSync(join(rootDir, path), mtime, mtime)
  }
  const api = started.use(await startApiServer({ data: [capture], nodeName }))
  const cri = await startCriServer({ socketPath: join(directory, 'cri.sock'), pods: runtime?.pods ?? [] })
  started.defer(() => cri.stop())
  const host = join(directory, 'host.json')
  const kubelet = { running: false, mayReturn: false }
  const { machineID, systemUUID } = snapshot
  const places = { rootDir, lockFile: join(directory, 'lock'), journalDir: join(directory, 'journal') }
  const endpoints = { runtimeEndpoints: [cri.endpoint], runtimeExpected: true, kubeconfig: api.kubeconfig('plan') }
  writeFileSync(host, JSON.stringify({ machineID, systemUUID, nodeName, kubelet, processes, ...places, ...endpoints }))
  const ended = started.move()
  return { env: { VOLCTL_TEST_HOST: host }, api, [Symbol.asyncDispose]: () => ended.disposeAsync() }
}

/** A recorded node, made of plain files: an API server, a container runtime and the kubelet's directories without their mounts. */
import { mkdirSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { readSnapshot } from '../../src/core/plan/documents/snapshot-file.ts'
import { temporary } from './left-behind.ts'
import { startNodeParts } from './node-parts.ts'
import { OnDisk } from './pod-files.ts'

export type WarmNode = Awaited<ReturnType<typeof startWarmNode>>

/** @param capture a NodeSnapshot's file */
export async function startWarmNode(capture: string) {
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
  const { machineID = '', systemUUID = '' } = snapshot
  const parts = started.use(
    await startNodeParts(directory, {
      ...{ rootDir, api: { data: [capture], nodeName }, host: { machineID, systemUUID }, user: 'plan' },
    }),
  )
  parts.setAlive(runtime?.pods ?? [], processes)
  const ended = started.move()
  return { env: parts.env, api: parts.api, [Symbol.asyncDispose]: () => ended.disposeAsync() }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { livingPod } from '../api-objects.ts'
import { type LayoutBuilder, podUid } from '../layout.ts'
import { type Run, ratiosOf, timed } from '../measure.ts'
import type { Form, Programs } from '../programs.ts'
import type { Result, Row } from '../row.ts'
import { type Scene, type SceneContent, startScene } from '../scene.ts'
import { SILENT_MOUNTS } from '../silent-mounts.ts'

const MOUNTS = 64
const ROUNDS = 7
/** Of the probes, in src/core/node/dead-mounts.ts. */
const DEADLINE_MS = 2000
const MORE_MS = 500

/** Mounts that never answer, all probed at once. */
export async function deadMountsRows(programs: Programs): Promise<Result[]> {
  const row: Row = {
    name: `\`plan\` with ${MOUNTS} dead mounts`,
    peer: `the probes' deadline of ${DEADLINE_MS / 1000} s`,
    scene: `${MOUNTS} FUSE mounts of pods that live, whose daemon never answers`,
    demand: { atMost: (DEADLINE_MS + MORE_MS) / DEADLINE_MS },
  }
  if (!hasFuse()) return [{ ...row, notRun: '/dev/fuse cannot be opened' }]
  await using scene = await startScene(programs, 'dead', 'plan', deadNode)
  await using started = new AsyncDisposableStack()
  started.adopt(await startMounts(scene), end)
  const plan = scene.volctl(['plan'])
  const measure = async (form: Form): Promise<number[]> => {
    const runs: Run[] = []
    for (let round = 0; round < ROUNDS; round++) runs.push(await timed(plan[form]))
    return runs.map(({ ms }) => ms)
  }
  const measured = {
    executable: ratiosOf(await measure('executable'), [DEADLINE_MS], 'ms'),
    bundle: ratiosOf(await measure('bundle'), [DEADLINE_MS], 'ms'),
  }
  return [{ ...row, measured }]
}

const volume = 'volumes/kubernetes.io~nfs/data'

function deadNode(layout: LayoutBuilder): SceneContent {
  const indices = Array.from({ length: MOUNTS }, (_, index) => index)
  for (const index of indices) layout.directory(podUid('living', index), volume)
  return { pods: indices.map((index) => livingPod(index, { volumes: [] })), layout }
}

async function startMounts(scene: Scene): Promise<ChildProcess> {
  const paths = Array.from({ length: MOUNTS }, (_, index) =>
    join(scene.rootDir, 'pods', podUid('living', index), volume),
  )
  const [command = '', ...args] = scene.inside([process.execPath, SILENT_MOUNTS, ...paths]).command
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  return child
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

function hasFuse(): boolean {
  try {
    if (!existsSync('/dev/fuse')) return false
    closeSync(openSync('/dev/fuse', 'r+'))
    return true
  } catch {
    return false
  }
}

/** `wait` beside an apply that unmounts what it waits for, and what it says of a node where that does not happen. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { Status } from '../../../src/core/status/status.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { runVolctl } from '../../helpers/scene/volctl.ts'
import { VOLCTL } from '../../helpers/volctl-program.ts'
import { APPLY, withScene, writeReport } from './scenario.ts'

export interface WaitRun {
  readonly status: number | null | undefined
  readonly result: Status | undefined
  readonly stderr: string
}

export interface WaitingReport {
  readonly mounted: WaitRun
  readonly stillMounted: WaitRun
  readonly notInSync: WaitRun
  /** An apply unmounts while it waits. */
  readonly unmounted: WaitRun
  readonly table: { readonly status: number | undefined; readonly stdout: string }
  readonly detached: WaitRun
  readonly inSync: WaitRun
  readonly interrupted: WaitRun
}

async function waitRun(scene: Scene, ...args: readonly string[]): Promise<WaitRun> {
  const { status, stdout, stderr } = await runVolctl(scene, ['wait', '-o', 'json', ...args])
  return { status, result: stdout === '' ? undefined : (JSON.parse(stdout) as Status), stderr }
}

/** Something happens once its first look has read the directories. */
async function meanwhile(scene: Scene, args: readonly string[], happens: (pid: number) => unknown): Promise<WaitRun> {
  const child = spawn(VOLCTL, ['wait', '-v', '-o', 'json', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...scene.env },
  })
  let stderr = ''
  let happened: unknown
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk
    if (stderr.includes('directories complete')) happened ??= happens(child.pid ?? 0)
  })
  const [stdout, [status]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number | null]>])
  await happened
  return { status, result: stdout === '' ? undefined : (JSON.parse(stdout) as Status), stderr }
}

async function run(scene: Scene): Promise<WaitingReport> {
  const { db, web } = scene.pods
  const mounted = await waitRun(scene, '--for=mounted', '--timeout', '0')
  await scene.breakIt()
  const stillMounted = await waitRun(scene, '--for=unmounted', db.uid, '--timeout', '300ms')
  const notInSync = await waitRun(scene, '--for=in-sync', '--timeout', '0')
  const unmounted = await meanwhile(scene, ['--for=unmounted', db.uid], () => runVolctl(scene, APPLY))
  const { status, stdout } = await runVolctl(scene, ['wait', '--for=unmounted', 'pv/pv-idle', '--timeout', '0'])
  return {
    mounted,
    stillMounted,
    notInSync,
    unmounted,
    table: { status, stdout },
    detached: await waitRun(scene, '--for=detached', 'pv/pv-idle', '--timeout', '0'),
    inSync: await waitRun(scene, '--for=in-sync', '--timeout', '0'),
    interrupted: await meanwhile(scene, ['--for=unmounted', web.uid], (pid) => process.kill(pid, 'SIGTERM')),
  }
}

writeReport(await withScene(run, { small: true }))

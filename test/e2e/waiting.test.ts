/** `wait` on a node with real mounts, beside an apply that unmounts what it waits for; when the time is up: test/cli/wait.test.ts. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import type { Status } from '../../src/core/explain/status/status.ts'
import type { Scene } from '../helpers/scene/scene.ts'
import { runVolctl } from '../helpers/scene/volctl.ts'
import { VOLCTL } from '../helpers/volctl-program.ts'
import { APPLY, it } from './story.ts'

interface Waited {
  readonly status: number | null | undefined
  readonly result: Status | undefined
  readonly stderr: string
}

async function waitFor(scene: Scene, ...args: readonly string[]): Promise<Waited> {
  const { status, stdout, stderr } = await runVolctl(scene, ['wait', '-o', 'json', ...args])
  return { status, result: stdout === '' ? undefined : (JSON.parse(stdout) as Status), stderr }
}

/** Something happens once its first look has read the directories. */
async function meanwhile(scene: Scene, args: readonly string[], happens: (pid: number) => unknown): Promise<Waited> {
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

const AT_ONCE = ['--timeout', '0'] as const

it('all volumes of a whole node are mounted', async ({ scene }) => {
  const { status, result } = await waitFor(scene, '--for=mounted', ...AT_ONCE)
  expect(status).toBe(0)
  expect(new Set(result?.rows.map(({ pod }) => pod?.name))).toEqual(new Set(['web-0', 'db-0', 'batch-0', undefined]))
})

it('sees the volumes go while an apply unmounts them; a node with work to do is not in sync, and is after it', async ({
  broken,
}) => {
  expect((await waitFor(broken, '--for=in-sync', ...AT_ONCE)).status).toBe(5)
  const { status, result } = await meanwhile(broken, ['--for=unmounted', broken.pods.db.uid], () =>
    runVolctl(broken, APPLY),
  )
  expect([status, result?.rows.filter(({ pod }) => pod !== undefined)]).toEqual([0, []])
  for (const what of [['--for=in-sync'], ['--for=detached', 'pv/pv-idle']])
    expect((await waitFor(broken, ...what, ...AT_ONCE)).status).toBe(0)
})

it('130 when interrupted', async ({ scene }) => {
  const interrupted = meanwhile(scene, ['--for=unmounted', scene.pods.web.uid], (pid) => process.kill(pid, 'SIGTERM'))
  expect((await interrupted).status).toBe(130)
})

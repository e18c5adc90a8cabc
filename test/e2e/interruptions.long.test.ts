/** Signals, a terminal that goes away, an apply that is killed beside another one: each on a broken node. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Scene } from '../helpers/scene/scene.ts'
import { type Run, runVolctl } from '../helpers/scene/volctl.ts'
import { VOLCTL } from '../helpers/volctl-program.ts'
import { eventsOf } from './scenarios/outcomes.ts'
import { APPLY, atUnpublish, it, journalOf, leftOf } from './story.ts'

/** An apply to which something is done while the driver is at work. */
async function disturbed(scene: Scene, fault: string, act: (child: ChildProcess) => unknown): Promise<Run> {
  scene.driver.setFaults(fault)
  const run = await runVolctl(scene, APPLY, atUnpublish(act))
  scene.driver.setFaults()
  return run
}

it('one interruption: what runs is waited for, nothing new is started, and the status says so', async ({ broken }) => {
  const began = performance.now()
  const run = await disturbed(broken, 'late-after NodeUnpublishVolume=1500:once', (child) => child.kill('SIGINT'))
  expect(performance.now() - began).toBeGreaterThan(1500)
  expect(run.status).toBe(130)
  expect(run.stderr).toContain('Interrupted: no further operation is started')
  const types = eventsOf(run).map(({ type }) => type)
  expect(types).toEqual(expect.arrayContaining(['done', 'interrupted']))
  expect(await leftOf(broken)).toBeGreaterThan(0)
})

it('a second one leaves at once, and names what is unfinished', async ({ broken }) => {
  const run = await disturbed(broken, 'hang NodeUnpublishVolume', (child) => {
    child.kill('SIGTERM')
    // One that is not read before the next is the same one.
    const again = setInterval(() => child.kill('SIGTERM') || clearInterval(again), 300)
  })
  expect(run.status).toBe(130)
  expect(run.stdout).toContain('abandoned before it ended')
  expect(await leftOf(broken)).toBeGreaterThan(0)
})

/** An apply on a terminal that goes away: script(1), which holds its other end, is killed once this is shown. */
async function hangUp(scene: Scene, command: string, mark: RegExp): Promise<void> {
  const child = spawn('script', ['--quiet', '--flush', '--command', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, ...scene.env, TERM: 'xterm', SHELL: '/bin/sh' },
  })
  let shown = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
    if (mark.test(shown)) child.kill('SIGKILL')
  })
  await once(child, 'close')
}

it('one that drops while the question waits is a no', async ({ broken }) => {
  const before = (await journalOf(broken)).applies.length
  const status = join(broken.directory, 'status')
  // The shell outlives the terminal, to tell how volctl ended.
  const command = `trap : HUP; ${VOLCTL} apply --orphans; echo $? >${status}.new; mv ${status}.new ${status}`
  await hangUp(broken, command, /to continue: /)
  await expect.poll(() => existsSync(status)).toBe(true)
  expect(Number(readFileSync(status, 'utf8'))).toBe(130)
  expect((await journalOf(broken)).applies).toHaveLength(before)
})

it('of one that was killed the lock is taken over, it is said of whom, and the rest is done', async ({ broken }) => {
  const begun = broken.driver.log().length
  const whileStopped = async (child: ChildProcess): Promise<Run> => {
    const isCalled = () =>
      broken.driver
        .log()
        .slice(begun)
        .some(({ rpc }) => rpc === 'NodeUnpublishVolume')
    while (!isCalled()) await setTimeout(5)
    child.kill('SIGSTOP')
    return await runVolctl(broken, APPLY)
  }
  let second: Promise<Run> | undefined
  let pid = 0
  const first = await disturbed(broken, 'hang NodeUnpublishVolume:once', (child) => {
    pid = child.pid ?? 0
    second = whileStopped(child).finally(() => child.kill('SIGKILL'))
  })
  expect(first.status).toBeUndefined()
  expect(JSON.parse((await second)?.stderr ?? '')).toMatchObject({ code: 'Locked' })
  const third = await runVolctl(broken, APPLY)
  expect([third.status, await leftOf(broken)]).toEqual([0, 0])
  const notes = eventsOf(third).flatMap(({ type, code, message }) => (type === 'note' ? [[code, message]] : []))
  const takenOver = `took over the lock of an apply that died: pid ${pid} of `
  expect(notes).toEqual([['Locked', expect.stringContaining(takenOver)]])
  const [dead, last] = (await journalOf(broken)).applies.slice(-2)
  expect(dead?.by?.pid).toBe(pid)
  expect(dead?.endedAt).toBeUndefined()
  const unfinished = dead?.operations.filter(({ state }) => state !== 'done')
  expect(unfinished?.map(({ state, volume }) => [state, volume])).toEqual([['unfinished', 'pv-common']])
  expect(last?.tookOverFrom?.pid).toBe(pid)
})

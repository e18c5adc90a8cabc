/** What the stories share: a scene with real mounts for a file, what volctl says of it, and what became of it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { test } from 'vitest'
import { WITNESS_AGE_MS } from '../../src/core/apply/apply-run.ts'
import type { PastApplies } from '../../src/core/apply/journal/read-journal.ts'
import type { ApplyEvent } from '../../src/core/plan/events.ts'
import type { Plan } from '../../src/core/plan/plan.ts'
import { noMounts } from '../helpers/namespace.ts'
import { makeScene, type Scene } from '../helpers/scene/scene.ts'
import { answerOf, type Run, runVolctl } from '../helpers/scene/volctl.ts'
import { VOLCTL } from '../helpers/volctl-program.ts'
import { fingerprint } from './scenarios/fingerprint.ts'

/**
 * `it` with a small node. `scene` is one for all tests of a file, as the test before has left it; `broken` is the same, where pods were
 * deleted while the kubelet is down.
 */
export const it = test
  .extend<{ scene: Scene; broken: Scene }>({
    scene: [
      // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern that it needs no other fixture
      async ({}, use) => {
        const scene = await makeScene({ small: true })
        await use(scene)
        await scene.dispose()
      },
      { scope: 'file' },
    ],
    broken: async ({ scene }, use) => {
      await breakAnew(scene)
      await use(scene)
      scene.driver.setFaults()
      scene.api.setFaults()
    },
  })
  .skipIf(noMounts !== undefined)

/** What a scene was when it had just been broken. */
const brokenStates = new WeakMap<Scene, string>()

/** Where the test before has changed nothing, it is still broken; what one has left half done is done first. */
async function breakAnew(scene: Scene): Promise<void> {
  const before = brokenStates.get(scene)
  if (before !== undefined && before === stateOf(scene)) return
  const { db, batch } = scene.pods
  const isLeft = [db, batch].some(({ uid }) => existsSync(join(scene.rootDir, 'pods', uid)))
  if (before !== undefined && isLeft) await runVolctl(scene, APPLY)
  await scene.setUp()
  await scene.breakIt()
  scene.api.clearRequests()
  brokenStates.set(scene, stateOf(scene))
}

export const APPLY = ['apply', '--orphans', '--yes', '--parallel', '1', '-o', 'ndjson'] as const

export interface PlanRun {
  readonly status: number | undefined
  /** As it was printed. */
  readonly text: string
  readonly plan: Plan
}

/** `plan` as JSON, with the exit status that tells. */
export async function planOf(scene: Pick<Scene, 'env'>, ...flags: string[]): Promise<PlanRun> {
  const run = await runVolctl(scene, ['plan', '--detailed-exitcode', '-o', 'json', ...flags])
  return { status: run.status, text: run.stdout, plan: answerOf<Plan>(run) }
}

/** How many operations a plan has, blocked ones included. */
export async function leftOf(scene: Scene): Promise<number> {
  return (await planOf(scene, '--orphans')).plan.operations.length
}

/** All that a repair may change, and all that it must not, as a text to compare. */
export function stateOf(scene: Scene): string {
  return JSON.stringify(fingerprint(scene))
}

export async function journalOf(scene: Scene): Promise<PastApplies> {
  return answerOf<PastApplies>(await runVolctl(scene, ['journal', '-o', 'json']))
}

/** What the test's host says of itself besides, or instead. @returns puts it back */
export function hostSays({ hostFile }: Scene, fields: object): () => void {
  const before = readFileSync(hostFile, 'utf8')
  writeFileSync(hostFile, JSON.stringify({ ...JSON.parse(before), ...fields }))
  return () => writeFileSync(hostFile, before)
}

/** For the lines of an apply: does something once, when a driver is asked for the first unpublish. */
export function atUnpublish(act: (child: ChildProcess) => unknown): (line: string, child: ChildProcess) => void {
  let done = false
  return (line, child) => {
    const { step } = JSON.parse(line) as ApplyEvent
    if (done || step?.op !== 'NodeUnpublishVolume') return
    done = true
    act(child)
  }
}

/** Applies; the driver has done the first unpublish, and answers when something else has happened, and the last look is too old. */
export async function applyMeanwhile(scene: Scene, happens: () => unknown): Promise<Run> {
  scene.driver.setFaults('held-after NodeUnpublishVolume:once')
  const release = atUnpublish(async () => {
    await happens()
    await setTimeout(WITNESS_AGE_MS + 200)
    scene.driver.setFaults()
  })
  return await runVolctl(scene, APPLY, release)
}

/** Runs `apply --orphans`, or another command line, on a terminal, by script(1), and types this when it asks. */
export async function onTerminal(
  scene: Scene,
  type: () => string,
  command = `${VOLCTL} apply --orphans`,
): Promise<Run> {
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...scene.env, TERM: 'xterm', NO_COLOR: '' },
  })
  let stdout = ''
  let asked = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    if (asked || !stdout.includes('to continue: ')) return
    asked = true
    child.stdin.write(type())
  })
  const [status] = (await once(child, 'close')) as [number | null]
  return { status: status ?? undefined, stdout, stderr: '' }
}

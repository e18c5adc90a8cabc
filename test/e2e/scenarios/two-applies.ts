/** Several applies at once on one node: the first at work, stopped, killed; and one whose look is older than the other's work. */
import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { PastApplies } from '../../../src/core/journal/read-journal.ts'
import type { ApplyEvent } from '../../../src/core/plan/events.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { type Run, runVolctl } from '../../helpers/scene/volctl.ts'
import { fingerprint } from './fingerprint.ts'
import { endsOf, eventsOf, unclearOf } from './outcomes.ts'
import { APPLY, planOf, withScene, writeReport } from './scenario.ts'

export interface Second {
  /** Of the first one. */
  readonly pid: number
  readonly refused: Run
  readonly unchanged: boolean
}

export interface TwoAppliesReport {
  readonly stopped: Second
  /** The first one goes on. */
  readonly goesOn: { readonly status: number | undefined; readonly left: number }
  readonly killed: Second
  readonly takesOver: {
    readonly status: number | undefined
    /** Code and message. */
    readonly notes: readonly (readonly (string | undefined)[])[]
    readonly left: number
    readonly applies: PastApplies['applies']
  }
  /** One that has looked before another one did everything, and gets the lock after it. */
  readonly late: {
    readonly other: number | undefined
    readonly status: number | undefined
    readonly ends: readonly string[]
    readonly unclear: readonly string[]
    readonly unchanged: boolean
    readonly left: number
  }
  readonly violations: readonly unknown[]
}

const fingerprintOf = async (scene: Scene): Promise<string> => JSON.stringify(await fingerprint(scene))
const leftOf = async (scene: Scene): Promise<number> => (await planOf(scene, '--orphans')).plan.operations.length

/**
 * Stops the first apply while the driver has its call, and has done what it does before it answers; tries another.
 *
 * @param next what becomes of the first one then
 */
async function secondWhileStopped(
  scene: Scene,
  hasWorked: () => boolean,
  next: 'SIGCONT' | 'SIGKILL',
): Promise<{ readonly second: Second; readonly first: Run }> {
  let second: Promise<Second> | undefined
  const begun = scene.driver.log().length
  const first = await runVolctl(scene, APPLY, (line, child) => {
    const { step } = JSON.parse(line) as ApplyEvent
    if (step?.op !== 'NodeUnpublishVolume') return
    second ??= tryAnother(scene, () => isCalled(scene, begun) && hasWorked(), child).finally(() => child.kill(next))
  })
  if (second === undefined) throw new Error('the first apply called no driver')
  return { second: await second, first }
}

async function tryAnother(scene: Scene, isAtRest: () => boolean, first: ChildProcess): Promise<Second> {
  const { pid = 0 } = first
  while (!isAtRest()) await setTimeout(5)
  first.kill('SIGSTOP')
  await isStopped(pid)
  const before = await fingerprintOf(scene)
  const refused = await runVolctl(scene, APPLY)
  return { pid, refused, unchanged: (await fingerprintOf(scene)) === before }
}

const isCalled = ({ driver }: Scene, from: number): boolean =>
  driver
    .log()
    .slice(from)
    .some(({ rpc }) => rpc === 'NodeUnpublishVolume')

async function isStopped(pid: number): Promise<void> {
  while (!/^State:\tT/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) await setTimeout(5)
}

async function journalOf(scene: Scene): Promise<PastApplies['applies']> {
  return (JSON.parse((await runVolctl(scene, ['journal', '-o', 'json'])).stdout) as PastApplies).applies
}

/** One answer to it is held back; meanwhile the other one does everything. */
async function lateApply(scene: Scene): Promise<TwoAppliesReport['late']> {
  await scene.api.clearRequests()
  await scene.api.setFaults({ path: '/secrets/password', times: 1, action: { type: 'hold' } })
  const late = runVolctl(scene, APPLY)
  await hasAskedForAllElse(scene)
  const other = await runVolctl(scene, APPLY)
  const before = await fingerprintOf(scene)
  await scene.api.setFaults()
  const run = await late
  const unchanged = (await fingerprintOf(scene)) === before
  return {
    ...{ other: other.status, status: run.status, ends: endsOf(run), unclear: unclearOf(run) },
    ...{ unchanged, left: await leftOf(scene) },
  }
}

/** What is asked together with the secret has been answered. */
async function hasAskedForAllElse({ api }: Scene): Promise<void> {
  while (!(await api.requests()).some(({ path }) => path.includes('/csidrivers'))) await setTimeout(20)
}

async function meet(scene: Scene): Promise<TwoAppliesReport> {
  await scene.breakIt()
  const target = join(scene.rootDir, 'pods', scene.pods.db.uid, 'volumes/kubernetes.io~csi/pv-common/mount')
  scene.driver.setFaults('late NodeUnpublishVolume=1000:once')
  const { second: stopped, first } = await secondWhileStopped(scene, () => !existsSync(target), 'SIGCONT')
  const goesOn = { status: first.status, left: await leftOf(scene) }

  await scene.setUp()
  await scene.breakIt()
  scene.driver.setFaults('hang NodeUnpublishVolume:once')
  const { second: killed } = await secondWhileStopped(scene, () => true, 'SIGKILL')
  const third = await runVolctl(scene, APPLY)
  const notes = eventsOf(third).flatMap(({ type, code, message }) => (type === 'note' ? [[code, message]] : []))
  const takesOver = { status: third.status, notes, left: await leftOf(scene), applies: await journalOf(scene) }

  await scene.setUp()
  await scene.breakIt()
  const late = await lateApply(scene)
  return { stopped, goesOn, killed, takesOver, late, violations: scene.driver.violations() }
}

writeReport(await withScene(meet, { small: true }))

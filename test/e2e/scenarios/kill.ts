/**
 * `apply` is killed at the n-th event between operations, run again to its end, and looked at: for every n that is
 * FIRST plus a multiple of EVERY. The node is put back into order after each.
 */
import type { ApplyEvent } from '../../../src/core/plan/events.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { runVolctl } from '../../helpers/scene/volctl.ts'
import { type Fingerprint, fingerprint } from './fingerprint.ts'
import { APPLY, planOf, scenarioArguments, withScene, writeReport } from './scenario.ts'

export interface KillRun {
  /** The event at which it was killed; undefined: there were not so many. */
  readonly event: string | undefined
  /** What killed it came before its end. */
  readonly killed: boolean
  /** Exit status of the apply that came after, and of the plan after that. */
  readonly second: number | undefined
  readonly after: number | undefined
  readonly contentsBefore: Readonly<Record<string, string>>
  readonly end: Fingerprint
}

export interface KillReport {
  readonly runs: readonly KillRun[]
  readonly violations: readonly unknown[]
}

async function killAt(scene: Scene, boundary: number): Promise<KillRun> {
  await scene.breakIt()
  await scene.api.clearRequests()
  const contentsBefore = scene.contentHashes()
  let seen = 0
  let event: string | undefined
  const first = await runVolctl(scene, APPLY, (line, child) => {
    const { type, kind, step } = JSON.parse(line) as ApplyEvent
    if (!['start', 'step', 'done'].includes(type)) return
    if (++seen !== boundary) return
    event = `${type} ${kind}${step === undefined ? '' : ` ${step.op}`}`
    child.kill('SIGKILL')
  })
  const second = await runVolctl(scene, APPLY)
  const after = await planOf(scene, '--orphans')
  const end = await fingerprint(scene)
  return { event, killed: first.status === undefined, second: second.status, after: after.status, contentsBefore, end }
}

async function killEverywhere(scene: Scene): Promise<KillReport> {
  const [first, every] = scenarioArguments.map(Number)
  const runs: KillRun[] = []
  for (let boundary = first ?? 1; ; boundary += every ?? 1) {
    const run = await killAt(scene, boundary)
    runs.push(run)
    if (run.event === undefined) return { runs, violations: scene.driver.violations() }
    await scene.setUp()
  }
}

writeReport(await withScene(killEverywhere, { small: true }))

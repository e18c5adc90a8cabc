/**
 * The API server goes away while an apply is at work, in every way in which it can: it answers nothing, its process stops
 * for a while, connections end, it fails, throttles, forbids, or does what it is told and the answer is lost.
 */
import { relative } from 'node:path'
import { attachmentName } from '../../../src/core/names/volume-names.ts'
import type { Fault } from '../../helpers/api-server/faults.ts'
import { DRIVER, NODE } from '../../helpers/scene/api-objects.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { runVolctl } from '../../helpers/scene/volctl.ts'
import { fingerprint } from './fingerprint.ts'
import { endsOf, eventsOf, unclearOf } from './outcomes.ts'
import { planOf, withScene, writeReport } from './scenario.ts'

export interface AwayRun {
  readonly status: number | undefined
  readonly ends: readonly string[]
  readonly unclear: readonly string[]
  /** Codes of what was said of no operation. */
  readonly notes: readonly (string | undefined)[]
  readonly seconds: number
  /** Neither a file, a mount nor an attachment. */
  readonly unchanged: boolean
  readonly stderr: string
}

export interface ApiAwayReport {
  readonly runs: Readonly<Record<string, AwayRun>>
  /** What is left to do after an apply that the API server answered again. */
  readonly left: readonly number[]
  readonly contentsUnchanged: boolean
  /** Below the root: when the node was whole, when its pods were half brought up, and when they were again. */
  readonly mounts: Readonly<Record<'before' | 'halfMade' | 'broughtUp', readonly string[]>>
  readonly violations: readonly unknown[]
}

const PODS = '/pods?'
const APPLY = ['apply', '--orphans', '--yes', '-o', 'ndjson']
const status = (code: number, reason = ''): Fault['action'] => ({ type: 'status', status: code, reason, retryAfter: 0 })
const attachment = (handle: string): string => `/volumeattachments/${attachmentName(handle, DRIVER, NODE)}`

class Away {
  readonly runs: Record<string, AwayRun> = {}
  readonly scene: Scene

  constructor(scene: Scene) {
    this.scene = scene
  }

  async run(
    name: string,
    faults: readonly Fault[],
    onLine: Parameters<typeof runVolctl>[2] = () => undefined,
    flags: readonly string[] = [],
  ): Promise<void> {
    const before = JSON.stringify(await fingerprint(this.scene))
    await this.scene.api.setFaults(...faults)
    const began = performance.now()
    const run = await runVolctl(this.scene, [...APPLY, ...flags], onLine)
    const seconds = (performance.now() - began) / 1000
    await this.scene.api.setFaults()
    const unchanged = JSON.stringify(await fingerprint(this.scene)) === before
    const { status, stderr } = run
    const notes = eventsOf(run).flatMap(({ type, code }) => (type === 'note' ? [code] : []))
    this.runs[name] = { status, ends: endsOf(run), unclear: unclearOf(run), notes, seconds, unchanged, stderr }
  }
}

/** What is left is read in the end: for that it answers again. */
function answerWhenAllHaveEnded({ api }: Scene, operations: number): (line: string) => void {
  let ended = 0
  return (line) => {
    ended += endsOf({ status: 0, stdout: `${line}\n`, stderr: '' }).length
    if (ended === operations) void api.setFaults()
  }
}

async function undo(away: Away): Promise<void> {
  const { scene } = away
  // Asked twice for the plan: there are directories of pods that are not listed. Everything after it fails.
  const from = { path: PODS, skip: 2 }
  const silent = { type: 'hold' } as const
  const operations = (await planOf(scene, '--orphans')).plan.operations.length
  const faults: Fault[] = [
    { ...from, action: silent },
    { path: '/volumeattachments/', action: silent },
  ]
  await away.run('silent', faults, answerWhenAllHaveEnded(scene, operations), ['--timeout', '1s'])
  await away.run('dropped', [{ ...from, action: { type: 'drop' } }])
  await away.run('forbidden', [{ ...from, action: status(403, 'Forbidden') }])
  await away.run('throttled', [{ ...from, action: status(429, 'TooManyRequests') }])

  // Between two operations: the driver is at work when the API server ends.
  scene.driver.setFaults('late NodeUnpublishVolume=1200:once')
  const fails = (line: string): void => {
    if (JSON.parse(line).step?.op === 'NodeUnpublishVolume') void scene.api.setFaults({ action: status(500) })
  }
  await away.run('between', [], fails, ['--parallel', '1'])
  scene.driver.setFaults()

  await away.run('detaching', [
    { path: attachment('vol-old'), method: 'GET', action: status(500) },
    { path: attachment('vol-idle'), method: 'DELETE', action: status(403, 'Forbidden') },
    { path: attachment('vol-batch'), method: 'DELETE', action: { type: 'drop' } },
  ])
  await away.run(
    'lost',
    [
      { path: attachment('vol-old'), method: 'DELETE', times: 1, action: { type: 'lose' } },
      { path: attachment('vol-idle'), method: 'DELETE', times: 1, action: { type: 'lose' } },
      // Once for the plan, once for each of them: what is left cannot be read.
      { path: PODS, skip: 4, action: { type: 'drop' } },
    ],
    undefined,
    ['--parallel', '1'],
  )
}

/** @returns the mounts in between */
async function bringUp(away: Away): Promise<readonly string[]> {
  const { scene } = away
  await away.run('mounting', [
    // Once each for the plan.
    { path: '/secrets/password', skip: 1, action: status(403, 'Forbidden') },
    { path: attachment('vol-common'), action: { type: 'drop' } },
    { path: attachment('vol-batch'), action: status(500) },
  ])
  const halfMade = sortedMounts(scene)
  await away.run('waiting', [], stopForAMoment(scene))
  return halfMade
}

/** From the first event on it answers nothing, and then all that it was asked meanwhile. */
function stopForAMoment({ api }: Scene): () => void {
  let stopped = false
  return () => {
    if (stopped) return
    stopped = true
    process.kill(api.pid, 'SIGSTOP')
    setTimeout(() => process.kill(api.pid, 'SIGCONT'), 500)
  }
}

const leftOf = async (scene: Scene): Promise<number> => (await planOf(scene, '--orphans')).plan.operations.length
const sortedMounts = (scene: Scene): string[] =>
  scene
    .mountPoints()
    .map((path) => relative(scene.rootDir, path))
    .toSorted()

async function goAway(scene: Scene): Promise<ApiAwayReport> {
  const away = new Away(scene)
  const before = sortedMounts(scene).filter((path) => !path.includes('/volume-subpaths/'))
  await scene.breakIt()
  await scene.api.clearRequests()
  const contents = JSON.stringify(scene.contentHashes())
  await undo(away)
  const left = [await leftOf(scene)]
  const contentsUnchanged = JSON.stringify(scene.contentHashes()) === contents
  await scene.setUp()
  await scene.reboot()
  const halfMade = await bringUp(away)
  left.push(await leftOf(scene))
  const mounts = { before, halfMade, broughtUp: sortedMounts(scene) }
  return { runs: away.runs, left, contentsUnchanged, mounts, violations: scene.driver.violations() }
}

writeReport(await withScene(goAway, { small: true }))

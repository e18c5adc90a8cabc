/** `apply` is killed with SIGKILL at each of its events, run again to its end, and looked at. The node is put back into order after each. */
import { expect } from 'vitest'
import type { ApplyEvent } from '../../src/core/plan/events.ts'
import type { Scene } from '../helpers/scene/scene.ts'
import { runVolctl } from '../helpers/scene/volctl.ts'
import { type Fingerprint, fingerprint } from './scenarios/fingerprint.ts'
import { APPLY, it, planOf } from './story.ts'

interface Killed {
  /** The event at which it was killed; undefined: there were not so many. */
  readonly event: string | undefined
  /** What killed it came before its end. */
  readonly killed: boolean
  /** Exit status of the apply that came after, and of the plan after that. */
  readonly after: readonly (number | undefined)[]
  readonly contentsBefore: Readonly<Record<string, string>>
  readonly end: Fingerprint
}

async function killAt(scene: Scene, boundary: number): Promise<Killed> {
  await scene.setUp()
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
  const after = [(await runVolctl(scene, APPLY)).status, (await planOf(scene, '--orphans')).status]
  return { event, killed: first.status === undefined, after, contentsBefore, end: await fingerprint(scene) }
}

const runs: Killed[] = []

// Some forty kills, with two applies and a plan each.
it('at the start and the end of every operation, and at every step', { timeout: 1_800_000 }, async ({ scene }) => {
  do runs.push(await killAt(scene, runs.length + 1))
  while (runs.at(-1)?.event !== undefined)
  const events = runs.flatMap(({ event }) => event ?? [])
  const count = (type: string): number => events.filter((event) => event.startsWith(`${type} `)).length
  expect(count('start')).toBe(count('done'))
  for (const kind of ['CleanOrphanVolume', 'UnmountVolume', 'UnmountDevice', 'DetachVolume', 'RemoveOrphanPodDir'])
    expect(events).toContain(`start ${kind}`)
  // An apply may have ended by itself before the last of them reached it.
  expect(runs.filter(({ event, killed }) => event !== undefined && !killed).length).toBeLessThan(3)
  expect(scene.driver.violations()).toEqual([])
})

it('the second apply does the rest, and the next plan is empty', () => {
  expect(runs.filter(({ after }) => after.some((status) => status !== 0))).toEqual([])
})

it('no byte of any volume has changed', () => {
  for (const { event, contentsBefore, end } of runs) expect(end.contents, event).toEqual(contentsBefore)
})

it('the end is the same as without the kill', () => {
  const uninterrupted = runs.at(-1)?.end
  for (const { event, end } of runs)
    expect({ ...end, files: end.files.filter(isNoEmptyStaging(end.files)) }, event).toEqual(uninterrupted)
})

/**
 * Between the removal of its state file and its own, a staging directory is empty: nothing tells any more whose it was,
 * drivers that stage nothing have such directories too, and the next staging takes it.
 */
function isNoEmptyStaging(files: readonly string[]): (path: string) => boolean {
  return (path) =>
    !/^plugins\/kubernetes\.io\/csi\/[^/]+\/[0-9a-f]{64}\/$/.test(path) ||
    files.some((other) => other !== path && other.startsWith(path))
}

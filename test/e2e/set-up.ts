/** The other half of the main job: what pods want and do not have is brought up, by the built volctl; on one layout of mounts. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Layout, timesInTable } from '../helpers/scene/layouts.ts'
import { makeScene, type Scene } from '../helpers/scene/scene.ts'
import { runVolctl } from '../helpers/scene/volctl.ts'
import { type Fingerprint, fingerprint } from './scenarios/fingerprint.ts'
import { planOf } from './story.ts'

const APPLY = ['apply', '--yes', '-o', 'ndjson'] as const

export function setsUp(layout: Layout): void {
  let scene: Scene
  let before: Fingerprint
  beforeAll(async () => {
    scene = await makeScene({ layout })
    before = fingerprint(scene)
    await scene.reboot()
  })
  afterAll(() => scene.dispose())

  it('after a reboot everything is planned, and nothing is blocked (O25)', async () => {
    const { plan } = await planOf(scene)
    expect(plan.operations.filter(({ blocked }) => blocked !== undefined)).toEqual([])
    expect(plan.waiting).toEqual([])
    expect(new Set(plan.operations.map(({ kind }) => kind)).has('MountVolume')).toBe(true)
  })

  it('apply brings it up: what was mounted is mounted, no byte has changed, and the next plan is empty', async () => {
    const calls = scene.driver.succeeded().length
    expect(await runVolctl(scene, APPLY)).toMatchObject({ status: 0, stderr: '' })
    const count = (rpc: string): number =>
      scene.driver
        .succeeded()
        .slice(calls)
        .filter((each) => each === rpc).length
    // Two pods share a volume: it is staged once.
    expect(count('NodePublishVolume') - count('NodeStageVolume')).toBe(1)
    expect(scene.driver.violations()).toEqual([])
    const { status, plan } = await planOf(scene)
    expect([status, plan.operations, plan.problems]).toEqual([0, [], []])
    const end = fingerprint(scene)
    expect(end.mounts.length / new Set(end.mounts).size).toBe(timesInTable(layout))
    // Containers get sub-paths.
    const own = (paths: readonly string[]): string[] =>
      paths.filter((path) => !path.includes('volume-subpaths')).toSorted()
    expect(own(end.mounts)).toEqual(own(before.mounts))
    const { 'pod that lives': _, ...contents } = before.contents
    expect(end.contents).toMatchObject(contents)
  })
}
